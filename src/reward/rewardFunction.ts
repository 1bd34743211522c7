/**
 * Rewards of a user's own, and how the rollouts of a group become scored members. What infrastructure failed to do is counted as lost and
 * is in no mean: a reward function never sees it, and a reward that is no finite number is treated as such a failure.
 */
import type { Group, Scored } from '../domain/group.js';
import type { Problem } from '../domain/problem.js';
import { type Reward, sumReward } from '../domain/reward.js';
import type { Rollout, Trajectory } from '../domain/trajectory.js';
import type { Graded } from '../domain/verdict.js';
import { UserError } from '../userError.js';
import type { Grader, RewardContext } from './grader.js';

/** A number, parts by name, or a whole `Reward`. */
export type RewardValue = number | Readonly<Record<string, number>> | Reward;

/** Judges a finished rollout by itself, without a verdict. */
export type RewardFunction<P extends Problem = Problem> = (
  trajectory: Trajectory<P>,
  context: RewardContext,
) => RewardValue | Promise<RewardValue>;

/** Turns a verdict into a reward, for example `paperReward()`. */
export type GradedReward<P extends Problem = Problem> = (
  trajectory: Trajectory<P>,
  verdict: Graded,
  context: RewardContext,
) => RewardValue | Promise<RewardValue>;

/** Either a grader and the reward for its verdict, or a reward function alone. */
export type Scoring<P extends Problem = Problem> =
  | { readonly grader: Grader<P>; readonly reward: GradedReward<P> }
  | { readonly grader?: never; readonly reward: RewardFunction<P> };

/** A rollout that left the group, and why. */
export interface Lost {
  readonly trajectoryId: string;
  readonly error: string;
}

export interface ScoredGroup<P extends Problem = Problem> {
  readonly group: Group<P>;
  readonly lost: readonly Lost[];
}

/**
 * Grades and rewards the rollouts of one group, all at once, in their order.
 *
 * @throws UserError from a grader or a reward function (a mistake of the user's is no accident of one rollout)
 * @throws the signal's reason when it is aborted; RangeError when there are no rollouts or they are of several groups
 */
export async function scoreRollouts<P extends Problem>(
  rollouts: readonly Rollout<P>[],
  scoring: Scoring<P>,
  context: RewardContext,
): Promise<ScoredGroup<P>> {
  const first = rollouts[0];
  if (first === undefined) throw new RangeError('a group has at least one rollout');
  const { groupId, problem } = first.kind === 'finished' ? first.trajectory : first;
  const strange = rollouts.map(groupOf).find((other) => other !== groupId);
  if (strange !== undefined) throw new RangeError(`rollouts of groups ${groupId} and ${strange} cannot be scored as one`);

  const outcomes = await Promise.all(rollouts.map((rollout) => scoreRollout(rollout, scoring, context)));
  context.signal.throwIfAborted();
  const members = outcomes.flatMap((outcome) => (outcome.kind === 'scored' ? [outcome.member] : []));
  const lost = outcomes.flatMap((outcome) => (outcome.kind === 'lost' ? [outcome.lost] : []));
  return { group: { groupId, problem, members, lost: lost.length }, lost };
}

/** One rollout; see `scoreRollouts`. A reward that its agent gave goes before a grader, not before a reward function alone. */
export async function scoreRollout<P extends Problem>(
  rollout: Rollout<P>,
  scoring: Scoring<P>,
  context: RewardContext,
): Promise<{ readonly kind: 'scored'; readonly member: Scored<P> } | { readonly kind: 'lost'; readonly lost: Lost }> {
  if (rollout.kind === 'infra') return { kind: 'lost', lost: { trajectoryId: rollout.trajectoryId, error: rollout.error } };
  const { trajectory } = rollout;
  const lose = (error: string) => ({ kind: 'lost', lost: { trajectoryId: trajectory.trajectoryId, error } }) as const;
  try {
    if (scoring.grader === undefined) {
      return { kind: 'scored', member: { trajectory, reward: toReward(await scoring.reward(trajectory, context)) } };
    }
    if (trajectory.givenReward) return { kind: 'scored', member: { trajectory, reward: trajectory.givenReward } };
    const verdict = await scoring.grader(trajectory, context);
    if (verdict.kind === 'infra') return lose(verdict.error);
    const reward = toReward(await scoring.reward(trajectory, verdict, context));
    return { kind: 'scored', member: { trajectory, verdict, reward } };
  } catch (error) {
    context.signal.throwIfAborted();
    if (error instanceof UserError) throw error;
    return lose(error instanceof Error ? `${error.name}: ${error.message}` : String(error));
  }
}

/** A verdict where only a reward is given: right is what is rewarded above 0. */
export const verdictOf = ({ total }: Reward): Graded => ({
  ...{ kind: 'graded', correct: total > 0, score: Math.min(1, Math.max(0, total)), reason: total > 0 ? 'match' : 'mismatch' },
});

/** The grader, but for rollouts that an agent rewarded itself. */
export const gradedUnlessGiven =
  <P extends Problem>(grader: Grader<P>): Grader<P> =>
  async (trajectory, context) =>
    trajectory.givenReward ? verdictOf(trajectory.givenReward) : grader(trajectory, context);

/** A bare number is the part `reward`. @throws RangeError when a number is not finite, or parts do not add up to their total */
export function toReward(value: RewardValue): Reward {
  if (typeof value === 'number') return sumReward({ reward: value });
  if (typeof value !== 'object' || value === null)
    throw new RangeError(`a reward must be a number or numbers by name, not ${value === null ? 'null' : typeof value}`);
  if (!isReward(value)) return sumReward(value);
  const reward = sumReward(value.parts);
  if (!(Math.abs(reward.total - value.total) <= 1e-9 * Math.max(1, Math.abs(reward.total)))) {
    throw new RangeError(`the parts of a reward add up to ${reward.total}, but its total is ${value.total}`);
  }
  return reward;
}

const isReward = (value: Readonly<Record<string, number>> | Reward): value is Reward =>
  typeof value.parts === 'object' && value.parts !== null;

const groupOf = <P extends Problem>(rollout: Rollout<P>): string =>
  rollout.kind === 'finished' ? rollout.trajectory.groupId : rollout.groupId;
