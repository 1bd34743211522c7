import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Aggregation, miniBatchWeights, weightedAdvantages } from './aggregate.js';
import { clippedLoss } from './clippedLoss.js';
import { importanceWeights } from './importance.js';
import type { PolicyLoss, PolicySequence } from './policyLoss.js';
import { sequenceLoss } from './sequenceLoss.js';

const sequence = (
  logProbs: number[],
  oldLogProbs: number[],
  advantages: number[],
  mask: number[] = logProbs.map(() => 1),
): PolicySequence => ({
  logProbs: Float64Array.from(logProbs),
  oldLogProbs: Float64Array.from(oldLogProbs),
  advantages: Float64Array.from(advantages),
  mask: Float64Array.from(mask),
});

const one = (loss: PolicyLoss, logRatio: number, advantage: number) => loss([sequence([logRatio - 1], [-1], [advantage])]);

const grpoTcr = clippedLoss({ low: 0.2, high: 0.28, dual: 10 });

/** Rows of (old log-prob, log-ratio, trained), with one advantage a row. */
const batches = (spread: number) =>
  fc
    .array(
      fc.record({
        advantage: fc.double({ min: -2, max: 2, noNaN: true }),
        tokens: fc.array(
          fc.tuple(
            fc.double({ min: -3, max: 0, noNaN: true }),
            fc.double({ min: -spread, max: spread, noNaN: true }),
            fc.constantFrom(0, 1, 1),
          ),
          { minLength: 1, maxLength: 6 },
        ),
      }),
      { minLength: 1, maxLength: 4 },
    )
    .map((rows) =>
      rows.map(({ advantage, tokens }) =>
        sequence(
          tokens.map(([old, ratio]) => old + ratio),
          tokens.map(([old]) => old),
          tokens.map(() => advantage),
          tokens.map(([, , bit]) => bit),
        ),
      ),
    );

const nudged = (batch: readonly PolicySequence[], row: number, t: number, by: number): PolicySequence[] =>
  batch.map((own, i) => (i === row ? { ...own, logProbs: own.logProbs.map((value, k) => (k === t ? value + by : value)) } : own));

/** Central difference; undefined where the loss has a kink within reach. */
function slope(
  loss: (batch: readonly PolicySequence[]) => number,
  batch: readonly PolicySequence[],
  row: number,
  t: number,
): number | undefined {
  const step = 1e-6;
  const here = loss(batch);
  const up = (loss(nudged(batch, row, t, step)) - here) / step;
  const down = (here - loss(nudged(batch, row, t, -step))) / step;
  return Math.abs(up - down) > 1e-3 * Math.max(1, Math.abs(up), Math.abs(down)) ? undefined : (up + down) / 2;
}

