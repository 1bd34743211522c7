/** Keeps two set-ups of one folder from running at once. A lock whose owner is dead is taken over. */
import { readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeInHome } from './paths.js';

/** Locks of this process: an old file may hold our process id by chance. */
const held = new Set<string>();

/** Runs `work` while holding `<folder>/<name>.lock`; waits while another living process holds it, and says so once. */
export async function withLock<T>(folder: string, name: string, log: (line: string) => void, work: () => Promise<T>): Promise<T> {
  makeInHome(folder);
  const file = join(folder, `${name}.lock`);
  for (let said = false; !take(file); ) {
    if (!said) log(`waiting for another set-up of ${folder} to end (${file})`);
    said = true;
    await sleep(500);
  }
  try {
    return await work();
  } finally {
    held.delete(file);
    unlinkSync(file);
  }
}

function take(file: string): boolean {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    held.add(file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  try {
    const owner = Number(readFileSync(file, 'utf8'));
    if (owner === process.pid ? held.has(file) : owner > 0 && isAlive(owner)) return false;
    unlinkSync(file);
  } catch {
    // The owner has just let go of it.
  }
  return false;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
