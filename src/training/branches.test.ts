/** Rollouts of several branches through a step, against a trainer that only notes what it is given. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ChatFormat } from '../chat/chatFormat.js';
import type { Datum } from '../domain/datum.js';
import type { TrajectoryRecord } from '../domain/event.js';
import type { Problem } from '../domain/problem.js';
import type { Branch, Trajectory } from '../domain/trajectory.js';
import type { Trainer } from '../engine/trainer.js';
import { resolveRecipe } from '../recipe/load.js';
import type { RecipeInput } from '../recipe/schema.js';
import type { RolloutAgent } from '../rollout/endpointAgent.js';
import { packageRoot } from '../setup/paths.js';
import { Toolbox } from '../tools/callTool.js';
import { type RlContext, rlStep } from './rl.js';

const branch = (first: number, mask: readonly number[]): Branch => ({
  promptTokens: [first, first + 1],
  tokens: mask.map((_, t) => first + 2 + t),
  mask,
  samplerLogProbs: mask.map((bit) => (bit === 1 ? -0.5 : 0)),
  turns: [{ text: 'x', segments: [{ kind: 'text', text: 'x' }], stop: 'stop', tokens: 2, policyVersion: 0, replies: [] }],
});

/** Of each group: 0 has one branch of 2 trained tokens, 1 has two of 3 and 1, 2 has none. */
const SHAPES: readonly (readonly Branch[])[] = [
  [branch(10, [1, 1])],
  [branch(20, [1, 0, 1, 1]), branch(30, [0, 0, 1])],
  [{ promptTokens: [], tokens: [], mask: [], samplerLogProbs: [], turns: [] }],
];
const REWARDS = [1, 0, 0.5];
/** What GRPO without the standard deviation makes of them. */
const ADVANTAGES = [0.5, -0.5, 0];

async function step(aggregation: 'token' | 'sequence', rl: Partial<NonNullable<RecipeInput['rl']>> = {}) {
  const recipe = resolveRecipe({
    name: 'branches',
    model: 'none',
    stages: ['rl'],
    problems: { train: 'calc', evaluation: 'calc' },
    rl: {
      ...{ steps: 1, groupsPerStep: 2, groupSize: 3, updatesPerStep: 1, ...rl },
      algorithm: { aggregation, advantage: 'grpoWithoutStd', oldLogProbs: 'sampler', ...rl.algorithm },
    },
  });
  const data: (readonly Datum[])[] = [];
  const records: TrajectoryRecord[] = [];
  let told = 0;
  const forward = (given: readonly Datum[], logProb: number) => given.map(({ targets }) => new Float64Array(targets.length).fill(logProb));
  const trainer = {
    capabilities: { server: 'x', models: [], losses: { ppo: [], importance_sampling: [] }, extensions: [], lossReduction: 'sum' },
    policyVersion: 0,
    forward: async (given: readonly Datum[]) => forward(given, -0.5),
    forwardBackward: async (given: readonly Datum[]) => {
      told += records.length;
      data.push(given);
      return { logProbs: forward(given, -0.25), metrics: {} };
    },
    optimStep: async () => ({ gradNorm: 1 }),
    publish: async () => ({ policyVersion: 0, sample: () => Promise.reject(new Error('never asked')) }),
  } as unknown as Trainer;
  const agent: RolloutAgent = {
    async run({ problem, groupId, trajectoryId }) {
      const [own, ...branches] = SHAPES[Number(trajectoryId.split('/').at(-1))]!;
      const ended = { finalText: '', stopReason: { kind: 'answered' }, seconds: 0 } as const;
      const trajectory = { trajectoryId, groupId, problem, ...own!, ...(branches.length > 0 && { branches }), ...ended };
      return { kind: 'finished', trajectory };
    },
  };
  const context: RlContext<Problem> = {
    ...{ recipe, stage: recipe.rl!, trainer, agent: () => agent },
    problems: [1, 2].map((id) => ({ id: `${id}`, question: '?' })),
    rollout: {
      ...{ tools: new Toolbox([]), limits: recipe.limits, system: '' },
      format: await ChatFormat.load(join(packageRoot(), 'models', 'nano')),
    },
    scoring: { reward: ({ trajectoryId }: Trajectory) => REWARDS[Number(trajectoryId.split('/').at(-1))]! },
    sink: (event) => void (event.kind === 'trajectory' && records.push(event.record)),
    signal: new AbortController().signal,
  };
  const metrics = await rlStep(context, 0);
  return { data, records, metrics, told };
}

const weightsOf = (datum: Datum) => datum.advantages!.filter((_, i) => datum.weights[i] === 1);

describe('a rollout of several branches', () => {
  it('gives one datum a branch, all with its advantage, weighted by all trained tokens of the mini-batch (Eq. 4)', async () => {
    const { data } = await step('token');
    expect(data).toHaveLength(1);
    expect(data[0]!.map(({ inputTokens }) => inputTokens[0])).toEqual([10, 20, 30, 10, 20, 30]);
    const each = 1 / 12;
    expect(data[0]!.slice(0, 3).map(weightsOf)).toEqual([[0.5 * each, 0.5 * each], [-0.5 * each, -0.5 * each, -0.5 * each], [-0.5 * each]]);
  });

  it('counts once among the sequences (Eq. 5): its weights over all branches add up to those of a rollout of one', async () => {
    const { data } = await step('sequence');
    const [one, first, second] = data[0]!.slice(0, 3).map(weightsOf);
    expect(one).toEqual([0.5 / 8, 0.5 / 8]);
    expect([...first!, ...second!]).toEqual([1, 2, 3, 4].map(() => -0.5 / 16));
  });

  it('is rewarded and counted once, and its numbers are those of all branches together', async () => {
    const { records, metrics } = await step('token');
    expect(records.map(({ advantage }) => advantage)).toEqual([...ADVANTAGES, ...ADVANTAGES]);
    expect(metrics).toMatchObject({ 'reward/total': 0.5, 'train/tokens': 12, 'rollout/modelTokens': 2, 'rollout/turns': 1 });
  });

  it('is told with the ratios of its last update, all branches; one that no update saw has none', async () => {
    const { records, told } = await step('token');
    expect(told).toBe(0);
    const moved = Math.fround(Math.exp(0.25));
    expect(records.slice(0, 3).map(({ ratios, branchRatios }) => [ratios, branchRatios])).toEqual([
      [[moved, moved], undefined],
      [[moved, 1, moved, moved], [[1, 1, moved]]],
      [undefined, undefined],
    ]);
  });

  it('goes the custom way too, with a sequence ratio for each branch', async () => {
    const { data, metrics } = await step('sequence', {
      algorithm: { ratio: 'sequence', oldLogProbs: 'trainer', clipLow: 0.5, clipHigh: 0.5 },
    });
    expect(data[0]!.map(({ inputTokens }) => inputTokens[0])).toEqual([10, 20, 30, 10, 20, 30]);
    expect(metrics['train/tokens']).toBe(12);
    expect(metrics['train/samplerGap']).toBe(0);
  });
});
