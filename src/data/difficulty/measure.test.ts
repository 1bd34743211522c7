import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { Problem } from '../../domain/problem.js';
import { temporaryFolder } from '../../tables/testSupport.js';
import { CACHE_FILE, DifficultyCache } from './cache.js';
import { type Estimate, type MeasureOptions, measureDifficulty } from './measure.js';
import type { Pool } from './pool.js';
import { problemHash } from './problemHash.js';
import { type ProfileRow, profileRow } from './profile.js';
import { type Outcome, type TestPolicy, testPolicy } from './testPolicy.js';

const folder = temporaryFolder();
let caches = 0;
const open: DifficultyCache[] = [];
const cacheAt = (path = join(folder.path, `cache${caches++}`)): DifficultyCache => {
  const cache = new DifficultyCache(path);
  open.push(cache);
  return cache;
};
afterEach(() => {
  for (const cache of open.splice(0)) cache.close();
});

const problem = (id: string, question = `What is ${id}?`): Problem => ({ id, question, answer: '1', source: 'test' });
const pool = (problems: readonly Problem[]): Pool => ({
  name: 'pool',
  bad: 0,
  async *rows() {
    for (const one of problems) yield { problem: one, values: { ...one } };
  },
});
const numbered = (count: number): Problem[] => Array.from({ length: count }, (_, i) => problem(String(i)));
const byNumber = ({ id }: Problem): Outcome => ({ correct: Number(id) % 9 });

async function measure(policy: TestPolicy, problems: readonly Problem[], cache: DifficultyCache, options: Partial<MeasureOptions> = {}) {
  const rows: ProfileRow[] = [];
  const estimates: Estimate[] = [];
  policy.asked.length = 0;
  const measured = await measureDifficulty(policy, pool(problems), {
    samples: 8,
    temperature: 1,
    topP: 1,
    seed: 1,
    cache,
    signal: new AbortController().signal,
    onEstimate: (estimate) => void estimates.push(estimate),
    onRow: (row) => void rows.push(row),
    ...options,
  });
  return { measured, rows, estimate: estimates[0]!, asked: [...policy.asked] };
}

