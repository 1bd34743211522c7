/** A difficulty profile by the real engine, cut off and gone on with; then profile and selection from the command line. */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { profileDifficulty } from '../src/data/difficulty/profileDifficulty.js';
import { readTable } from '../src/tables/openTable.js';
import { missingForEndToEnd } from './support.js';

const missing = await missingForEndToEnd('nano');
const folder = mkdtempSync(join(tmpdir(), 'difficulty-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const at = (name: string): string => join(folder, name);
const PROBLEMS = 16;
const SAMPLES = 4;
/** Problems' worth of rollouts after which a measurement is cut off. */
const CUT = 6;
const measured = { model: 'nano', problems: 'calc-small', samples: SAMPLES, set: ['engine.threads=1'], concurrency: 8 };

describe.skipIf(missing !== undefined)(
  `the difficulty of problems for a model${missing === undefined ? '' : ` (skipped: ${missing})`}`,
  () => {
    it('is measured once: an interrupted measurement goes on, and a repeated one samples nothing', { timeout: 240_000 }, async () => {
      const stop = new AbortController();
      const cut = profileDifficulty({
        ...measured,
        count: PROBLEMS,
        cache: at('cache'),
        out: at('cut.parquet'),
        signal: stop.signal,
        onProgress: (_, done) => {
          if (done >= CUT * SAMPLES) stop.abort(new Error('cut off'));
        },
      });
      await expect(cut).rejects.toThrow('cut off');
      expect([readdirSync(folder), readdirSync(at('cache'))]).toEqual([['cache'], ['difficulty.sqlite']]);

      const out = at('profile.parquet');
      const resumed = await profileDifficulty({ ...measured, count: PROBLEMS, cache: at('cache'), out });
      expect(resumed.rollouts).toBeGreaterThan(0);
      expect(resumed.rollouts).toBeLessThanOrEqual((PROBLEMS - CUT) * SAMPLES);
      const rows = (await readTable(out)).map(({ values }) => values);
      expect(rows).toHaveLength(PROBLEMS);
      expect(
        rows.every(({ n, valid, correct, accuracy }) => n === SAMPLES && valid === SAMPLES && accuracy === (correct as number) / SAMPLES),
      ).toBe(true);
      expect(new Set(rows.map(({ correct }) => correct)).size).toBeGreaterThan(1);

      const repeated = await profileDifficulty({ ...measured, count: PROBLEMS + 2, cache: at('cache'), out: at('more.parquet') });
      expect([repeated.known, repeated.rollouts]).toEqual([PROBLEMS, 2 * SAMPLES]);
      expect((await readTable(at('more.parquet'))).slice(0, PROBLEMS).map(({ values }) => values)).toEqual(rows);
      expect(readdirSync(at('cache'))).toEqual(['difficulty.sqlite']);
    });

    it('makes a set from the command line', { timeout: 240_000 }, async () => {
      const cache = ['--cache', at('cache'), '--set', 'engine.threads=1'];
      const profile = at('from-cli.jsonl');
      const first = await toolwise([
        'difficulty',
        'nano',
        '--problems',
        'calc-small',
        '--count',
        '18',
        '-n',
        '4',
        '--out',
        profile,
        ...cache,
      ]);
      expect(first.code, first.stderr).toBe(0);
      expect(first.stderr).toContain('18 problems, 4 rollouts each; 18 were measured before: nothing to sample');
      expect(first.stdout).toMatch(/^nano on 18 problems of calc-small/);
      expect(first.stdout).toMatch(/ {2}0\/4 +\d+ +\d+\.\d% .*dropped\n/);
      expect(existsSync(`${profile}.card.json`)).toBe(true);

      const pool = ['calc-small', '--count', '18', '--profile', profile];
      const set = at('set.jsonl');
      const selected = await toolwise(['select', ...pool, '--target', 'uniform', '--size', '6', '--out', set, '--json']);
      expect(selected.code, selected.stderr).toBe(0);
      const told = JSON.parse(selected.stdout) as { rows: number; buckets: { taken: number }[] };
      const ids = (await readTable(set)).map(({ values }) => values.id);
      expect(ids).toHaveLength(told.rows);
      expect(told.buckets.reduce((sum, { taken }) => sum + taken, 0)).toBe(told.rows);
      const accuracies = new Map((await readTable(profile)).map(({ values }) => [values.id, values.accuracy as number]));
      expect(ids.every((id) => accuracies.get(id)! > 0 && accuracies.get(id)! < 1)).toBe(true);
      expect(readFileSync(`${set}.card.md`, 'utf8')).not.toContain(folder);

      const again = await toolwise(['select', ...pool, '--target', 'uniform', '--out', set]);
      expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('is there already')]);
      const wrong = await toolwise(['select', ...pool, '--target', 'simple=1', '--out', at('none.jsonl')]);
      expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('no share of easy, medium or hard')]);
    });
  },
);

function toolwise(args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, ['--import', 'tsx', 'src/cli/main.ts', 'data', ...args], (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}
