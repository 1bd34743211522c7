/**
 * One step of reinforcement learning: publish, roll out groups, grade and reward, advantages, k updates. Does not evaluate, save or
 * decide when to stop: see `train.ts`. `examples/rl-loop.ts` is the same loop in one readable file.
 */
import { type Advantage, advantage as advantageOf, differ } from '../algorithm/advantages.js';
import type { EventSink, Metrics, TrajectoryRecord } from '../domain/event.js';
import type { Group } from '../domain/group.js';
import type { Problem } from '../domain/problem.js';
import { type Branch, branchesOf, type Trajectory } from '../domain/trajectory.js';
import type { Trainer } from '../engine/trainer.js';
import { deriveSeed } from '../random.js';
import type { Recipe, RlStage } from '../recipe/schema.js';
import { type Scoring, scoreRollouts } from '../reward/rewardFunction.js';
import type { RolloutAgent } from '../rollout/endpointAgent.js';
import type { RolloutSettings } from '../rollout/episode.js';
import { planGroups, runRollouts } from '../rollout/scheduler.js';
import { type TokenSequence, toDatum, toResponse } from './datum.js';
import { miniBatches } from './miniBatches.js';
import { problemsAt, problemsOfStep } from './problemStream.js';
import { groupMetrics, hasRightAnswer, importanceCapped, samplerGap, toolSeconds, updateMetrics } from './rlMetrics.js';
import { adamOf } from './sft.js';
import { refuseUnreadAnswers } from './unreadAnswers.js';
import { type TrainedSequence, type UpdateResult, updatePolicy } from './update.js';

export interface RlContext<P extends Problem> {
  readonly recipe: Recipe;
  readonly stage: RlStage;
  readonly problems: readonly P[];
  /** Where the stream of these problems began, and the seed of its order; absent: at the first step, with the recipe's. */
  readonly order?: { readonly seed: number; readonly from: number };
  readonly trainer: Trainer;
  /** The policy at the start of the stage; only with a KL term. */
  readonly reference?: Trainer;
  readonly rollout: Omit<RolloutSettings, 'sampler' | 'sampling'>;
  /** In place of the built-in loop: an agent that takes each rollout through by itself, on the policy in these settings. */
  readonly agent?: (settings: RolloutSettings) => RolloutAgent;
  readonly scoring: Scoring<P>;
  readonly sink: EventSink;
  readonly signal: AbortSignal;
  /** Told how many rollouts of the step are in. */
  readonly onProgress?: (done: number, all: number) => void;
}

/** A group with the advantage of each member (paper, Eq. 3). */
export interface AdvantagedGroup<P extends Problem = Problem> {
  readonly group: Group<P>;
  readonly advantages: Float64Array;
  /** RL steps in the policy that sampled it; only where that may be fewer than were made before its step. */
  readonly sampledFrom?: number;
}

/** A step's rollouts, graded: all that were made for it, and those that it trains on. */
export interface SampledGroups<P extends Problem = Problem> {
  readonly all: readonly AdvantagedGroup<P>[];
  readonly trained: readonly AdvantagedGroup<P>[];
}

/** @param step 0-based */
export async function rlStep<P extends Problem>(context: RlContext<P>, step: number): Promise<Metrics> {
  const { trainer, signal } = context;
  const started = performance.now();
  const sampler = await trainer.publish(signal);
  const published = performance.now();
  const sampled = await rolloutGroups(context, sampler, step);
  return trainStep(context, sampled, step, { started, published, sampled: performance.now() });
}

/** Who takes a step's rollouts through: the built-in loop with these settings, or the agent on top of them. */
export function rolloutsBy<P extends Problem>(context: RlContext<P>, sampler: RolloutSettings['sampler']): RolloutSettings | RolloutAgent {
  const { rollout, agent, stage } = context;
  const settings = { ...rollout, sampler, sampling: { temperature: stage.temperature, topP: 1 } };
  return agent ? agent(settings) : settings;
}

/**
 * The updates of one step from rollouts that are there; then tells of each rollout.
 *
 * @param times milliseconds: when the step began, when its policy was published, when its rollouts were in
 */
