import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { certaintyOf, difficultyOf, levelOf } from './labels.js';

describe('the label of a problem', () => {
  it("follows the paper's bounds, both of which belong to the outer label", () => {
    const labels = Array.from({ length: 9 }, (_, k) => difficultyOf(k / 8));
    expect(labels).toEqual(['hard', 'hard', 'hard', 'medium', 'medium', 'medium', 'easy', 'easy', 'easy']);
    expect([difficultyOf(0.2501), difficultyOf(0.7499)]).toEqual(['medium', 'medium']);
  });

  it('is certain only where all rollouts agree', () => {
    expect([0, 1 / 8, 7 / 8, 1].map(certaintyOf)).toEqual(['unsolved', undefined, undefined, 'solved']);
  });
});

describe('the bar of an accuracy', () => {
  const measured = fc.integer({ min: 1, max: 64 }).chain((valid) => fc.tuple(fc.integer({ min: 0, max: valid }), fc.constant(valid)));

  it('is the number of right rollouts where all are valid', () => {
    fc.assert(fc.property(measured, ([correct, valid]) => levelOf(correct / valid, valid) === correct));
  });

  it('never calls a problem certain that is not, and never moves it further than one bar', () => {
    fc.assert(
      fc.property(measured, fc.integer({ min: 2, max: 32 }), ([correct, valid], n) => {
        const accuracy = correct / valid;
        const level = levelOf(accuracy, n);
        expect(Number.isInteger(level)).toBe(true);
        expect(level === 0).toBe(correct === 0);
        expect(level === n).toBe(correct === valid);
        expect(Math.abs(level - accuracy * n)).toBeLessThan(1);
      }),
    );
  });

  it('rises with the accuracy', () => {
    fc.assert(
      fc.property(measured, measured, fc.integer({ min: 1, max: 32 }), ([a, n], [b, m], bars) => {
        const [low, high] = a / n <= b / m ? [a / n, b / m] : [b / m, a / n];
        expect(levelOf(low, bars)).toBeLessThanOrEqual(levelOf(high, bars));
      }),
    );
  });
});
