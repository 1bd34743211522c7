import { describe, expect, it } from 'vitest';
import { smoothed } from './smoothing.js';

const ones = (length: number): number[] => new Array<number>(length).fill(1);
const close = (got: ArrayLike<number>, expected: readonly number[]): void => {
  for (const [i, value] of expected.entries()) expect(got[i]).toBeCloseTo(value, 12);
};

describe('smoothing', () => {
  it('of 0 gives the values back', () => {
    close(smoothed([1, 5, 2], ones(3), 0), [1, 5, 2]);
  });

  it('is a weighted average of all values so far, without a pull to the first or to zero', () => {
    const values = [4, 0, 8];
    close(smoothed(values, ones(3), 0.5), [4, (4 * 0.5 + 0) / 1.5, (4 * 0.25 + 0 * 0.5 + 8) / 1.75]);
    close(smoothed([7, 7, 7, 7], ones(4), 0.95), [7, 7, 7, 7]);
  });

  it('takes a bucket for as many steps of its mean', () => {
    const single = smoothed([2, 2, 2, 6, 6], ones(5), 0.8);
    const buckets = smoothed([2, 6], [3, 2], 0.8);
    close(buckets, [single[2]!, single[4]!]);
  });
});