describe('a measurement', () => {
  it('gives a row a problem in the order of the pool, whatever the portions', async () => {
    for (const portion of [1, 4, 1024]) {
      const { rows, measured } = await measure(testPolicy(byNumber), numbered(20), cacheAt(), { portion });
      expect(rows.map(({ id }) => id)).toEqual(numbered(20).map(({ id }) => id));
      expect(rows.map(({ accuracy }) => accuracy)).toEqual(numbered(20).map(({ id }) => (Number(id) % 9) / 8));
      expect(rows[7]).toEqual({
        id: '7',
        source: 'test',
        problem: problemHash(problem('7')),
        accuracy: 7 / 8,
        correct: 7,
        valid: 8,
        n: 8,
        label: 'easy',
        drop: null,
        tokens: 5,
        fingerprint: 'weights',
        settings: measured.settings,
      });
      expect([rows[0]!.drop, rows[8]!.drop]).toEqual(['unsolved', 'solved']);
      expect(measured.histogram.counts).toEqual([3, 3, 2, 2, 2, 2, 2, 2, 2]);
      expect(measured.pace).toMatchObject({ rollouts: 160, tokens: 800 });
    }
  });

  it('computes nothing that was measured before, and of a larger pool only what is new', async () => {
    const cache = cacheAt();
    const policy = testPolicy(byNumber);
    const first = await measure(policy, numbered(10), cache);
    const again = await measure(policy, numbered(10), cache);
    expect([again.asked, again.rows, again.estimate.rollouts, again.measured.known]).toEqual([[], first.rows, 0, 10]);
    const larger = await measure(policy, numbered(13), cache);
    expect(larger.asked).toEqual(['10', '11', '12']);
    expect(larger.estimate).toMatchObject({ problems: 13, known: 10, rollouts: 24, expected: { tokens: 120 } });
  });

  it('knows a problem by its text: renamed it is known, changed it is not, and twice in a pool it is measured once', async () => {
    const cache = cacheAt();
    const policy = testPolicy(() => ({ correct: 3 }));
    await measure(policy, [problem('a', 'What?')], cache);
    expect((await measure(policy, [problem('b', 'What?')], cache)).asked).toEqual([]);
    expect((await measure(policy, [{ ...problem('a', 'What?'), answer: '2' }], cache)).asked).toEqual(['a']);
    const twice = await measure(policy, [problem('c', 'Which?'), problem('d', 'Which?')], cache);
    expect(twice.asked).toEqual(['c']);
    expect(twice.rows.map(({ id, accuracy }) => [id, accuracy])).toEqual([
      ['c', 3 / 8],
      ['d', 3 / 8],
    ]);
  });

  it.each([
    ['the temperature', { temperature: 0.5 }, {}],
    ['top-p', { topP: 0.6 }, {}],
    ['the seed', { seed: 2 }, {}],
    ['the prompt', {}, { settings: { system: 'other' } }],
  ])('is made anew under another value of %s', async (_, options, of) => {
    const cache = cacheAt();
    await measure(
      testPolicy(() => ({ correct: 1 })),
      numbered(2),
      cache,
    );
    const { asked } = await measure(
      testPolicy(() => ({ correct: 1 }), of),
      numbered(2),
      cache,
      options,
    );
    expect(asked).toEqual(['0', '1']);
  });

  it('that is interrupted goes on with the rollout it was at, with the same rows as one that never was', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 13 * 8 }), fc.integer({ min: 1, max: 13 }), async (stopAfter, portion) => {
        const path = join(folder.path, `cut${caches++}`);
        const stop = new AbortController();
        let graded = 0;
        const onProgress = (): void => {
          if (++graded === stopAfter) stop.abort(new Error('cut'));
        };
        const cut = measure(testPolicy(byNumber), numbered(13), cacheAt(path), { signal: stop.signal, portion, onProgress });
        if (stopAfter < 13 * 8) await expect(cut).rejects.toThrow('cut');
        else await cut;
        const whole = await measure(testPolicy(byNumber), numbered(13), cacheAt());
        const after = await measure(testPolicy(byNumber), numbered(13), cacheAt(path), { portion });
        expect(after.rows).toEqual(whole.rows);
        expect(after.measured.pace.rollouts).toBe(13 * 8 - stopAfter);
        expect(after.estimate.rollouts).toBe(13 * 8 - stopAfter);
      }),
      { numRuns: 25 },
    );
  });

  it('with more rollouts a problem samples only those that are more, and with fewer none', async () => {
    const cache = cacheAt();
    const policy = testPolicy(() => ({ correct: 3 }));
    await measure(policy, numbered(2), cache, { samples: 4 });
    const more = await measure(policy, numbered(2), cache);
    expect([more.measured.pace.rollouts, more.rows[0]!.accuracy]).toEqual([8, 3 / 8]);
    const fewer = await measure(policy, numbered(2), cache, { samples: 2 });
    expect([fewer.measured.pace.rollouts, fewer.rows[0]!.accuracy, fewer.rows[0]!.n]).toEqual([0, 1, 2]);
  });

  it('does not take a lost rollout for a wrong answer, leaves a problem that lost too many without a label, and tries again only what was lost', async () => {
    const cache = cacheAt();
    const lost: Record<string, number> = { 0: 4, 1: 5, 2: 8 };
    const failing = testPolicy(({ id }) => ({ correct: 3, lost: lost[id]! }));
    const { rows, measured } = await measure(failing, numbered(3), cache);
    expect(rows.map(({ accuracy, valid, label }) => [accuracy, valid, label])).toEqual([
      [3 / 4, 4, 'easy'],
      [null, 3, null],
      [null, 0, null],
    ]);
    expect([measured.lost, measured.histogram.unlabelled, rows[2]!.tokens]).toEqual([17, 2, null]);
    // Now the first rollouts, which were lost, are wrong.
    const again = await measure(
      testPolicy(() => ({ correct: 0 })),
      numbered(3),
      cache,
    );
    expect([again.measured.pace.rollouts, again.measured.lost]).toEqual([17, 0]);
    expect(again.rows.map(({ accuracy }) => accuracy)).toEqual([3 / 8, 3 / 8, 0]);
    const strict = await measure(
      testPolicy(({ id }) => ({ correct: 1, lost: lost[id]! })),
      numbered(3),
      cacheAt(),
      { enough: 3 },
    );
    expect(strict.rows.map(({ label }) => label)).toEqual(['hard', 'medium', null]);
  });

  it('leaves out what is longer than a prompt may be, and says how many', async () => {
    const long = problem('long', 'x'.repeat(101));
    const { rows, measured } = await measure(
      testPolicy(() => ({ correct: 1 })),
      [problem('0'), long],
      cacheAt(),
    );
    expect([rows.map(({ id }) => id), measured.tooLong, measured.problems]).toEqual([['0'], 1, 1]);
  });
});

