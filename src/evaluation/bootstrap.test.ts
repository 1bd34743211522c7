import { describe, expect, it } from 'vitest';
import { bootstrapInterval } from './bootstrap.js';

describe('bootstrap interval over problems', () => {
  const half = Array.from({ length: 400 }, (_, i) => i % 2);

  it('comes near the interval of the normal approximation for many problems', () => {
    const { low, high } = bootstrapInterval(half);
    const margin = 1.96 * Math.sqrt(0.25 / 400);
    expect(low).toBeCloseTo(0.5 - margin, 2);
    expect(high).toBeCloseTo(0.5 + margin, 2);
  });

  it('equals the exact distribution of resampled means for two problems', () => {
    // means 0, 1/2, 1 have chances 1/4, 1/2, 1/4: the middle 40 % is 1/2 alone, the middle 90 % reaches both ends
    expect(bootstrapInterval([0, 1], { confidence: 0.4 })).toEqual({ low: 0.5, high: 0.5 });
    expect(bootstrapInterval([0, 1], { confidence: 0.9 })).toEqual({ low: 0, high: 1 });
  });

  it('repeats with its seed and moves a little with another', () => {
    const odd = half.map((x, i) => x + i / 1000);
    expect(bootstrapInterval(odd, { seed: 3 })).toEqual(bootstrapInterval(odd, { seed: 3 }));
    expect(bootstrapInterval(odd, { seed: 3 })).not.toEqual(bootstrapInterval(odd, { seed: 4 }));
  });

  it('has no width where all problems are alike', () => {
    expect(bootstrapInterval([1])).toEqual({ low: 1, high: 1 });
    expect(bootstrapInterval([0, 0, 0])).toEqual({ low: 0, high: 0 });
  });

  it('covers the truth about as often as it says', () => {
    let covered = 0;
    for (let trial = 0; trial < 200; trial++) {
      const drawn = Array.from({ length: 100 }, (_, i) =>
        (Math.imul(trial * 7919 + i * 104729 + 1, 2654435761) >>> 0) / 2 ** 32 < 0.3 ? 1 : 0,
      );
      const { low, high } = bootstrapInterval(drawn, { seed: trial, resamples: 300 });
      if (low <= 0.3 && 0.3 <= high) covered++;
    }
    expect(covered).toBeGreaterThan(170);
  });

  it('refuses no problems and senseless options', () => {
    expect(() => bootstrapInterval([])).toThrow('an interval over no problems');
    expect(() => bootstrapInterval([1], { resamples: 0 })).toThrow(RangeError);
    expect(() => bootstrapInterval([1], { confidence: 1 })).toThrow(RangeError);
  });
});