describe.each([
  ['token ratio', grpoTcr, 1.5],
  ['token ratio without dual clip', clippedLoss({ low: 0.2, high: 0.2 }), 1.5],
  ['token ratio with a tight dual clip', clippedLoss({ low: 0.2, high: 0.28, dual: 1.5 }), 1.5],
  ['sequence ratio', sequenceLoss({ low: 0.2, high: 0.28 }), 0.6],
  ['sequence ratio with the tight bounds of GRPO-SCR', sequenceLoss({ low: 3e-4, high: 4e-4 }), 1e-3],
] as const)('%s', (_, loss, spread) => {
  it('has the gradient that finite differences give', () => {
    fc.assert(
      fc.property(batches(spread), (batch) => {
        const { gradient } = loss(batch);
        batch.forEach((own, row) => {
          own.mask.forEach((bit, t) => {
            const expected = slope((changed) => loss(changed).loss, batch, row, t);
            if (bit === 0) expect(gradient[row]![t]).toBe(0);
            else if (expected !== undefined) expect(gradient[row]![t]).toBeCloseTo(expected, 4);
          });
        });
      }),
      { numRuns: 150 },
    );
  });

  it('is a sum: micro-batches add up', () => {
    fc.assert(
      fc.property(batches(spread), (batch) => {
        const whole = loss(batch);
        const parts = batch.map((own) => loss([own]));
        expect(parts.reduce((sum, part) => sum + part.loss, 0)).toBeCloseTo(whole.loss, 9);
        expect(parts.map((part) => part.gradient[0])).toEqual(whole.gradient);
      }),
    );
  });

  it('is positively homogeneous in the advantages, statistics unchanged', () => {
    fc.assert(
      fc.property(batches(spread), fc.double({ min: 1e-3, max: 100, noNaN: true }), (batch, factor) => {
        const plain = loss(batch);
        const scaled = loss(batch.map((own) => ({ ...own, advantages: own.advantages.map((value) => value * factor) })));
        expect(scaled.loss).toBeCloseTo(plain.loss * factor, 6);
        if (batch.every((own) => own.advantages.every((value) => value === 0 || Math.abs(value) > 1e-200)))
          expect(scaled.stats).toEqual(plain.stats);
      }),
    );
  });

  it('never looks at what the mask hides', () => {
    const visible = sequence([-1, -0.9], [-1.1, -1], [0.5, 0.5]);
    const hidden = sequence([-1, Number.NaN, -0.9], [-1.1, Number.NEGATIVE_INFINITY, -1], [0.5, Number.NaN, 0.5], [1, 0, 1]);
    expect(loss([hidden]).loss).toBe(loss([visible]).loss);
    expect(loss([hidden]).stats).toEqual(loss([visible]).stats);
    expect([...loss([hidden]).gradient[0]!].filter((_, t) => t !== 1)).toEqual([...loss([visible]).gradient[0]!]);
  });

  it('gives 0 for a batch without trained tokens, and for none', () => {
    for (const batch of [[], [sequence([-1], [-2], [1], [0])], [sequence([], [], [])]]) {
      const result = loss(batch);
      expect(result.loss).toBe(0);
      expect(result.stats).toEqual({
        trainedTokens: 0,
        clipFraction: 0,
        clipHighFraction: 0,
        clipLowFraction: 0,
        clipFractionLower: 0,
        ppoKl: 0,
      });
    }
  });

  it('does not hide a log-prob that is not a number', () => {
    const result = loss([sequence([Number.NaN, -1], [-1, -1], [1, 1])]);
    expect(result.loss).toBeNaN();
    expect(result.gradient[0]![0]).toBeNaN();
  });

  it('stays finite at any ratio', () => {
    for (const logRatio of [-1000, -21, 21, 1000]) {
      for (const advantage of [-1, 1]) expect(Number.isFinite(one(loss, logRatio, advantage).loss)).toBe(true);
    }
  });

  it('refuses arrays of different length', () => {
    expect(() => loss([{ ...sequence([-1], [-1], [1]), mask: new Float64Array(2) }])).toThrow(RangeError);
  });
});

describe('clippedLoss', () => {
  it('clips each side where it hurts, and says which bound bit', () => {
    expect(one(grpoTcr, 0.5, 1)).toMatchObject({ loss: -1.28, stats: { clipHighFraction: 1, clipLowFraction: 0, clipFraction: 1 } });
    expect(one(grpoTcr, -0.5, -1)).toMatchObject({ loss: 0.8, stats: { clipHighFraction: 0, clipLowFraction: 1, clipFraction: 1 } });
    expect(one(grpoTcr, 0.5, -1).stats.clipFraction).toBe(0);
    expect(one(grpoTcr, -0.5, 1).stats.clipFraction).toBe(0);
  });

  it('caps negative advantages at the dual bound', () => {
    expect(one(grpoTcr, 2.5, -1)).toMatchObject({ loss: 10, stats: { clipFraction: 0, clipFractionLower: 1 } });
    expect(one(clippedLoss({ low: 0.2, high: 0.28 }), 2.5, -1).loss).toBeCloseTo(Math.exp(2.5), 9);
  });

  it('leaves ratios between 1.2 and 1.28 alone under clip-higher', () => {
    expect(one(grpoTcr, 0.24, 1).stats.clipFraction).toBe(0);
    expect(one(clippedLoss({ low: 0.2, high: 0.2 }), 0.24, 1).stats.clipFraction).toBe(1);
  });

  it('keeps the log-ratio within 20, without gradient beyond', () => {
    const result = one(clippedLoss({ low: 0.2, high: 0.28 }), 25, -1);
    expect(result.loss).toBeCloseTo(Math.exp(20), 3);
    expect(result.gradient[0]![0]).toBe(0);
    expect(result.stats.ppoKl).toBe(-20);
  });

  it('refuses a dual clip that is not above 1, and negative bounds', () => {
    expect(() => clippedLoss({ low: 0.2, high: 0.2, dual: 1 })).toThrow(RangeError);
    expect(() => clippedLoss({ low: -0.1, high: 0.2 })).toThrow(RangeError);
  });
});