describe('a row', () => {
  it('has the accuracy of its valid rollouts, whatever was lost', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 32 }), fc.nat(), fc.nat(), (n, a, b) => {
        const valid = a % (n + 1);
        const correct = b % (valid + 1);
        const row = profileRow(problem('p'), { n, valid, correct, tokens: 0 }, { fingerprint: 'f', settings: 's', enough: 1 });
        expect(row.accuracy).toBe(valid === 0 ? null : correct / valid);
        expect(row.label === null).toBe(row.accuracy === null);
        expect(row.drop).toBe(valid > 0 && correct === valid ? 'solved' : valid > 0 && correct === 0 ? 'unsolved' : null);
      }),
    );
  });
});

describe('the hash of a problem', () => {
  it('does not depend on the order of keys in tests, and does on everything that decides what is right', () => {
    const code: Problem = { id: 'c', question: 'q', kind: 'code', tests: { inputs: ['1'], outputs: ['2'] } };
    expect(problemHash(code)).toBe(problemHash({ ...code, id: 'other', tests: { outputs: ['2'], inputs: ['1'] } }));
    const others: Problem[] = [
      { ...code, tests: { inputs: ['1'], outputs: ['3'] } },
      { ...code, question: 'q ' },
      { ...code, kind: 'math' },
      { ...code, options: ['a'] },
      { ...code, answer: '' },
    ];
    expect(new Set([code, ...others].map(problemHash)).size).toBe(6);
  });
});

describe('the cache', () => {
  it('that is something else is refused by its name', () => {
    folder.write(CACHE_FILE, 'no database, but long enough to be looked at as one'.repeat(20));
    expect(() => new DifficultyCache(folder.path)).toThrow(/difficulty\.sqlite is damaged/);
    const file = folder.write('file', '');
    expect(() => new DifficultyCache(file)).toThrow(`${file} cannot be made: a file has that name`);
  });

  it('may be written by two at once', () => {
    const path = join(folder.path, 'shared');
    const [one, two] = [cacheAt(path), cacheAt(path)];
    const key = { fingerprint: 'f', settings: {}, temperature: 1, topP: 1, seed: 1 };
    one.put(key, 'a', { sample: 1, correct: true, tokens: 3 });
    two.put(key, 'a', { sample: 0, correct: false, tokens: 4 });
    const both = [
      { sample: 0, correct: false, tokens: 4 },
      { sample: 1, correct: true, tokens: 3 },
    ];
    expect([two.rollouts(key, 'a', 8), one.rollouts(key, 'a', 8), one.rollouts(key, 'a', 1)]).toEqual([both, both, both.slice(0, 1)]);
    expect(one.rollouts({ ...key, seed: 2 }, 'a', 8)).toEqual([]);
    one.addPace(key, { rollouts: 8, tokens: 3, seconds: 1 });
    two.addPace(key, { rollouts: 8, tokens: 4, seconds: 0.5 });
    expect(one.pace(key)).toEqual({ rollouts: 16, tokens: 7, seconds: 1.5 });
  });
});
