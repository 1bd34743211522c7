import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { thinned } from './metrics.js';

describe('a series', () => {
  it('of few points stays as it is', () => {
    expect(
      thinned(
        [
          [0, 1],
          [5, null],
          [6, Number.POSITIVE_INFINITY],
        ],
        3,
      ),
    ).toEqual({ steps: [0, 5, 6], values: [1, null, null], count: 3 });
  });

  it('of many is thinned to buckets with their mean, least and most, at their last step', () => {
    const rows = Array.from({ length: 10 }, (_, i): [number, number | null] => [i * 2, i === 3 ? 100 : i]);
    expect(thinned(rows, 2)).toEqual({ steps: [8, 18], values: [(0 + 1 + 2 + 100 + 4) / 5, 7], low: [0, 5], high: [100, 9], count: 10 });
    expect(
      thinned(
        [
          [0, null],
          [1, null],
          [2, 4],
          [3, null],
        ],
        2,
      ),
    ).toMatchObject({ values: [null, 4], low: [null, 4] });
  });

  it('keeps its ends, its extremes and its order, however it is thinned', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { minLength: 1, maxLength: 300 }),
        fc.integer({ min: 2, max: 60 }),
        (values, points) => {
          const {
            steps,
            low,
            high,
            values: means,
            count,
          } = thinned(
            values.map((value, i) => [i, value]),
            points,
          );
          expect(steps.at(-1)).toBe(values.length - 1);
          expect(steps.length).toBeLessThanOrEqual(Math.max(points, 1));
          expect(count).toBe(values.length);
          expect([...steps].sort((a, b) => a - b)).toEqual(steps);
          expect(Math.min(...((low ?? means) as number[]))).toBe(Math.min(...values));
          expect(Math.max(...((high ?? means) as number[]))).toBe(Math.max(...values));
        },
      ),
    );
  });
});