export async function trainStep<P extends Problem>(
  context: RlContext<P>,
  { all, trained }: SampledGroups<P>,
  step: number,
  times: { readonly started: number; readonly published: number; readonly sampled: number },
): Promise<Metrics> {
  const { stage, trainer, recipe, signal } = context;
  refuseUnreadAnswers(
    all.flatMap(({ group }) => group.members),
    step,
  );
  const { sequences, metrics } = await withOldLogProbs(context, trained);
  const updates: UpdateResult[] = [];
  const batches = miniBatches(sequences, stage.updatesPerStep);
  for (let epoch = 0; epoch < stage.epochs; epoch++) {
    for (const [i, batch] of batches.entries()) {
      const adam = adamOf(stage, (step * stage.epochs + epoch) * batches.length + i, stage.steps * stage.epochs * batches.length);
      const update = await updatePolicy(trainer, batch.flat(), stage.algorithm, adam, { signal });
      if (update) updates.push(update);
    }
  }
  const ended = performance.now();
  record(context, all, step, ratiosOf(sequences, updates));
  return {
    ...groupMetrics(all),
    ...updateMetrics(updates),
    ...metrics,
    'train/learningRate': adamOf(stage, step * stage.epochs * batches.length, stage.steps * stage.epochs * batches.length).learningRate,
    'rollout/temperature': stage.temperature,
    'seconds/publish': (times.published - times.started) / 1000,
    'seconds/generation': (times.sampled - times.published) / 1000,
    'seconds/training': (ended - times.sampled) / 1000,
    'seconds/tools': toolSeconds(all),
    'train/deterministic': recipe.engine.deterministic ? 1 : 0,
  };
}

/** Rolls out and scores a step's groups, and further ones in place of those without a gradient where the recipe asks for it. */
export async function rolloutGroups<P extends Problem>(
  context: RlContext<P>,
  sampler: RolloutSettings['sampler'],
  step: number,
): Promise<SampledGroups<P>> {
  const { recipe, stage } = context;
  const { seed, from } = context.order ?? { seed: recipe.seed, from: 0 };
  const asked = problemsOfStep(context.problems, seed, step - from, stage.groupsPerStep);
  let all = await rolloutBatch(context, sampler, step, { problems: asked, first: 0 });
  const kept = () => all.filter((group) => isTrained(stage, group));
  const most = stage.dynamicSampling?.maxBatches ?? 1;
  let tried = asked.length;
  for (let batch = 1; batch < most && kept().length < stage.groupsPerStep; batch++) {
    const missing = stage.groupsPerStep - kept().length;
    const places = Array.from({ length: missing }, (_, i) => tried - asked.length + i);
    const further = problemsAt(context.problems, deriveSeed(seed, 'further problems', step), places);
    all = [...all, ...(await rolloutBatch(context, sampler, step, { problems: further, first: tried }))];
    tried += missing;
  }
  warnWhereShort(context, kept().length);
  return { all, trained: kept() };
}

/** Rolls out and scores groups; grading overlaps with sampling. Groups that lost all members are left out. */
async function rolloutBatch<P extends Problem>(
  context: RlContext<P>,
  sampler: RolloutSettings['sampler'],
  step: number,
  asked: { readonly problems: readonly P[]; readonly first: number },
): Promise<AdvantagedGroup<P>[]> {
  const { recipe, stage, scoring, signal } = context;
  const plans = planGroups(asked.problems, stage.groupSize, `rl/${step}`, asked.first);
  const advantages: Advantage = advantageOf(stage.algorithm.advantage);
  const groups = new Map<string, AdvantagedGroup<P>>();
  let done = 0;
  await runRollouts(plans, rolloutsBy(context, sampler), {
    runSeed: recipe.seed,
    step,
    concurrency: stage.concurrency === 'auto' ? plans.length : stage.concurrency,
    lockstep: recipe.engine.deterministic,
    signal,
    onRollout: () => context.onProgress?.(++done, plans.length),
    onGroup: async (rollouts, groupId) => {
      const { group, lost } = await scoreRollouts(rollouts, scoring, { signal });
      for (const { trajectoryId, error } of lost) {
        context.sink({ kind: 'note', level: 'warning', text: `rollout ${trajectoryId} was lost: ${error}` });
      }
      groups.set(groupId, { group, advantages: advantages(group.members.map((member) => member.reward.total)) });
    },
  });
  const order = [...new Set(plans.map((plan) => plan.groupId))];
  return order.map((groupId) => groups.get(groupId)!).filter(({ group }) => group.members.length > 0);
}

/** Whether a step is trained on this group: not where it is left out for being all wrong, or replaced for having no gradient. */
export function isTrained(stage: RlStage, group: AdvantagedGroup): boolean {
  if (stage.allWrongGroups === 'leaveOut' && !hasRightAnswer(group)) return false;
  return stage.dynamicSampling === undefined || differ(group.group.members.map(({ reward }) => reward.total));
}

/** Dynamic sampling has a bound, and a step that reaches it trains on what there is. */
export function warnWhereShort<P extends Problem>({ stage, sink }: Pick<RlContext<P>, 'stage' | 'sink'>, kept: number): void {
  if (stage.dynamicSampling === undefined || kept >= stage.groupsPerStep) return;
  const { maxBatches } = stage.dynamicSampling;
  const bound = `rl.dynamicSampling.maxBatches (${maxBatches})${stage.async?.deadline ? ' or rl.async.deadline' : ''}`;
  const text = `${kept} of ${stage.groupsPerStep} groups have a gradient, and ${bound} allows no further ones: the step trains on those`;
  sink({ kind: 'note', level: 'warning', text });
}

