import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { accuracy, averageOf, majorityOf, passAtK, type Sample } from './metrics.js';

const right = (answer?: string): Sample => ({ kind: 'graded', correct: true, ...(answer === undefined ? {} : { answer }) });
const wrong = (answer?: string): Sample => ({ kind: 'graded', correct: false, ...(answer === undefined ? {} : { answer }) });
const infra: Sample = { kind: 'infra' };

/** All subsets of k of the indices below n. */
function subsets(n: number, k: number): number[][] {
  if (k === 0) return [[]];
  return Array.from({ length: n }, (_, i) => i).flatMap((last) => subsets(last, k - 1).map((rest) => [...rest, last]));
}

describe('pass@k', () => {
  it('equals the share of all subsets of k that hold a right sample', () => {
    const upTo7 = fc.array(fc.boolean(), { minLength: 1, maxLength: 7 });
    fc.assert(
      fc.property(
        upTo7.chain((flags) => fc.tuple(fc.constant(flags), fc.integer({ min: 1, max: flags.length }))),
        ([flags, k]) => {
          const all = subsets(flags.length, k);
          const solved = all.filter((subset) => subset.some((i) => flags[i])).length;
          expect(passAtK(flags.length, flags.filter(Boolean).length, k)).toBeCloseTo(solved / all.length, 12);
        },
      ),
    );
  });

  it('is unbiased where drawing with replacement is not: one right of 4 at k = 4 is certain', () => {
    expect(passAtK(4, 1, 4)).toBe(1);
    expect(passAtK(32, 1, 1)).toBeCloseTo(1 / 32, 14);
  });

  it('stays exact for many samples', () => {
    expect(passAtK(10_000, 1, 5_000)).toBeCloseTo(0.5, 9);
    expect(passAtK(1000, 0, 1000)).toBe(0);
  });

  it('gives the values of the golden vectors', () => {
    const vectors = JSON.parse(readFileSync(new URL('../../test/golden/metrics.json', import.meta.url), 'utf8')) as {
      fn: string;
      inputs: { samples: number; correct: number; k: number };
      expected: { value: number };
    }[];
    const mine = vectors.filter(({ fn }) => fn === 'pass_at_k');
    expect(mine.length).toBeGreaterThan(5);
    for (const { inputs, expected } of mine) expect(passAtK(inputs.samples, inputs.correct, inputs.k)).toBeCloseTo(expected.value, 12);
  });

  it('refuses k above n, k below 1 and counts that cannot be', () => {
    expect(() => passAtK(4, 1, 5)).toThrow('pass@5 cannot be told from 4 samples');
    expect(() => passAtK(4, 1, 0)).toThrow(RangeError);
    expect(() => passAtK(4, 5, 1)).toThrow(RangeError);
    expect(() => passAtK(4, 1.5, 1)).toThrow(RangeError);
  });
});

describe('maj@n', () => {
  it('takes the answer with most votes', () => {
    expect(majorityOf([right('7'), right('7'), wrong('8')])).toBe(1);
    expect(majorityOf([right('7'), wrong('8'), wrong('8')])).toBe(0);
  });

  it('shares a tie equally', () => {
    expect(majorityOf([right('7'), wrong('8'), wrong('9')])).toBeCloseTo(1 / 3, 14);
    expect(majorityOf([right('7'), wrong('8'), wrong('8'), right('7')])).toBe(0.5);
    expect(majorityOf([wrong('8'), wrong('9')])).toBe(0);
  });

  it('counts no vote where there is no answer', () => {
    expect(majorityOf([wrong(), wrong(), wrong(''), right('7')])).toBe(1);
    expect(majorityOf([wrong(), wrong()])).toBe(0);
    expect(majorityOf([right()])).toBe(0);
  });

  it('takes right answers together whatever their form, and ignores space around an answer', () => {
    expect(majorityOf([right('0.5'), right('1/2'), wrong('2'), wrong(' 2 '), right('.5')])).toBe(1);
    expect(majorityOf([wrong('2'), wrong(' 2 '), right('1')])).toBe(0);
  });

  it('does not depend on the order, and equals the chance that a fair choice among the leaders is right', () => {
    const sample = fc.oneof(
      fc.constantFrom('a', 'b', 'c').map((answer) => wrong(answer)),
      fc.constant(right('r')),
      fc.constant(wrong()),
      fc.constant(infra),
    );
    fc.assert(
      fc.property(fc.array(sample, { maxLength: 9 }), (samples) => {
        const votes = ['a', 'b', 'c', 'r'].map((answer) => samples.filter((s) => s.kind === 'graded' && s.answer === answer).length);
        const leaders = votes.flatMap((count, i) => (count > 0 && count === Math.max(...votes) ? [i] : []));
        const expected = leaders.length === 0 ? 0 : leaders.filter((i) => i === 3).length / leaders.length;
        const valid = samples.some((s) => s.kind === 'graded');
        expect(majorityOf(samples)).toBe(valid ? expected : undefined);
        expect(majorityOf(samples.toReversed())).toBe(majorityOf(samples));
      }),
    );
  });
});

describe('accuracy over problems', () => {
  const problems = [
    { problemId: 'a', samples: [right('1'), wrong('2'), infra] },
    { problemId: 'b', samples: [right('1'), right('1'), right('1')] },
    { problemId: 'c', samples: [infra, infra, infra] },
  ];

  it('gives figures over the valid samples and over all', () => {
    const { valid, all, infra: lost, samples } = accuracy(problems, { passAt: [1, 3] });
    expect([lost, samples]).toEqual([4, 9]);
    expect(valid!.average).toMatchObject({ value: 0.75, problems: 2 });
    expect(all!.average.value).toBeCloseTo((1 / 3 + 1 + 0) / 3, 14);
    expect(all!.average.problems).toBe(3);
  });

  it('leaves a problem with fewer than k valid samples out of the valid pass@k, and keeps it over all', () => {
    const { valid, all } = accuracy(problems, { passAt: [3] });
    expect(valid!.passAt[3]).toMatchObject({ value: 1, problems: 1 });
    expect(all!.passAt[3]).toMatchObject({ value: 2 / 3, problems: 3 });
  });

  it('has no valid figures where everything failed, and none at all without samples', () => {
    const failed = accuracy([{ problemId: 'c', samples: [infra] }], { passAt: [1] });
    expect(failed.valid).toBeUndefined();
    expect(failed.all!.average.value).toBe(0);
    expect(accuracy([])).toEqual({ problems: 0, samples: 0, infra: 0 });
  });

  it('refuses k above the samples of a problem, by its name', () => {
    expect(() => accuracy(problems, { passAt: [4] })).toThrow('pass@4 cannot be told from the 3 samples of problem a');
  });

  it('counts samples, not problems: average@n equals pass@1', () => {
    const flags = fc.array(fc.boolean(), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(fc.array(flags, { minLength: 1, maxLength: 5 }), (rows) => {
        const drawn = rows.map((row, i) => ({ problemId: String(i), samples: row.map((ok) => (ok ? right('x') : wrong('y'))) }));
        const { valid } = accuracy(drawn, { passAt: [1], resamples: 10 });
        expect(valid!.passAt[1]!.value).toBeCloseTo(valid!.average.value, 12);
      }),
    );
    expect(averageOf([])).toBeUndefined();
  });
});
