import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { someInfo } from '../../test/support/someRun.js';
import type { RunSummary } from '../dashboard/api.js';
import { RunWriter } from '../runs/writer.js';

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url));
const command = (...args: string[]): string[] => ['--import', 'tsx', MAIN, 'ui', ...args];

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ui-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('toolwise ui', () => {
  it('serves the runs of a folder, says where on one line, and ends on SIGINT', async () => {
    RunWriter.create(join(folder, 'one'), someInfo()).close();
    const child = spawn(process.execPath, command(folder, '--port', '0'), { stdio: ['ignore', 'pipe', 'ignore'] });
    const exit = once(child, 'exit');
    try {
      let printed = '';
      for await (const data of child.stdout!) {
        printed += String(data);
        if (printed.includes('\n')) break;
      }
      expect(printed).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\n$/);
      const runs = (await (await fetch(`${printed.trim()}api/runs`)).json()) as RunSummary[];
      expect(runs.map(({ id }) => id)).toEqual(['one']);
      const events = await fetch(`${printed.trim()}api/events`);
      child.kill('SIGINT');
      expect(await exit).toEqual([0, null]);
      await events.body?.cancel().catch(() => undefined);
    } finally {
      child.kill('SIGKILL');
    }
  });

  it.each([
    ['/nowhere', [], 'There is no folder'],
    ['', ['--port', 'x'], '--port x: a number from 0 to 65535'],
    ['', ['--port', '0', '--host', '203.0.113.7'], '203.0.113.7 is no address of this machine'],
  ])('says what is wrong with %j %j, and ends with 2', (below, options, message) => {
    const { status, stderr } = spawnSync(process.execPath, command(`${folder}${below}`, ...options), { encoding: 'utf8' });
    expect(stderr).toContain(message);
    expect(status).toBe(2);
  });
});
