/** Looks at processes from outside, for tests. Linux only. */
import { readdirSync, readFileSync } from 'node:fs';
import { findExecutable } from './host.js';

export const hasBubblewrap = process.platform === 'linux' && findExecutable('bwrap') !== undefined;

interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly state: string;
}

function processTable(): ProcessEntry[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const fields = readFileSync(`/proc/${name}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ');
      return [{ pid: Number(name), state: fields[0]!, parent: Number(fields[1]) }];
    } catch {
      return [];
    }
  });
}

/** All processes below `root`, parents before children. */
export function descendantsOf(root: number): ProcessEntry[] {
  const table = processTable();
  const below = table.filter((entry) => entry.parent === root);
  for (let i = 0; i < below.length; i++) below.push(...table.filter((entry) => entry.parent === below[i]!.pid));
  return below;
}

/** Those of `pids` that still run; the dead who wait to be buried do not. */
export const running = (pids: readonly number[]): number[] => {
  const alive = new Set(processTable().flatMap((entry) => (entry.state === 'Z' ? [] : [entry.pid])));
  return pids.filter((pid) => alive.has(pid));
};

/** Waits until `condition` holds. @throws Error after ten seconds. */
export async function eventually(condition: () => boolean, what: string): Promise<void> {
  for (let attempt = 0; attempt < 500; attempt++) {
    if (condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`not after ten seconds: ${what}`);
}
