import { describe, expect, it } from 'vitest';
import { UserError } from '../userError.js';
import { hashOf, planOf } from './plan.js';

const PLAN = {
  name: 'clip',
  title: 'The upper bound',
  blocks: 8,
  base: { extends: 'nano', rl: { steps: 4 } },
  arms: { narrow: { rl: { algorithm: { clipHigh: 0.2 } } }, wide: null },
  claims: [
    {
      id: 'entropy',
      says: 'a higher upper bound keeps entropy',
      fair: 'one model of a million parameters',
      parts: [{ above: 'wide', below: 'narrow', endpoint: { mean: 'rollout/entropy' }, margin: 0.02 }],
      differs: ['rl.algorithm.clipHigh'],
      checks: [{ arm: 'narrow', mean: 'train/clipHigh', atLeast: 0.001 }],
    },
  ],
};
const claim = PLAN.claims[0]!;
const refused = (change: object): string => {
  try {
    planOf({ ...PLAN, ...change }, 'plan.yaml');
  } catch (error) {
    expect(error).toBeInstanceOf(UserError);
    return (error as Error).message;
  }
  throw new Error('it was taken');
};

describe('a plan', () => {
  it('resolves its arms over what they share', () => {
    const plan = planOf(PLAN, 'plan.yaml');
    expect(plan.arms.map(({ name, recipe }) => [name, recipe.rl!.algorithm.clipHigh, recipe.rl!.steps])).toEqual([
      ['narrow', 0.2, 4],
      ['wide', 0.28, 4],
    ]);
    expect(plan.notes).toEqual([]);
  });

  it('has a hash of what decides its results, whatever the order of keys and the wording', () => {
    const { hash } = planOf(PLAN, 'a');
    expect(planOf({ ...Object.fromEntries(Object.entries(PLAN).reverse()), title: 'Other words', blocks: 12 }, 'b').hash).toBe(hash);
    expect(planOf({ ...PLAN, base: { ...PLAN.base, rl: { steps: 5 } } }, 'b').hash).not.toBe(hash);
    expect(hashOf({ a: 1, b: [{ c: 2, d: 3 }] })).toBe(hashOf({ b: [{ d: 3, c: 2 }], a: 1 }));
  });

  it('is refused where arms differ in more than the claim says, by path and values', () => {
    expect(refused({ arms: { narrow: { rl: { algorithm: { clipHigh: 0.2 }, learningRate: 1e-3 } }, wide: null } })).toContain(
      'claim entropy: wide and narrow differ in more than the claim says: rl.learningRate (0.0003 and 0.001)',
    );
  });

  it('is refused for an arm that is not there, with the nearest, and for one that no claim uses', () => {
    const parts = [{ ...claim.parts[0]!, above: 'wyde' }];
    expect(refused({ claims: [{ ...claim, parts }] })).toContain('there is no arm wyde. Did you mean wide?');
    expect(refused({ arms: { ...PLAN.arms, other: { seed: 5 } } })).toContain('arm other belongs to no claim');
  });

  it('is refused for mistakes in an arm, in a claim, or in its keys', () => {
    expect(refused({ arms: { ...PLAN.arms, narrow: { rl: { stepz: 1 } } } })).toContain('narrow');
    expect(refused({ claims: [{ ...claim, parts: [{ ...claim.parts[0]!, below: 'wide' }] }] })).toContain('compares wide with itself');
    expect(refused({ claims: [claim, claim] })).toContain('two claims are called entropy');
    expect(refused({ block: 3 })).toContain('block');
  });

  it('with few blocks says that verdicts will be exploratory', () => {
    expect(planOf({ ...PLAN, blocks: 3 }, 'plan.yaml').notes[0]).toContain('exploratory');
  });
});
