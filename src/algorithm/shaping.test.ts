import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { entropyStatistics, estimateEntropy } from './entropy.js';
import { overlongPenalty } from './overlong.js';
import { toolBonus } from './toolBonus.js';

describe('overlongPenalty', () => {
  const limits = { maxTokens: 100, bufferTokens: 20 };

  it.each([
    [0, 0],
    [80, 0],
    [81, -0.05],
    [90, -0.5],
    [100, -1],
    [101, -1],
    [1000, -1],
  ])('of %i tokens is %f', (length, penalty) => {
    expect(overlongPenalty(length, limits)).toBeCloseTo(penalty, 15);
  });

  it('is whole for a truncated response, however short', () => {
    expect(overlongPenalty(3, limits, true)).toBe(-1);
    expect(overlongPenalty(3, { ...limits, factor: 0.5 }, true)).toBe(-0.5);
  });

  it('is a step where there is no buffer', () => {
    expect(overlongPenalty(100, { maxTokens: 100, bufferTokens: 0 })).toBe(0);
    expect(overlongPenalty(101, { maxTokens: 100, bufferTokens: 0 })).toBe(-1);
  });

  it('never rises with length and stays within [-1, 0]', () => {
    fc.assert(
      fc.property(fc.nat(300), fc.nat(100), (length, bufferTokens) => {
        const [shorter, longer] = [length, length + 1].map((own) => overlongPenalty(own, { maxTokens: 100, bufferTokens }));
        expect(longer!).toBeLessThanOrEqual(shorter!);
        expect(longer!).toBeGreaterThanOrEqual(-1);
        expect(shorter!).toBeLessThanOrEqual(0);
      }),
    );
  });

  it('refuses a buffer longer than the limit', () => {
    expect(() => overlongPenalty(1, { maxTokens: 10, bufferTokens: 11 })).toThrow(RangeError);
  });
});

describe('toolBonus', () => {
  it('pays 0.1 a call up to 0.4, right or wrong', () => {
    expect([0, 1, 4, 9].map((calls) => toolBonus(calls, true))).toEqual([0, 0.1, 0.4, 0.4]);
    expect(toolBonus(9, false)).toBe(0.4);
  });

  it('pays only wrong answers where asked', () => {
    expect(toolBonus(3, true, { wrongOnly: true })).toBe(0);
    expect(-1 + toolBonus(9, false, { wrongOnly: true })).toBe(-0.6);
  });
});

describe('entropy', () => {
  it('is estimated by the mean of -log-prob over trained tokens', () => {
    expect(estimateEntropy([[-1, -3, -100], [-2]], [[1, 1, 0], [1]])).toBe(2);
    expect(estimateEntropy([[-1]], [[0]])).toBeUndefined();
  });

  it('comes with its spread and the share of certain tokens', () => {
    expect(
      entropyStatistics(
        [
          [0, 2],
          [4, 99],
        ],
        [
          [1, 1],
          [1, 0],
        ],
      ),
    ).toEqual({
      tokens: 3,
      mean: 2,
      std: Math.sqrt(8 / 3),
      min: 0,
      max: 4,
      certainShare: 1 / 3,
    });
    expect(() => entropyStatistics([[1]], [[1, 1]])).toThrow(RangeError);
  });
});
