/** What a rollout is paid or fined for beside its answer: tool calls (Eq. 8) and length (Eq. 9). Does not judge the answer. */
import { type OverlongLimits, overlongPenalty } from '../algorithm/overlong.js';
import { type ToolBonusOptions, toolBonus } from '../algorithm/toolBonus.js';
import { isTruncated } from '../domain/stopReason.js';
import { executedCalls, modelTokens, responseTokens, type Trajectory } from '../domain/trajectory.js';

/** Eq. 8 with n = calls that were executed and answered. */
export function trajectoryToolBonus(
  trajectory: Pick<Trajectory, 'turns' | 'branches'>,
  correct: boolean,
  options?: ToolBonusOptions,
): number {
  return toolBonus(executedCalls(trajectory), correct, options);
}

export interface OverlongOptions extends OverlongLimits {
  /** As released: tool tokens count too. */
  readonly countToolTokens?: boolean;
}

/** Eq. 9 with |y| = tokens the model wrote. A rollout stopped by a token limit pays the whole -1; a limit of turns is no length limit. */
export function trajectoryOverlong(trajectory: Pick<Trajectory, 'mask' | 'branches' | 'stopReason'>, options: OverlongOptions): number {
  const length = options.countToolTokens ? responseTokens(trajectory) : modelTokens(trajectory);
  return overlongPenalty(length, options, isTruncated(trajectory.stopReason));
}
