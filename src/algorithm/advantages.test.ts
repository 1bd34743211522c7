import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AdvantageName, advantage, differ, groupAdvantages, grpoAdvantages, leaveOneOutAdvantages } from './advantages.js';

const NAMES: readonly AdvantageName[] = ['grpo', 'grpoWithoutStd', 'leaveOneOut'];
const reward = fc.integer({ min: -300, max: 300 }).map((value) => value / 100);

describe.each(NAMES)('%s', (name) => {
  const of = advantage(name);

  it('gives exactly 0 to equal rewards, residues of arithmetic included', () => {
    for (const value of [-2.1, -0.9, -0.8, -0.7, -0.6, 0.1, 1e-12, 1e6])
      expect([...of(new Array<number>(16).fill(value))]).toEqual(new Array(16).fill(0));
    expect([...of([0.3, 0.1 + 0.2])]).toEqual([0, 0]);
  });

  it('gives 0 to a group of one, and nothing to an empty one', () => {
    expect([...of([0.7])]).toEqual([0]);
    expect([...of([])]).toEqual([]);
  });

  it('sums to 0, does not change under a shift, and keeps the order', () => {
    fc.assert(
      fc.property(fc.array(reward, { minLength: 2, maxLength: 12 }), reward, (rewards, shift) => {
        const advantages = [...of(rewards)];
        expect(advantages.reduce((sum, value) => sum + value, 0)).toBeCloseTo(0, 6);
        if (Math.max(...rewards) - Math.min(...rewards) > 1e-3) {
          for (const [i, value] of of(rewards.map((own) => own + shift)).entries()) expect(value).toBeCloseTo(advantages[i]!, 6);
          expect(advantages[rewards.indexOf(Math.max(...rewards))]).toBe(Math.max(...advantages));
        }
      }),
    );
  });

  it('refuses a reward that is not finite', () => {
    expect(() => of([1, Number.NaN])).toThrow(RangeError);
  });
});

describe('grpoAdvantages', () => {
  it('divides by the sample deviation plus 1e-6', () => {
    expect(grpoAdvantages([1, -1])[0]).toBeCloseTo(1 / (Math.SQRT2 + 1e-6), 15);
  });
});

describe('leaveOneOutAdvantages', () => {
  it('subtracts the mean of the others', () => {
    expect([...leaveOneOutAdvantages([1, -1, 0.5])]).toEqual([1.25, -1.75, 0.5]);
  });
});

describe('groupAdvantages', () => {
  it('compares within groups, wherever their members stand and however many there are', () => {
    const advantages = groupAdvantages([1, 5, -1, 7, 3], ['a', 'b', 'a', 'c', 'b'], advantage('grpoWithoutStd'));
    expect([...advantages]).toEqual([1, 1, -1, 0, -1]);
  });

  it('refuses lists of different length', () => {
    expect(() => groupAdvantages([1], [], advantage('grpo'))).toThrow(RangeError);
  });
});

describe('differ', () => {
  it('tells groups that teach something from those that do not', () => {
    expect(differ([1, 1, 1])).toBe(false);
    expect(differ([1, 1, 0.999])).toBe(true);
    expect(differ([1e-15, -1e-15])).toBe(true);
  });
});
