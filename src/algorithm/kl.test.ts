import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type KlEstimator, klLoss, klShapedRewards, klValues } from './kl.js';

const logProb = fc.double({ min: -4, max: 0, noNaN: true });

describe.each<KlEstimator>(['k1', 'abs', 'k2', 'k3'])('%s', (estimator) => {
  const value = (log: number, ref: number): number => klValues([log], [ref], estimator).values[0]!;

  it('has the gradient that finite differences give', () => {
    fc.assert(
      fc.property(logProb, logProb, (log, ref) => {
        fc.pre(Math.abs(log - ref) > 1e-4 && value(log, ref) < 9.99);
        const step = 1e-6;
        const expected = (value(log + step, ref) - value(log - step, ref)) / (2 * step);
        const slope = klValues([log], [ref], estimator).gradient[0]!;
        expect(Math.abs(slope - expected)).toBeLessThan(1e-4 * Math.max(1, Math.abs(expected)));
      }),
    );
  });

  it('is 0 where the policies agree', () => {
    expect(value(-1.5, -1.5)).toBe(0);
  });
});

describe('klValues', () => {
  it('takes the value of one estimator and the gradient of k2 with a plus', () => {
    for (const estimator of ['k1', 'abs', 'k3'] as const) {
      const { values, gradient } = klValues([-1, -2], [-1.5, -1], `${estimator}+`);
      expect(values).toEqual(klValues([-1, -2], [-1.5, -1], estimator).values);
      expect([...gradient]).toEqual([0.5, -1]);
    }
  });

  it('never lets k3 below 0, and caps it at 10 without gradient', () => {
    fc.assert(fc.property(logProb, logProb, (log, ref) => klValues([log], [ref], 'k3').values[0]! >= 0));
    const { values, gradient } = klValues([-9, 0], [0, -30], 'k3');
    expect([...values]).toEqual([10, 10]);
    expect([...gradient]).toEqual([0, 0]);
  });

  it('does not look at masked tokens', () => {
    const { values, gradient } = klValues([Number.NaN, -1], [-1, -2], 'k1', [0, 1]);
    expect([...values]).toEqual([0, 1]);
    expect([...gradient]).toEqual([0, 1]);
  });

  it('refuses an unknown estimator and arrays of different length', () => {
    expect(() => klValues([-1], [-1], 'k4' as KlEstimator)).toThrow(RangeError);
    expect(() => klValues([-1], [], 'k1')).toThrow(RangeError);
  });

  it('estimates the divergence without bias by k1 and k3', () => {
    const policy = [0.7, 0.2, 0.1];
    const reference = [0.5, 0.25, 0.25];
    const exact = policy.reduce((sum, p, i) => sum + p * Math.log(p / reference[i]!), 0);
    for (const estimator of ['k1', 'k3'] as const) {
      const { values } = klValues(policy.map(Math.log), reference.map(Math.log), estimator);
      expect(policy.reduce((sum, p, i) => sum + p * values[i]!, 0)).toBeCloseTo(exact, 12);
    }
  });
});

describe('klLoss', () => {
  it('weights values and gradients', () => {
    const { loss, gradient } = klLoss([{ logProbs: [-1, -1], refLogProbs: [-2, Number.NaN], weights: Float64Array.of(0.5, 0) }], 'k1');
    expect(loss).toBe(0.5);
    expect([...gradient[0]!]).toEqual([0.5, 0]);
  });
});

describe('klShapedRewards', () => {
  it('takes the divergence off the rewards of trained tokens', () => {
    expect([...klShapedRewards([0, 0, 1], [-1, -1, -1], [-2, -2, -1.5], 0.1, { mask: [1, 0, 1] })]).toEqual([-0.1, 0, 0.95]);
  });
});
