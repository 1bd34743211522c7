/** Verdict and reward of a rollout that was run in an environment: what the environment said, taken from the trajectory. Computes nothing. */
import type { Problem } from '../domain/problem.js';
import type { Trajectory } from '../domain/trajectory.js';
import type { Verdict } from '../domain/verdict.js';
import type { RewardFunction } from '../reward/rewardFunction.js';

/** Right is what the environment calls a success. */
export function environmentGrader<P extends Problem>({ environment: outcome, stopReason }: Trajectory<P>): Verdict {
  if (outcome === undefined) return { kind: 'infra', error: 'the rollout was not run in an environment' };
  const { success, steps, done } = outcome;
  const end = done ? 'ended by the environment' : `ended by ${stopReason.kind}`;
  return {
    kind: 'graded',
    correct: success,
    score: Number(success),
    reason: success ? 'match' : 'mismatch',
    note: `${steps} ${steps === 1 ? 'step' : 'steps'}, ${end}`,
  };
}

/** The environment's rewards by name; all of them together are the total. */
export const environmentReward: RewardFunction = ({ environment: outcome }) => {
  if (outcome === undefined) throw new Error('the rollout was not run in an environment');
  return { ...outcome.rewards };
};
