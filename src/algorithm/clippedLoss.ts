/**
 * The clipped policy loss of GRPO with the token ratio, and its gradient in closed form. Pure: no model, no batching, no I/O.
 *
 * Normalisation is not done here: callers fold it into the advantages (`aggregate.ts`), so that a sum over tokens is the loss
 * whatever the micro-batches. That is exact, because the loss is positively homogeneous in the advantage. The weights of truncated
 * importance sampling (`importance.ts`) are folded in the same way.
 */
import { type ClipBounds, type PolicyLoss, ratioClip, sumOverSequences } from './policyLoss.js';

export interface Clip extends ClipBounds {
  /** Caps the loss of negative advantages at -A * dual; above 1. Absent: no cap. */
  readonly dual?: number;
}

/** Log-ratios are kept within ±20 before the exponential; no gradient beyond. */
export const MAX_LOG_RATIO = 20;

/**
 * With d_t = clamp(logProb_t - oldLogProb_t, -20, 20) and p_t = exp(d_t):
 * L_t = max(-A_t p_t, -A_t clamp(p_t, 1 - low, 1 + high)), and where A_t < 0 at most -A_t * dual; the loss is the sum over trained tokens.
 * Paper: Eq. 3 and 6 with the aggregation of Eq. 4 or 5 in A; the dual bound is that of Ye et al., 2020.
 *
 * @throws RangeError when `dual` is not above 1, a bound is negative, or (from the loss) lengths differ
 */
export function clippedLoss(clip: Clip): PolicyLoss {
  const { floor, ceiling, side: sideOf } = ratioClip(clip);
  const dual = clip.dual ?? Number.POSITIVE_INFINITY;
  if (!(dual > 1)) throw new RangeError(`the dual clip must be above 1: ${dual}`);

  return sumOverSequences((sum, { logProbs, oldLogProbs, advantages, mask }, slope, counter) => {
    let loss = sum;
    for (let t = 0; t < logProbs.length; t++) {
      if (mask[t] === 0) continue;
      const advantage = advantages[t]!;
      const difference = logProbs[t]! - oldLogProbs[t]!;
      const logRatio = Math.min(Math.max(difference, -MAX_LOG_RATIO), MAX_LOG_RATIO);
      counter.add(1, logRatio);
      if (advantage === 0) continue;
      const ratio = Math.exp(logRatio);
      const side = sideOf(advantage, ratio);
      const bounded = side === 'high' ? ceiling : side === 'low' ? floor : ratio;
      const capped = advantage < 0 && bounded > dual;
      loss -= advantage * (capped ? dual : bounded);
      if (side !== undefined) counter.clipped(side);
      if (capped) counter.clipped('dual');
      if (side === undefined && !capped && logRatio === difference) slope[t] = -advantage * ratio;
      else if (Number.isNaN(difference)) slope[t] = Number.NaN;
    }
    return loss;
  });
}
