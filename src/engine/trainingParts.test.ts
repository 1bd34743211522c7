import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Datum } from '../domain/datum.js';
import type { LossRequest } from './trainer.js';
import { asSum, inParts, mergeMetrics } from './trainingParts.js';

const number = fc.double({ min: -3, max: 3, noNaN: true });
const datum = fc
  .array(fc.record({ weight: fc.constantFrom(0, 0, 1, 0.25), old: number, advantage: number, now: number }), {
    minLength: 1,
    maxLength: 12,
  })
  .filter((tokens) => tokens.some(({ weight }) => weight !== 0))
  .map((tokens) => ({
    datum: {
      inputTokens: tokens.map(() => 1),
      targets: tokens.map(() => 1),
      weights: tokens.map(({ weight }) => weight),
      logProbs: tokens.map(({ old }) => old),
      advantages: tokens.map(({ advantage }) => advantage),
    } satisfies Datum,
    now: Float64Array.from(tokens, ({ now }) => now),
  }));

/** d loss / d log-prob of a token, before its weight. */
function slope({ name, config }: LossRequest, now: number, old: number, advantage: number): number {
  if (name === 'cross_entropy') return -1;
  const ratio = Math.exp(now - old);
  if (name === 'importance_sampling') return -ratio * advantage;
  const high = config?.clip_high_threshold ?? 1.2;
  const clipped = Math.min(Math.max(ratio, 0.8), high);
  return -advantage * ratio >= -advantage * clipped ? -advantage * ratio : 0;
}

const plainSum = (all: readonly { datum: Datum; now: Float64Array }[], loss: LossRequest): number[] =>
  all.flatMap(({ datum: { weights, logProbs, advantages }, now }) =>
    [...now].map((value, t) => weights[t]! * slope(loss, value, logProbs![t]!, advantages![t]!)),
  );

/** As a server that takes means does it: over each datum's weights, then over datums. */
const means = (data: readonly Datum[], now: readonly Float64Array[], loss: LossRequest): number[] =>
  data.flatMap(({ weights, logProbs, advantages }, i) => {
    const total = weights.reduce((a, b) => a + b, 0);
    return [...now[i]!].map(
      (value, t) => (weights[t]! * slope(loss, value, logProbs![t]!, advantages![t]!)) / Math.max(total, 1e-9) / data.length,
    );
  });

describe('a mean that is to be a sum', () => {
  it.each([{ name: 'cross_entropy' }, { name: 'importance_sampling' }, { name: 'ppo', config: { clip_high_threshold: 1.28 } }] as const)(
    'has the gradient of the sum: $name',
    (loss) => {
      fc.assert(
        fc.property(fc.array(datum, { minLength: 1, maxLength: 5 }), (all) => {
          const now = all.map((one) => one.now);
          const sum = asSum(
            all.map((one) => one.datum),
            loss,
            now,
          );
          const got = means(sum.data, now, sum.loss);
          for (const [i, expected] of plainSum(all, loss).entries()) expect(got[i]).toBeCloseTo(expected, 9);
        }),
      );
    },
  );
});

describe('requests', () => {
  it('hold all data in order, each within the limits', () => {
    const lengths = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(lengths, fc.integer({ min: 1, max: 8 }), fc.integer({ min: 60, max: 4000 }), (all, datums, bytes) => {
        const data = all.map((length): Datum => {
          const ones = Array.from({ length }, () => 1);
          return { inputTokens: ones, targets: ones, weights: ones };
        });
        const parts = inParts(data, 'cross_entropy', { datums, bytes });
        expect(parts.flatMap((part) => part.data)).toEqual(data);
        for (const part of parts) {
          expect(part.encoded).toHaveLength(part.data.length);
          expect(part.data.length).toBeLessThanOrEqual(datums);
          if (part.data.length > 1)
            expect(part.data.reduce((sum, { inputTokens }) => sum + inputTokens.length * 60, 0)).toBeLessThanOrEqual(bytes);
        }
      }),
    );
  });

  it('have their metrics put together by the endings of their names', () => {
    const all = [
      { 'loss:sum': 1, 'x:mean': 2, 'y:max': 3, 'z:min': 4 },
      { 'loss:sum': 10, 'x:mean': 4, 'y:max': 1, 'z:min': 1 },
    ];
    expect(mergeMetrics(all)).toEqual({ 'loss:sum': 11, 'x:mean': 3, 'y:max': 3, 'z:min': 1 });
  });
});
