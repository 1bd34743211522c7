/**
 * One training sequence as the engine takes it: already shifted, so position i predicts targets[i]. Made in one place only:
 * `training/datum.ts`. All arrays have equal length.
 */
export interface Datum {
  readonly inputTokens: readonly number[];
  readonly targets: readonly number[];
  /** Weight of each position in a cross-entropy; for a policy loss the 0/1 mask of trained positions. */
  readonly weights: readonly number[];
  /** Old log-probs of the targets, nats; policy losses only. */
  readonly logProbs?: readonly number[];
  /** Weighted advantages; policy losses only. */
  readonly advantages?: readonly number[];
}