describe('sequenceLoss', () => {
  it('is Eq. 5 with Eq. 7', () => {
    const rows = [
      { logProbs: [-1, -2, -0.5], old: [-1.1, -1.9, -0.7], advantage: 1.5 },
      { logProbs: [-0.3, -0.2], old: [-0.3, -0.1], advantage: -0.5 },
    ];
    const masks = rows.map(({ logProbs }) => logProbs.map(() => 1));
    const advantages = weightedAdvantages(
      rows.map(({ advantage }) => advantage),
      masks,
      'seq-mean-token-mean',
    );
    const batch = rows.map(({ logProbs, old }, i) => sequence(logProbs, old, [...advantages[i]!]));
    const ratio = (row: (typeof rows)[number]): number =>
      Math.exp(row.logProbs.reduce((sum, value, t) => sum + value - row.old[t]!, 0) / row.logProbs.length);
    const expected = rows.reduce((sum, row) => sum - row.advantage * ratio(row), 0) / rows.length;
    expect(sequenceLoss({ low: 0.5, high: 0.5 })(batch).loss).toBeCloseTo(expected, 12);
  });

  it('clips a sequence as a whole and counts its tokens', () => {
    const { gradient, stats } = sequenceLoss({ low: 3e-4, high: 4e-4 })([
      sequence([-1, -1], [-1.1, -0.95], [1, 1]),
      sequence([-1], [-1], [1]),
    ]);
    expect([...gradient[0]!, ...gradient[1]!]).toEqual([0, 0, -1]);
    expect(stats.clipHighFraction).toBeCloseTo(2 / 3, 12);
  });
});

describe('miniBatchWeights', () => {
  const masks = [[1, 1, 0, 1], [1], [0, 0]];

  it('gives every trained token the same weight under token-mean', () => {
    expect(miniBatchWeights(masks, 'token-mean').map((row) => [...row])).toEqual([[0.25, 0.25, 0, 0.25], [0.25], [0, 0]]);
  });

  it('gives every sequence with trained tokens the same weight under seq-mean-token-mean', () => {
    const weights = miniBatchWeights(masks, 'seq-mean-token-mean');
    expect(weights.map((row) => row.reduce((sum, value) => sum + value, 0))).toEqual([0.5, 0.5, 0]);
  });

  it('divides by sequences or by a fixed length', () => {
    expect(miniBatchWeights(masks, 'seq-mean-token-sum')[1]![0]).toBe(1 / 3);
    expect(miniBatchWeights(masks, 'seq-mean-token-sum-norm', { fixedLength: 8 })[0]![0]).toBe(1 / 8);
    expect(() => miniBatchWeights(masks, 'seq-mean-token-sum-norm')).toThrow(RangeError);
  });

  it('sums to 1 under both means, whatever the masks', () => {
    const anyMasks = fc.array(fc.array(fc.constantFrom(0, 1), { maxLength: 8 }), { maxLength: 6 });
    fc.assert(
      fc.property(anyMasks, fc.constantFrom<Aggregation>('token-mean', 'seq-mean-token-mean'), (own, aggregation) => {
        const total = miniBatchWeights(own, aggregation).reduce((sum, row) => sum + row.reduce((part, value) => part + value, 0), 0);
        expect(total).toBeCloseTo(own.some((row) => row.includes(1)) ? 1 : 0, 12);
      }),
    );
  });

  it('refuses an unknown aggregation', () => {
    expect(() => miniBatchWeights(masks, 'mean' as Aggregation)).toThrow(RangeError);
  });
});

describe('importanceWeights', () => {
  it('is the ratio of the policies, capped, and 0 where the mask is', () => {
    const weights = importanceWeights([-1, -1, -1, -1], [-1, -2, -50, Number.NaN], 2, [1, 1, 1, 0]);
    expect([...weights]).toEqual([1, 2, 2, 0]);
    expect(importanceWeights([-3], [-1], 2)[0]).toBeCloseTo(Math.exp(-2), 12);
  });

  it('refuses a cap that is not positive and arrays of different length', () => {
    expect(() => importanceWeights([-1], [-1], 0)).toThrow(RangeError);
    expect(() => importanceWeights([-1], [], 1)).toThrow(RangeError);
  });
});
