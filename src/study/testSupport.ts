/** What tests of studies share: a small plan, and results of its arms that were made and not run. */
import type { ArmResult } from './armResult.js';
import { jobOf } from './jobs.js';
import { planOf, type StudyPlan } from './plan.js';

/** Two arms that differ in their upper clip, and one claim about the share right at the end. */
export const PLAN = {
  name: 'clip',
  title: 'The upper bound',
  blocks: 6,
  base: { extends: 'nano', rl: { steps: 3 } },
  arms: { narrow: { rl: { algorithm: { clipHigh: 0.2 } } }, wide: null },
  claims: [
    {
      id: 'accuracy',
      says: 'a higher upper bound ends higher',
      paper: '0.315 reaches at step 60 what 0.28 reaches at step 100.',
      fair: 'one model of a million parameters',
      parts: [{ above: 'wide', below: 'narrow', endpoint: { final: 'accuracy' }, margin: 5, why: 'runs differ by two points' }],
      differs: ['rl.algorithm.clipHigh'],
      checks: [{ arm: 'narrow', mean: 'train/clipHigh', atLeast: 0.001 }],
    },
  ],
};

export const madePlan = (change: object = {}): StudyPlan => planOf({ ...PLAN, ...change }, 'plan.yaml');

/** Shares right at the end, one a block; the curve of the training rollouts rises to them. */
export function madeResults(plan: StudyPlan, arm: string, shares: readonly number[], more: Partial<ArmResult> = {}): ArmResult[] {
  const found = plan.arms.find(({ name }) => name === arm)!;
  return shares.map((share, block): ArmResult => {
    const { key, seed } = jobOf(plan, found, block);
    return {
      ...{ format: 1, arm, key, block, seed },
      curves: {
        rl: {
          'rollout/accuracy': [share / 4, share / 2, share],
          'rollout/entropy': [0.5, 0.4, 0.3],
          'train/clipHigh': [0.001, 0.002, 0.003],
        },
      },
      steps: { rl: 3 },
      evaluations: [{ name: 'main', stage: 'rl', step: 3, metrics: { accuracy: share } }],
      ...{ lost: 0, tokens: { written: 1000, trained: 1000 }, seconds: 60 },
      machine: { cpu: 'a processor', cores: 2, toolwise: '0.1.0' },
      ended: `2026-11-${String(20 + block)}T10:00:00.000Z`,
      ...more,
    };
  });
}

export const byKey = (...results: readonly ArmResult[][]): Map<string, ArmResult> =>
  new Map(results.flat().map((result) => [result.key, result]));
