/** The shape of a grader: a finished rollout to a verdict. */
import type { Problem } from '../domain/problem.js';
import type { Trajectory } from '../domain/trajectory.js';
import type { Verdict } from '../domain/verdict.js';

export interface RewardContext {
  readonly signal: AbortSignal;
}

/** What the sandbox or the network failed to do comes back as `infra`; so does a grader that throws. */
export type Grader<P extends Problem = Problem> = (trajectory: Trajectory<P>, context: RewardContext) => Verdict | Promise<Verdict>;
