import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { apportion } from './apportion.js';
import { type Candidate, draw } from './draw.js';
import { bucketsOf, type Target } from './target.js';

const N = 8;
const UNIFORM: Target = { kind: 'uniform' };

const weights = fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 1, maxLength: 12 }).filter((all) => all.some((one) => one > 0));

const pool = fc.array(
  fc.record({
    accuracy: fc.oneof(
      { weight: 9, arbitrary: fc.integer({ min: 0, max: N }).map((k) => k / N) },
      { weight: 1, arbitrary: fc.constant(null) },
    ),
    rank: fc.integer({ min: 0, max: 1000 }),
  }),
  { maxLength: 200 },
);

const target: fc.Arbitrary<Target> = fc.oneof(
  fc.constant(UNIFORM),
  fc
    .array(fc.integer({ min: 0, max: 9 }), { minLength: 7, maxLength: 7 })
    .filter((all) => all.some((one) => one > 0))
    .map((all): Target => ({ kind: 'histogram', name: 't', weights: all.map((weight, i) => ({ accuracy: (i + 1) / N, weight })) })),
  fc
    .record({ easy: fc.integer({ min: 0, max: 9 }), medium: fc.integer({ min: 0, max: 9 }), hard: fc.integer({ min: 1, max: 9 }) })
    .map((shares): Target => ({ kind: 'labels', shares })),
);

describe('apportioning a total by shares', () => {
  it('adds up, stays within one of every portion, and gives nothing to a share of 0', () => {
    fc.assert(
      fc.property(weights, fc.integer({ min: 0, max: 5000 }), (shares, total) => {
        const parts = apportion(shares, total);
        const sum = shares.reduce((a, b) => a + b, 0);
        expect(parts.reduce((a, b) => a + b, 0)).toBe(total);
        for (const [i, part] of parts.entries()) {
          expect(Math.abs(part - (shares[i]! / sum) * total)).toBeLessThan(1 + 1e-6);
          if (shares[i] === 0) expect(part).toBe(0);
        }
      }),
    );
  });
});

describe('a draw', () => {
  it('takes nobody twice, nobody unmeasured and nobody certain, and as many as its table says', () => {
    fc.assert(
      fc.property(pool, target, fc.option(fc.integer({ min: 1, max: 300 }), { nil: undefined }), (candidates, wished, size) => {
        const { taken, buckets } = draw(candidates, bucketsOf(wished, N), size);
        expect(new Set(taken).size).toBe(taken.length);
        expect(taken.every((i) => candidates[i]!.accuracy !== null && candidates[i]!.accuracy! > 0 && candidates[i]!.accuracy! < 1)).toBe(
          true,
        );
        expect(buckets.reduce((sum, bucket) => sum + bucket.taken, 0)).toBe(taken.length);
        for (const { taken: count, there } of buckets) expect(count).toBeLessThanOrEqual(there);
      }),
    );
  });

  it('without a size is the largest set that follows the target: one more would ask a bucket for what it has not', () => {
    fc.assert(
      fc.property(pool, target, (candidates, wished) => {
        const shaped = bucketsOf(wished, N);
        const { taken, buckets, short } = draw(candidates, shaped);
        expect(buckets.map(({ taken: count }) => count)).toEqual(
          apportion(
            shaped.buckets.map(({ share }) => share),
            taken.length,
          ),
        );
        expect(short.length).toBeGreaterThan(0);
      }),
    );
  });

  it('with a size gives exactly so many, or all that the target has a share for; a short bucket is taken whole', () => {
    fc.assert(
      fc.property(pool, target, fc.integer({ min: 1, max: 300 }), (candidates, wished, size) => {
        const { taken, buckets, short } = draw(candidates, bucketsOf(wished, N), size);
        const usable = buckets.reduce((sum, { share, there }) => sum + (share > 0 ? there : 0), 0);
        expect(taken.length).toBe(Math.min(size, usable));
        for (const { name, wanted, there, taken: count } of buckets) {
          expect(short.includes(name)).toBe(wanted > there);
          if (wanted > there) expect(count).toBe(there);
          else expect(count).toBeGreaterThanOrEqual(wanted);
        }
        if (short.length === 0) expect(buckets.every(({ wanted, taken: count }) => wanted === count)).toBe(true);
      }),
    );
  });

  it('takes the lowest ranks of a bucket, so that a larger set under the same seed holds the smaller one', () => {
    fc.assert(
      fc.property(pool, fc.integer({ min: 1, max: 100 }), (candidates, size) => {
        const shaped = bucketsOf({ kind: 'labels', shares: { easy: 0, medium: 1, hard: 0 } }, N);
        const small = draw(candidates, shaped, size).taken;
        const large = new Set(draw(candidates, shaped, size + 20).taken);
        expect(small.every((i) => large.has(i))).toBe(true);
      }),
    );
  });

  it('fills what one bucket lacks from the others in proportion, and says how far that is from the target', () => {
    const candidates: Candidate[] = [
      ...Array.from({ length: 2 }, (_, i) => ({ accuracy: 7 / 8, rank: i })),
      ...Array.from({ length: 60 }, (_, i) => ({ accuracy: 4 / 8, rank: i })),
      ...Array.from({ length: 60 }, (_, i) => ({ accuracy: 1 / 8, rank: i })),
    ];
    const { taken, buckets, short, distance } = draw(
      candidates,
      bucketsOf({ kind: 'labels', shares: { easy: 0.4, medium: 0.3, hard: 0.3 } }, N),
      50,
    );
    expect(buckets.map(({ wanted, there, taken: count }) => [wanted, there, count])).toEqual([
      [20, 2, 2],
      [15, 60, 24],
      [15, 60, 24],
    ]);
    expect([taken.length, short, distance.toFixed(2)]).toEqual([50, ['easy'], '0.36']);
  });

  it('of a pool without one usable problem is empty', () => {
    const { taken, distance } = draw(
      [
        { accuracy: 1, rank: 0 },
        { accuracy: null, rank: 1 },
      ],
      bucketsOf(UNIFORM, N),
      5,
    );
    expect([taken, distance]).toEqual([[], 1]);
  });
});
