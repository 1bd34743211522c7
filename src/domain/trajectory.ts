/**
 * One finished rollout, token by token. Tokens are never made twice: what was sampled is kept as ids, and only new text was tokenised.
 * Does not grade and does not train.
 */
import type { Problem } from './problem.js';
import type { StopReason } from './stopReason.js';
import type { Turn } from './turn.js';

export interface Trajectory<P extends Problem = Problem> {
  readonly trajectoryId: string;
  /** The occurrence of the problem that this rollout belongs to. */
  readonly groupId: string;
  readonly problem: P;
  readonly promptTokens: readonly number[];
  /** The response: model's and tools' tokens, [length]. */
  readonly tokens: readonly number[];
  /** 1 where the model wrote the token, 0 where we did, [length]. */
  readonly mask: readonly number[];
  /** What the sampler returned at temperature 1 before top-k and top-p, nats; 0 where mask is 0, [length]. */
  readonly samplerLogProbs: readonly number[];
  readonly turns: readonly Turn[];
  /** The assistant's text after its last call and after its thinking; what is graded. Empty where there is none. */
  readonly finalText: string;
  readonly stopReason: StopReason;
  /** Wall-clock seconds from the first request to the end. */
  readonly seconds: number;
  /** Mean entropy of the distributions that the model's tokens were drawn from, nats; only where the engine was asked for it and gave it. */
  readonly entropy?: number;
}

/** What running one rollout came to. `infra` carries no trajectory, so nothing can turn it into a reward. */
export type Rollout<P extends Problem = Problem> =
  | { readonly kind: 'finished'; readonly trajectory: Trajectory<P> }
  | { readonly kind: 'infra'; readonly trajectoryId: string; readonly groupId: string; readonly problem: P; readonly error: string };

/** Tokens the model wrote. */
export function modelTokens(trajectory: Pick<Trajectory, 'mask'>): number {
  let count = 0;
  for (const bit of trajectory.mask) count += bit;
  return count;
}

/** Calls that were executed and answered: n of Eq. 8. */
export function executedCalls(trajectory: Pick<Trajectory, 'turns'>): number {
  let count = 0;
  for (const turn of trajectory.turns) for (const reply of turn.replies) if (reply.kind === 'executed') count++;
  return count;
}

/** @throws RangeError where tokens, mask and log-probs differ in length, or a token of ours carries a log-prob. */
export function checkTrajectory(trajectory: Trajectory): void {
  const { tokens, mask, samplerLogProbs, trajectoryId } = trajectory;
  if (tokens.length !== mask.length || tokens.length !== samplerLogProbs.length) {
    throw new RangeError(
      `trajectory ${trajectoryId}: tokens, mask and log-probs differ in length: ${tokens.length}, ${mask.length}, ${samplerLogProbs.length}`,
    );
  }
  const at = mask.findIndex((bit, i) => bit === 0 && samplerLogProbs[i] !== 0);
  if (at !== -1) throw new RangeError(`trajectory ${trajectoryId}: token ${at} is not the model's but has log-prob ${samplerLogProbs[at]}`);
}
