/** What a set of rollouts did, in numbers. Knows nothing of right and wrong: accuracy and rewards belong to others. */
import { isTruncated } from '../domain/stopReason.js';
import { branchesOf, executedCalls, modelTokens, responseTokens, type Trajectory, turnsOf } from '../domain/trajectory.js';

export interface RolloutStatistics {
  readonly rollouts: number;
  /** Executed and answered calls a rollout. */
  readonly callsPerRollout: number;
  /** Share of executed calls that succeeded; NaN without any. */
  readonly toolSuccess: number;
  /** Share of rollouts with a call that could not be read or was cut off. */
  readonly malformed: number;
  /** Share of rollouts that a token limit cut. */
  readonly truncated: number;
  /** Share of rollouts in which the model ended by itself. */
  readonly answered: number;
  /** Share of rollouts that executed no call. */
  readonly withoutCall: number;
  readonly turnsPerRollout: number;
  readonly tokensPerTurn: number;
  /** Tokens a rollout that the model wrote. */
  readonly modelTokensPerRollout: number;
  /** Tokens a rollout, tools' included where their ids are known. */
  readonly responseTokensPerRollout: number;
  /** An estimate, nats: the mean of -samplerLogProbs over the model's tokens; unbiased at temperature 1 and top-p 1 only. NaN without any. */
  readonly entropyEstimate: number;
  /** What the engine measured, a mean over rollouts by tokens; only where every rollout has it. */
  readonly entropy?: number;
}

/** Means over rollouts unless named otherwise; all NaN for an empty list. */
export function rolloutStatistics(trajectories: readonly Trajectory[]): RolloutStatistics {
  const n = trajectories.length;
  const share = (holds: (trajectory: Trajectory) => boolean): number => trajectories.filter(holds).length / n;
  let calls = 0;
  let successes = 0;
  let turns = 0;
  let written = 0;
  let sampled = 0;
  let tokens = 0;
  let negativeLogProbs = 0;
  let entropySum = 0;
  for (const trajectory of trajectories) {
    const wrote = writtenTokens(trajectory);
    calls += executedCalls(trajectory);
    const own = turnsOf(trajectory);
    for (const turn of own) for (const reply of turn.replies) if (reply.kind === 'executed' && reply.success) successes++;
    turns += own.length;
    written += wrote;
    sampled += modelTokens(trajectory);
    tokens += responseTokens(trajectory) || wrote;
    for (const { samplerLogProbs } of branchesOf(trajectory)) for (const logProb of samplerLogProbs) negativeLogProbs -= logProb;
    entropySum += (trajectory.entropy ?? Number.NaN) * wrote;
  }
  return {
    rollouts: n,
    callsPerRollout: calls / n,
    toolSuccess: successes / calls,
    malformed: share(hasUnreadableCall),
    truncated: share((trajectory) => isTruncated(trajectory.stopReason)),
    answered: share((trajectory) => trajectory.stopReason.kind === 'answered'),
    withoutCall: share((trajectory) => executedCalls(trajectory) === 0),
    turnsPerRollout: turns / n,
    tokensPerTurn: written / turns,
    modelTokensPerRollout: written / n,
    responseTokensPerRollout: tokens / n,
    entropyEstimate: sampled === 0 ? Number.NaN : negativeLogProbs / sampled,
    ...(Number.isNaN(entropySum) || written === 0 ? {} : { entropy: entropySum / written }),
  };
}

/** An endpoint that gives no token ids counts them: then its count is taken. */
const writtenTokens = (trajectory: Trajectory): number =>
  trajectory.mask.length > 0 ? modelTokens(trajectory) : turnsOf(trajectory).reduce((sum, turn) => sum + turn.tokens, 0);

const hasUnreadableCall = (trajectory: Trajectory): boolean =>
  turnsOf(trajectory).some((turn) => turn.segments.some((segment) => segment.kind === 'malformedCall' || segment.kind === 'cutOffCall'));
