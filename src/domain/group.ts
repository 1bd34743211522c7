/** The rollouts of one occurrence of a problem: what GRPO compares with each other. */
import type { Problem } from './problem.js';
import type { Reward } from './reward.js';
import type { Trajectory } from './trajectory.js';
import type { Graded } from './verdict.js';

/** A graded rollout with its reward. */
export interface Scored<P extends Problem = Problem> {
  readonly trajectory: Trajectory<P>;
  /** Absent where a reward function of the user's own judges without a verdict. */
  readonly verdict?: Graded;
  readonly reward: Reward;
}

export interface Group<P extends Problem = Problem> {
  readonly groupId: string;
  readonly problem: P;
  readonly members: readonly Scored<P>[];
  /** Members that infrastructure failures took; they are in no mean. */
  readonly lost: number;
}
