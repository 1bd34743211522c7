/**
 * The clipped policy loss with the sequence ratio (GRPO-SCR, the form of GSPO), and its gradient in closed form. Pure.
 *
 * Normalisation is folded into the advantages (`aggregate.ts`, `seq-mean-token-mean` for Eq. 5). Not for an engine's `ppo` loss, which
 * knows token ratios only: this one takes the custom way.
 */
import { type ClipBounds, type PolicyLoss, ratioClip, sumOverSequences } from './policyLoss.js';

/** The mean log-ratio of a sequence is kept at 10 or below; no gradient above. */
export const MAX_MEAN_LOG_RATIO = 10;

/**
 * With s = mean over trained tokens of (logProb_t - oldLogProb_t) and p = exp(min(10, s)):
 * L_t = max(-A_t p, -A_t clamp(p, 1 - low, 1 + high)), summed over trained tokens. The gradient by logProb_t is -A_t p where the bounds
 * leave it; with one advantage a sequence that is exactly the gradient of Eq. 5 with Eq. 7.
 *
 * @throws RangeError when a bound is negative, or (from the loss) lengths differ
 */
export function sequenceLoss(clip: ClipBounds): PolicyLoss {
  const { floor, ceiling, side: sideOf } = ratioClip(clip);

  return sumOverSequences((sum, { logProbs, oldLogProbs, advantages, mask }, slope, counter) => {
    let loss = sum;
    let tokens = 0;
    let logRatios = 0;
    for (let t = 0; t < logProbs.length; t++) {
      if (mask[t] === 0) continue;
      tokens++;
      logRatios += logProbs[t]! - oldLogProbs[t]!;
    }
    if (tokens === 0) return loss;
    counter.add(tokens, logRatios);
    const mean = logRatios / tokens;
    const ratio = Math.exp(Math.min(mean, MAX_MEAN_LOG_RATIO));
    for (let t = 0; t < logProbs.length; t++) {
      if (mask[t] === 0) continue;
      const advantage = advantages[t]!;
      if (advantage === 0) continue;
      const side = sideOf(advantage, ratio);
      loss -= advantage * (side === 'high' ? ceiling : side === 'low' ? floor : ratio);
      if (side !== undefined) counter.clipped(side);
      else if (!(mean > MAX_MEAN_LOG_RATIO)) slope[t] = -advantage * ratio;
    }
    return loss;
  });
}