/** Rollouts as an update takes them, with the log-probs of the policy that the step starts from. */
async function withOldLogProbs<P extends Problem>(
  context: RlContext<P>,
  groups: readonly AdvantagedGroup<P>[],
): Promise<{ sequences: TrainedSequence[][]; metrics: Metrics }> {
  const { stage, trainer, signal } = context;
  const { oldLogProbs, truncatedImportanceSampling, klCoefficient, ratio } = stage.algorithm;
  const all = groups.flatMap(({ group }) => group.members.flatMap(({ trajectory }) => branchesOf(trajectory))).filter(isWritten);
  const recompute = oldLogProbs === 'trainer' || ratio === 'sequence' || truncatedImportanceSampling !== undefined;
  const logProbsOf = async (policy: Trainer): Promise<Map<Branch, Float64Array>> => {
    if (all.length === 0) return new Map();
    const values = await policy.forward(
      all.map((branch) => toDatum(branch)),
      signal,
    );
    return new Map(all.map((branch, i) => [branch, toResponse(branch, values[i]!)]));
  };
  const old = recompute ? await logProbsOf(trainer) : undefined;
  const reference = klCoefficient > 0 && context.reference ? await logProbsOf(context.reference) : undefined;
  const sequences = groups.map(({ group, advantages }) =>
    group.members.flatMap(({ trajectory }, i): TrainedSequence[] =>
      branchesOf(trajectory)
        .filter(isWritten)
        .map((branch) => {
          const referenceLogProbs = reference?.get(branch);
          return {
            sequence: branch,
            ...(trajectory.branches && { rollout: trajectory.trajectoryId }),
            advantage: advantages[i]!,
            oldLogProbs: old?.get(branch) ?? branch.samplerLogProbs,
            ...(old && { samplerLogProbs: branch.samplerLogProbs }),
            ...(referenceLogProbs && { referenceLogProbs }),
          };
        }),
    ),
  );
  const cap = truncatedImportanceSampling;
  return {
    sequences,
    metrics: {
      ...(old && { 'train/samplerGap': samplerGap(all, old) }),
      ...(old && cap !== undefined && { 'train/importanceCapped': importanceCapped(all, old, cap) }),
    },
  };
}

/** Whether the model wrote any of it. */
const isWritten = ({ mask }: Branch): boolean => mask.includes(1);

type Ratios = ReadonlyMap<TokenSequence, readonly number[]>;

/** How far each sequence's tokens had moved when they were last trained on: see `TrajectoryRecord`. */
function ratiosOf(sequences: readonly (readonly TrainedSequence[])[], updates: readonly UpdateResult[]): Ratios {
  const last = new Map(updates.flatMap(({ logProbs }) => [...logProbs]));
  const ratios = new Map<TokenSequence, readonly number[]>();
  for (const { sequence, oldLogProbs } of sequences.flat()) {
    const logProbs = last.get(sequence);
    if (!logProbs) continue;
    const ratio = sequence.mask.map((bit, t) => (bit === 1 ? Math.fround(Math.exp(logProbs[t]! - oldLogProbs[t]!)) : 1));
    ratios.set(sequence, ratio);
  }
  return ratios;
}

/** Tells of every rollout of a step, those of groups that are not trained included. */
function record<P extends Problem>({ sink }: RlContext<P>, groups: readonly AdvantagedGroup<P>[], step: number, ratios: Ratios): void {
  for (const { group, advantages, sampledFrom } of groups) {
    for (const [i, { trajectory, verdict, reward }] of group.members.entries()) {
      sink({
        kind: 'trajectory',
        record: {
          ...{ stage: 'rl', step, split: 'train', trajectory, ...(verdict && { verdict }), reward, advantage: advantages[i]! },
          ...ratiosIn(trajectory, ratios),
          ...(sampledFrom !== undefined && { sampledFrom }),
        },
      });
    }
  }
}

function ratiosIn(trajectory: Trajectory, ratios: Ratios): Pick<TrajectoryRecord, 'ratios' | 'branchRatios'> {
  const all = branchesOf(trajectory).map((branch) => ratios.get(branch));
  if (all.every((values) => values === undefined)) return {};
  const [own, ...further] = all.map((values, i) => values ?? branchesOf(trajectory)[i]!.mask.map(() => 1));
  return { ratios: own!, ...(trajectory.branches && { branchRatios: further }) };
}
