/** The paper's reward: outcome, tool bonus (Eq. 8) and overlong penalty (Eq. 9), each a part by name. */
import { type Reward, sumReward } from '../domain/reward.js';
import type { Trajectory } from '../domain/trajectory.js';
import type { Graded } from '../domain/verdict.js';
import { type OverlongOptions, trajectoryOverlong, trajectoryToolBonus } from './shaping.js';

export interface PaperRewardOptions {
  /** r_out+tool of Eq. 8; absent: 0.1 a call, at most 0.4. `false`: no bonus. */
  readonly tool?: { readonly perCall?: number; readonly cap?: number } | false;
  /** r_length of Eq. 9; absent: none (GRPO-T). */
  readonly overlong?: Omit<OverlongOptions, 'countToolTokens'>;
  /** As released: the bonus for wrong answers only, and tool tokens count as length. */
  readonly reference?: boolean;
}

/** Parts `outcome` (+1 right, -1 wrong), `tool` and `overlong`. Takes graded rollouts only: an infrastructure failure has no reward. */
export function paperReward(options: PaperRewardOptions = {}): (trajectory: Trajectory, verdict: Graded) => Reward {
  const { tool = {}, overlong, reference = false } = options;
  return (trajectory, verdict) =>
    sumReward({
      outcome: verdict.correct ? 1 : -1,
      tool: tool === false ? 0 : trajectoryToolBonus(trajectory, verdict.correct, { ...tool, wrongOnly: reference }),
      overlong: overlong === undefined ? 0 : trajectoryOverlong(trajectory, { ...overlong, countToolTokens: reference }),
    });
}
