/**
 * What the released graders give, and the rule that pays tool rounds. Scores there are 1 for right, -1 for wrong; the share of passed tests
 * for code.
 */

export interface ReferenceScore {
  readonly score: number;
  /** Whether it is right; for code: every test passed. */
  readonly acc: boolean;
  /** What was read as the answer; empty where nothing was. */
  readonly pred: string;
}

/** Never more than this for what scored below 0. */
const CAP = -0.6;

/**
 * A score below 0 gains 0.1 a tool round, up to -0.6; others stay.
 *
 * @param turns 2 * answered tool rounds + 2
 */
export function withTurns(score: number, turns: number): number {
  return score < 0 ? Math.min(CAP, score + ((turns - 2) / 2) * 0.1) : score;
}
