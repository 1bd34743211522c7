/** What training and evaluation make of an environment: its verdicts and rewards unless told otherwise, and the same starts in each stage. */
import { beforeAll, describe, expect, it } from 'vitest';
import { chatFormatOf, scriptedRollout } from '../../test/support/rolloutSettings.js';
import type { ChatFormat } from '../chat/chatFormat.js';
import type { Stage } from '../domain/event.js';
import { evaluatePolicy } from '../evaluation/evaluate.js';
import { packagedRecipe } from '../recipe/load.js';
import type { Grader } from '../reward/grader.js';
import { scoreRollouts } from '../reward/rewardFunction.js';
import { planGroups, runRollouts } from '../rollout/scheduler.js';
import { graderOf, scoringOf, type TrainOptions } from '../training/trainOptions.js';
import type { Environment } from './environment.js';
import { environmentGrader } from './environmentScoring.js';
import { act, type Counting, counting, GOAL } from './testSupport.js';

let format: ChatFormat;
beforeAll(async () => {
  format = await chatFormatOf();
});

const signal = new AbortController().signal;
const byKind: Grader<Counting> = () => ({ kind: 'infra', error: 'asked the grader by kind' });

function settings(environment = counting()) {
  return scriptedRollout(format, () => act('add', { n: 5 }), environment.tools, { settings: { environment: environment as Environment } })
    .settings;
}

async function scored(options: Partial<TrainOptions<Counting>>) {
  const environment = counting();
  const rollouts = await runRollouts(planGroups([GOAL], 2, 'rl/0'), settings(environment), { runSeed: 1, step: 0, concurrency: 2 });
  const scoring = scoringOf<Counting>({ recipe: 'nano', environment, ...options }, packagedRecipe('nano'), byKind);
  return (await scoreRollouts(rollouts, scoring, { signal })).group.members;
}

describe('a run in an environment', () => {
  it('is rewarded by it alone: no bonus for calls, no penalty for length', async () => {
    for (const { reward, verdict } of await scored({})) {
      expect(reward).toEqual({ total: 1.625, parts: { 'env/step': 0.625, 'env/final': 1 } });
      expect(verdict).toMatchObject({ correct: true, reason: 'match', note: '1 step, ended by the environment' });
    }
  });

  it('may be rewarded or graded by functions of the user, which see what happened', async () => {
    const [member] = await scored({ reward: ({ environment }) => ({ brief: -environment!.steps }) });
    expect(member).toMatchObject({ reward: { total: -1, parts: { brief: -1 } }, verdict: { correct: true } });
    const grader: Grader<Counting> = () => ({ kind: 'graded', correct: false, score: 0, reason: 'mismatch' });
    const [graded] = await scored({ grader });
    expect(graded).toMatchObject({ reward: { total: 1.625 }, verdict: { correct: false } });
    const { trajectory } = graded!;
    const evaluated = (options: Partial<TrainOptions<Counting>>) =>
      graderOf<Counting>({ environment: counting(), ...options }, byKind)(trajectory, { signal });
    expect(await evaluated({ grader })).toMatchObject({ correct: false });
    expect(await evaluated({ reward: () => -1 })).toMatchObject({ correct: true });
  });

  it('gives no verdict on what was not run in one', async () => {
    const plain = scriptedRollout(format, () => 'no', []).settings;
    const [rollout] = await runRollouts(planGroups([GOAL], 1, 'g'), plain, { runSeed: 1, step: 0, concurrency: 1 });
    if (rollout?.kind !== 'finished') throw new Error('lost');
    expect(environmentGrader(rollout.trajectory)).toMatchObject({ kind: 'infra' });
  });
});

it('begins alike in every stage and under every sampling, differently for each problem and run', async () => {
  const problems = [GOAL, { ...GOAL, id: 'q' }];
  async function starts(stage: Stage, names: readonly string[], seed: number): Promise<string[]> {
    const { sampler, sampling: _, ...rollout } = settings();
    const results = await evaluatePolicy<Counting>({
      ...{ sampler, rollout, problems, grader: environmentGrader, stage, step: 0, seed, concurrency: 8, lockstep: false, signal },
      settings: names.map((name) => ({ name, samples: 2, temperature: 1, topP: 1 })),
      sink: () => undefined,
    });
    return results.flatMap(({ rollouts }) => rollouts.map(({ trajectory }) => /Seed (\d+)/.exec(trajectory.problem.question)![1]!));
  }
  const [a, , b] = await starts('base', ['main'], 1);
  expect(a).not.toBe(b);
  expect(await starts('rl', ['main', 'greedy'], 1)).toEqual([a, a, b, b, a, a, b, b]);
  expect(await starts('base', ['main'], 2)).not.toContain(a);
});
