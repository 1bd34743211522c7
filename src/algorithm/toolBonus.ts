/** The bonus for tool calls. Pure; counting calls is the caller's. */

export interface ToolBonusOptions {
  /** Per call; 0.1 in the paper. */
  readonly perCall?: number;
  /** Most that is paid, against calls made for the bonus alone; 0.4 is the released cap of -0.6 on a wrong answer's -1. */
  readonly cap?: number;
  /** As released: only wrong answers are paid. */
  readonly wrongOnly?: boolean;
}

/**
 * min(0.1 n, 0.4), on right and wrong answers alike. Paper: Eq. 8, whose cap is missing in print.
 *
 * @param calls n: calls that were executed and answered
 */
export function toolBonus(calls: number, correct: boolean, options: ToolBonusOptions = {}): number {
  const { perCall = 0.1, cap = 0.4, wrongOnly = false } = options;
  return wrongOnly && correct ? 0 : Math.min(perCall * calls, cap);
}
