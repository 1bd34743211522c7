/** `examples/environment.ts` as a reader runs it, to its end, much shorter. Says nothing about how much is learnt. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { openRun } from '../src/runs/reader.js';
import { run } from '../src/setup/command.js';
import { packageRoot } from '../src/setup/paths.js';
import { missingForEndToEnd } from './support.js';

const folder = mkdtempSync(join(tmpdir(), 'environment-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const missing = await missingForEndToEnd('nano');
const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;

describe.skipIf(missing !== undefined)(`examples/environment.ts${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  it('imitates its teacher, begins in the environment, is rewarded by it alone, and says what came of it', {
    timeout: 300_000,
  }, async () => {
    const example = join(packageRoot(), 'examples', 'environment.ts');
    const env = { DEMONSTRATIONS: '48', STEPS: '1', EVALUATION: '16' };
    const { status, stdout, output } = await run(process.execPath, ['--import', tsx, example], { cwd: folder, env });
    expect(status, output).toBe(0);
    expect(stdout).toMatch(/^the teacher opened the door in \d+ of 48 demonstrations$/m);
    expect(stdout.match(/^after (sft|rl): the door opened \d+ % \[\d+ %, \d+ %\] of 16 times/gm)).toHaveLength(2);
    const [, out] = /^the run is in (.+)$/m.exec(stdout)!;

    const kept = openRun(out!);
    try {
      const records = [...kept.records({ stage: 'rl', split: 'train' })];
      expect(records).toHaveLength(16 * 8);
      const starts = new Map<string, Set<string>>();
      for (const { trajectory, reward, verdict } of records) {
        const { environment, problem, groupId } = trajectory;
        expect(problem.question).toMatch(/^Find the way\.\n\nkey (\d[nswe],?)+$/);
        expect(reward!.parts).toEqual(environment!.rewards);
        expect(reward!.total).toBeCloseTo(Object.values(environment!.rewards).reduce((a, b) => a + b, 0));
        expect(verdict).toMatchObject({ kind: 'graded', correct: environment!.success });
        starts.set(groupId, (starts.get(groupId) ?? new Set()).add(problem.question));
      }
      expect([...starts.values()].map(({ size }) => size)).toEqual(Array(16).fill(1));
    } finally {
      kept.close();
    }
  });
});
