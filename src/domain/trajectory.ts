/**
 * One finished rollout, token by token. Tokens are never made twice: what was sampled is kept as ids, and only new text was tokenised.
 * Nearly always that is one line of tokens; an agent whose requests do not each extend the one before gives several, its branches, and
 * the rollout still counts once. Does not grade and does not train.
 */
import type { EnvironmentOutcome } from './environmentOutcome.js';
import type { Problem } from './problem.js';
import type { Reward } from './reward.js';
import type { StopReason } from './stopReason.js';
import type { Turn } from './turn.js';

/** One line of tokens: a prompt, and what the model and others wrote after it. */
export interface Branch {
  readonly promptTokens: readonly number[];
  /** The response: model's and tools' tokens, [length]. */
  readonly tokens: readonly number[];
  /** 1 where the model wrote the token, 0 where we did, [length]. */
  readonly mask: readonly number[];
  /** What the sampler returned at temperature 1 before top-k and top-p, nats; 0 where mask is 0, [length]. */
  readonly samplerLogProbs: readonly number[];
  readonly turns: readonly Turn[];
}

/** Its own tokens are those of the first branch. */
export interface Trajectory<P extends Problem = Problem> extends Branch {
  readonly trajectoryId: string;
  /** The occurrence of the problem that this rollout belongs to. */
  readonly groupId: string;
  readonly problem: P;
  /** Further ones, in the order in which they began; absent where there are none. */
  readonly branches?: readonly Branch[];
  /** The assistant's text after its last call and after its thinking; what is graded. Empty where there is none. */
  readonly finalText: string;
  readonly stopReason: StopReason;
  /** What an agent of the user's own gave itself; it stands in place of grader and reward. */
  readonly givenReward?: Reward;
  /** Wall-clock seconds from the first request to the end. */
  readonly seconds: number;
  /** What the environment made of it; absent where there was none. */
  readonly environment?: EnvironmentOutcome;
  /** Mean entropy of the distributions that the model's tokens were drawn from, nats; only where the engine was asked for it and gave it. */
  readonly entropy?: number;
}

/** What running one rollout came to. `infra` carries no trajectory, so nothing can turn it into a reward. */
export type Rollout<P extends Problem = Problem> =
  | { readonly kind: 'finished'; readonly trajectory: Trajectory<P> }
  | { readonly kind: 'infra'; readonly trajectoryId: string; readonly groupId: string; readonly problem: P; readonly error: string };

/** All lines of tokens of a rollout; the first is the trajectory itself. */
export const branchesOf = (trajectory: Trajectory): readonly Branch[] =>
  trajectory.branches === undefined ? [trajectory] : [trajectory, ...trajectory.branches];

/** The turns of all branches, branch by branch. */
export const turnsOf = ({ turns, branches }: TurnsOnly): readonly Turn[] =>
  branches === undefined ? turns : [...turns, ...branches.flatMap((branch) => branch.turns)];

/** Tokens of the response, the model's and others', in all branches. */
export const responseTokens = ({ mask, branches = [] }: Pick<Branch, 'mask'> & WithBranches<'mask'>): number =>
  branches.reduce((sum, branch) => sum + branch.mask.length, mask.length);

type WithBranches<K extends keyof Branch> = { readonly branches?: readonly Pick<Branch, K>[] };
type TurnsOnly = Pick<Branch, 'turns'> & WithBranches<'turns'>;

/** Tokens the model wrote, in all branches. */
export function modelTokens({ mask, branches = [] }: Pick<Branch, 'mask'> & WithBranches<'mask'>): number {
  let count = 0;
  for (const bit of mask) count += bit;
  for (const branch of branches) for (const bit of branch.mask) count += bit;
  return count;
}

/** Calls that were executed and answered, in all branches: n of Eq. 8. */
export function executedCalls(trajectory: TurnsOnly): number {
  let count = 0;
  for (const turn of turnsOf(trajectory)) for (const reply of turn.replies) if (reply.kind === 'executed') count++;
  return count;
}

/** @throws RangeError where tokens, mask and log-probs of a branch differ in length, or a token of ours carries a log-prob. */
export function checkTrajectory(trajectory: Trajectory): void {
  for (const branch of branchesOf(trajectory)) checkBranch(branch, trajectory.trajectoryId);
}

function checkBranch({ tokens, mask, samplerLogProbs }: Branch, trajectoryId: string): void {
  if (tokens.length !== mask.length || tokens.length !== samplerLogProbs.length) {
    throw new RangeError(
      `trajectory ${trajectoryId}: tokens, mask and log-probs differ in length: ${tokens.length}, ${mask.length}, ${samplerLogProbs.length}`,
    );
  }
  const at = mask.findIndex((bit, i) => bit === 0 && samplerLogProbs[i] !== 0);
  if (at !== -1) throw new RangeError(`trajectory ${trajectoryId}: token ${at} is not the model's but has log-prob ${samplerLogProbs[at]}`);
}
