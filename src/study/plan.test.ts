import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { UserError } from '../userError.js';
import { hashOf, planOf, readPlanFiles } from './plan.js';

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
      'claim entropy: wide and narrow differ in more than the claim says: rl.learningRate (3e-4 and 0.001)',
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

describe('arms of a claim', () => {
  const arms = { narrow: { rl: { algorithm: { clipHigh: 0.2 } } }, wide: null };

  it('are refused where they are the same recipe, also by what changes no result', () => {
    const equal = 'claim entropy, part 1: wide and narrow are the same recipe';
    expect(refused({ arms: { narrow: {}, wide: null } })).toContain(equal);
    const other = { seed: 9, description: 'another', checkpoints: { everySteps: 2 } };
    expect(refused({ arms: { narrow: other, wide: null }, claims: [{ ...claim, differs: ['seed', 'checkpoints'] }] })).toContain(equal);
    const checks = [{ arms: ['wide', 'broad'], endpoint: { final: 'accuracy' }, differBy: 1 }];
    expect(refused({ arms: { ...arms, broad: {} }, claims: [{ ...claim, checks }] })).toContain(
      'claim entropy, check 1: wide and broad are the same recipe',
    );
  });

  it('are refused where they do not differ in what the claim says, with the nearest path in which they do', () => {
    expect(refused({ claims: [{ ...claim, differs: ['rl.algoritm.clipHigh'] }] })).toContain(
      'claim entropy: differs.0 is rl.algoritm.clipHigh, in which no two arms that its parts compare differ. Did you mean rl.algorithm.clipHigh?',
    );
    expect(refused({ claims: [{ ...claim, differs: ['rl.algoritm'] }] })).toContain('Did you mean rl.algorithm?');
    expect(refused({ claims: [{ ...claim, differs: ['rl.algorithm.clipHigh', 'rl.steps'] }] })).toContain(
      'differs.1 is rl.steps, in which no two arms that its parts compare differ. They differ in rl.algorithm.clipHigh: take it out',
    );
    expect(planOf({ ...PLAN, claims: [{ ...claim, differs: ['rl'] }] }, 'plan.yaml').claims[0]!.differs).toEqual(['rl']);
  });

  it('may differ in one path between these two and in another between those', () => {
    const part = claim.parts[0]!;
    const further = { ...part, below: 'slow' };
    const plan = {
      ...PLAN,
      arms: { ...arms, slow: { rl: { learningRate: 1e-5 } } },
      claims: [{ ...claim, parts: [part, further], differs: ['rl.algorithm.clipHigh', 'rl.learningRate'] }],
    };
    expect(planOf(plan, 'plan.yaml').claims[0]!.parts).toHaveLength(2);
  });
});

describe('mistakes in the recipes of a plan', () => {
  it('are told with the arm that they stand in, and all at once', () => {
    const text = refused({
      arms: { narrow: { rl: { algoritm: {} } }, wide: { rl: { steps: 'many' }, limits: { turnTokens: 0 } } },
      claims: [claim, { ...claim, id: 'other', parts: [{ ...claim.parts[0]!, above: 'wyde' }] }],
    });
    expect(text.split('\n')).toEqual([
      'plan.yaml:',
      '  - arm narrow: unknown key rl.algoritm. Did you mean rl.algorithm?',
      expect.stringMatching(/^ {2}- arm wide: limits.turnTokens must be/),
      expect.stringMatching(/^ {2}- arm wide: rl.steps must be a whole number/),
      '  - claim other: there is no arm wyde. Did you mean wide? Arms: narrow, wide',
    ]);
  });

  it('are told once where all arms share them', () => {
    expect(refused({ base: { extends: 'nano', rl: { stepz: 4 } } }).split('\n')).toEqual([
      'plan.yaml:',
      '  - base: unknown key rl.stepz. Did you mean rl.steps?',
    ]);
    expect(refused({ base: { extends: 'nono' } }).match(/there is no recipe named nono. Did you mean nano\?/g)).toHaveLength(1);
    expect(refused({ base: { ...PLAN.base, limits: { toolTokens: 500 } } })).toContain('  - base: limits.toolTokens (500) leaves nothing');
  });

  it('are told of what blocks begin with', () => {
    expect(refused({ start: { extends: 'nano', rl: { stepz: 4 } } })).toContain('  - start: unknown key rl.stepz. Did you mean rl.steps?');
  });
});

describe('several plans', () => {
  const folder = mkdtempSync(join(tmpdir(), 'plans-'));
  const write = (file: string, change: object = {}): string => {
    writeFileSync(join(folder, file), stringify({ ...PLAN, ...change }));
    return join(folder, file);
  };

  it('each have a name of their own', () => {
    try {
      const [first, second, third] = [write('a.yaml'), write('b.yaml', { blocks: 3 }), write('c.yaml', { name: 'other' })];
      expect(readPlanFiles([first, third]).map(({ name }) => name)).toEqual(['clip', 'other']);
      expect(() => readPlanFiles([first, third, second])).toThrow(`${first} and ${second} are both called clip`);
      expect(() => readPlanFiles([first, join(folder, '.', 'a.yaml')])).toThrow(`the plan ${first} is given twice`);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
