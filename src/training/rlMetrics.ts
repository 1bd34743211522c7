/** The numbers of one RL step by name: its rollouts, its updates, and how far sampler and trainer are apart. */
import { differ } from '../algorithm/advantages.js';
import type { Metrics } from '../domain/event.js';
import type { Problem } from '../domain/problem.js';
import { type Branch, turnsOf } from '../domain/trajectory.js';
import { rolloutStatistics } from '../rollout/statistics.js';
import type { AdvantagedGroup } from './rl.js';
import type { UpdateResult } from './update.js';

/** Whether one of its answers is right, or was judged without a verdict. */
export const hasRightAnswer = ({ group }: AdvantagedGroup): boolean => group.members.some(({ verdict }) => verdict?.correct !== false);

/** Numbers of a step's rollouts: rewards by part, accuracy, tools, lengths, groups. `rollout/overlongShare` is the share that pays for its length. */
export function groupMetrics<P extends Problem>(groups: readonly AdvantagedGroup<P>[]): Metrics {
  const members = groups.flatMap(({ group }) => group.members);
  const mean = (values: readonly number[]): number => (values.length === 0 ? 0 : values.reduce((a, b) => a + b, 0) / values.length);
  const parts = new Set(members.flatMap(({ reward }) => Object.keys(reward.parts)));
  const statistics = rolloutStatistics(members.map(({ trajectory }) => trajectory));
  const judged = members.filter(({ verdict }) => verdict !== undefined);
  return {
    'reward/total': mean(members.map(({ reward }) => reward.total)),
    ...Object.fromEntries([...parts].map((part) => [`reward/${part}`, mean(members.map(({ reward }) => reward.parts[part] ?? 0))])),
    ...(judged.length > 0 && { 'rollout/accuracy': mean(judged.map(({ verdict }) => (verdict!.correct ? 1 : 0))) }),
    'rollout/calls': statistics.callsPerRollout,
    ...(Number.isFinite(statistics.toolSuccess) && { 'rollout/toolSuccess': statistics.toolSuccess }),
    'rollout/withoutCall': statistics.withoutCall,
    'rollout/malformed': statistics.malformed,
    'rollout/truncated': statistics.truncated,
    'rollout/answered': statistics.answered,
    'rollout/overlongShare': mean(members.map(({ reward }) => ((reward.parts.overlong ?? 0) < 0 ? 1 : 0))),
    'rollout/turns': statistics.turnsPerRollout,
    ...(Number.isFinite(statistics.tokensPerTurn) && { 'rollout/tokensPerTurn': statistics.tokensPerTurn }),
    'rollout/modelTokens': statistics.modelTokensPerRollout,
    'rollout/responseTokens': statistics.responseTokensPerRollout,
    ...(Number.isFinite(statistics.entropyEstimate) && { 'rollout/entropy': statistics.entropyEstimate }),
    'rollout/lost': groups.reduce((sum, { group }) => sum + group.lost, 0),
    'groups/zeroVariance': mean(groups.map(({ group }) => (differ(group.members.map(({ reward }) => reward.total)) ? 0 : 1))),
    'groups/allWrong': mean(groups.map((group) => (hasRightAnswer(group) ? 0 : 1))),
    'groups/advantageMax': groups.reduce((max, { advantages }) => Math.max(max, ...advantages), 0),
  };
}

/** Means over a step's updates; shares of tokens over all their tokens. */
export function updateMetrics(updates: readonly UpdateResult[]): Metrics {
  const tokens = updates.reduce((sum, { stats }) => sum + stats.trainedTokens, 0);
  const overTokens = (value: (update: UpdateResult) => number): number =>
    tokens === 0 ? 0 : updates.reduce((sum, update) => sum + value(update) * update.stats.trainedTokens, 0) / tokens;
  const mean = (value: (update: UpdateResult) => number): number =>
    updates.length === 0 ? 0 : updates.reduce((sum, update) => sum + value(update), 0) / updates.length;
  return {
    'train/updates': updates.length,
    'train/tokens': tokens,
    'train/loss': mean((update) => update.loss),
    'train/kl': mean((update) => update.kl),
    'train/gradNorm': mean((update) => update.gradNorm),
    'train/clipHigh': overTokens(({ stats }) => stats.clipHighFraction),
    'train/clipLow': overTokens(({ stats }) => stats.clipLowFraction),
    'train/clipDual': overTokens(({ stats }) => stats.clipFractionLower),
    'train/policyMoved': overTokens(({ stats }) => stats.ppoKl),
  };
}

/** Of all executed calls together. */
export function toolSeconds<P extends Problem>(groups: readonly AdvantagedGroup<P>[]): number {
  let seconds = 0;
  for (const { group } of groups)
    for (const { trajectory } of group.members)
      for (const turn of turnsOf(trajectory)) for (const reply of turn.replies) if (reply.kind === 'executed') seconds += reply.seconds;
  return seconds;
}

/** Mean absolute difference of the trainer's and the sampler's log-probs over the model's tokens, nats. */
export function samplerGap(branches: readonly Branch[], old: ReadonlyMap<Branch, Float64Array>): number {
  let sum = 0;
  let tokens = 0;
  for (const branch of branches) {
    const values = old.get(branch)!;
    for (const [t, bit] of branch.mask.entries()) {
      if (bit !== 1) continue;
      sum += Math.abs(values[t]! - branch.samplerLogProbs[t]!);
      tokens++;
    }
  }
  return tokens === 0 ? 0 : sum / tokens;
}

/** Share of the model's tokens whose importance weight is cut at the cap. */
export function importanceCapped(branches: readonly Branch[], old: ReadonlyMap<Branch, Float64Array>, cap: number): number {
  const limit = Math.log(cap);
  let capped = 0;
  let tokens = 0;
  for (const branch of branches) {
    const values = old.get(branch)!;
    for (const [t, bit] of branch.mask.entries()) {
      if (bit !== 1) continue;
      tokens++;
      if (values[t]! - branch.samplerLogProbs[t]! > limit) capped++;
    }
  }
  return tokens === 0 ? 0 : capped / tokens;
}
