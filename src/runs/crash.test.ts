/** What a killed process and a full disk leave behind. The writing process is a real one, on a real file system. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Random } from '../random.js';
import { openRun } from './reader.js';
import { RunWriter } from './writer.js';

const SAMPLES = 8;
const source = (path: string): string => new URL(path, import.meta.url).href;

const HEAD = `
import { existsSync, rmSync } from 'node:fs';
import { RunWriter } from '${source('./writer.ts')}';
import { openRun } from '${source('./reader.ts')}';
import { someInfo, someRecord } from '${source('../../test/support/someRun.ts')}';
const folder = process.argv[2];
const step = (writer, n) => {
  for (let i = 0; i < ${SAMPLES}; i++) writer.sink({ kind: 'trajectory', record: someRecord(n, i) });
  end(writer, n);
};
const end = (writer, n) => writer.sink({ kind: 'stepEnded', stage: 'rl', step: n, metrics: { n } });
`;

/** Writes steps until it is killed; says each one that has ended. */
const FOREVER = `${HEAD}
const writer = existsSync(folder + '/run.sqlite') ? RunWriter.resume(folder) : RunWriter.create(folder, someInfo());
for (let n = (writer.lastStep('rl') ?? -1) + 1; ; n++) {
  step(writer, n);
  process.stdout.write(n + '\\n');
  await new Promise((resolve) => setTimeout(resolve, 1));
}
`;

/** Writes steps until the disk is full, then frees some space and sends the end of the same step again. */
const UNTIL_FULL = `${HEAD}
import { writeFileSync } from 'node:fs';
writeFileSync(folder + '/ballast', Buffer.alloc(400_000));
const writer = RunWriter.create(folder, someInfo());
for (let n = 0; n < 5000; n++) {
  try {
    step(writer, n);
  } catch (error) {
    const during = openRun(folder);
    const ended = during.lastStep('rl');
    const stored = during.countTrajectories();
    during.close();
    rmSync(folder + '/ballast');
    end(writer, n);
    writer.close();
    const after = openRun(folder);
    console.log(JSON.stringify({ n, name: error.name, message: error.message, hint: error.hint, ended, stored, endedAfter: after.lastStep('rl'), storedAfter: after.countTrajectories() }));
    after.close();
    break;
  }
}
`;

let folder: string;
let child: ChildProcess | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'crash-'));
});
afterEach(() => {
  child?.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

describe('a process that is killed while it writes', () => {
  it('loses no ended step and leaves no half one, five times in a row', async () => {
    const script = join(folder, 'forever.mts');
    const run = join(folder, 'run');
    writeFileSync(script, FOREVER);
    const random = new Random(7);
    let before = -1;
    for (let kill = 0; kill < 5; kill++) {
      child = spawn(process.execPath, ['--import', 'tsx', script, run], { stdio: ['ignore', 'pipe', 'inherit'] });
      const lines = createInterface({ input: child.stdout! });
      const exit = once(child, 'exit');
      const wanted = before + random.int(3, 25);
      let told = -1;
      const reached = new Promise<void>((resolve, reject) => {
        lines.on('line', (line) => {
          told = Number(line);
          if (told >= wanted) resolve();
        });
        child!.on('exit', () => reject(new Error('the writer ended by itself')));
      });
      await reached;
      if (kill === 0) expect(() => RunWriter.resume(run)).toThrow(`is being written by process ${child.pid}`);
      await sleep(random.next() * 5);
      child.kill('SIGKILL');
      await exit;
      lines.close();
      const reader = openRun(run);
      const last = reader.lastStep('rl')!;
      expect(last).toBeGreaterThanOrEqual(told);
      expect(reader.steps('rl').map(({ step, metrics }) => [step, metrics.n])).toEqual(Array.from({ length: last + 1 }, (_, n) => [n, n]));
      for (let n = 0; n <= last; n++) expect(reader.countTrajectories({ step: n })).toBe(SAMPLES);
      expect(reader.countTrajectories()).toBe(SAMPLES * (last + 1));
      expect([...reader.records({ step: last })].map(({ trajectory }) => trajectory.tokens.length)).toEqual(Array(SAMPLES).fill(5));
      reader.close();
      before = last;
    }
  });
});

const tmpfs = (size: number, command: readonly string[]): [string, string[]] => [
  'bwrap',
  ['--dev-bind', '/', '/', '--size', String(size), '--tmpfs', folder, '--', ...command],
];
const canMount = spawnSync('bwrap', ['--dev-bind', '/', '/', '--size', '4096', '--tmpfs', '/tmp', '--', 'true']).status === 0;

describe.skipIf(!canMount)('a full disk', () => {
  it('is told with what to do; nothing ended is lost, and the step can be ended once there is space', () => {
    const outside = mkdtempSync(join(tmpdir(), 'crash-script-'));
    try {
      const script = join(outside, 'untilFull.mts');
      writeFileSync(script, UNTIL_FULL);
      const [command, args] = tmpfs(2_000_000, [process.execPath, '--import', 'tsx', script, folder]);
      const { stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', timeout: 50_000 });
      expect(stderr).toBe('');
      const told = JSON.parse(stdout);
      expect(told.name).toBe('UserError');
      expect(told.message).toContain('is full or cannot be written');
      expect(told.hint).toContain('--resume');
      expect(told.n).toBeGreaterThan(3);
      expect([told.ended, told.stored]).toEqual([told.n - 1, SAMPLES * told.n]);
      expect([told.endedAfter, told.storedAfter]).toEqual([told.n, SAMPLES * (told.n + 1)]);
    } finally {
      rmSync(outside, { recursive: true, force: true });
    }
  });
});
