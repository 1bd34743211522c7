/**
 * The clipped policy loss with the sequence ratio (GRPO-SCR, the form of GSPO), and its gradient in closed form. Pure.
 *
 * Normalisation is folded into the advantages (`aggregate.ts`, `seq-mean-token-mean` for Eq. 5). Not for an engine's `ppo` loss, which
 * knows token ratios only: this one takes the custom way.
 */
import { type ClipBounds, checkBounds, checkSequence, type PolicyLoss, StatsCounter } from './policyLoss.js';

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
  checkBounds(clip);
  const floor = 1 - clip.low;
  const ceiling = 1 + clip.high;

  return (batch) => {
    const counter = new StatsCounter();
    let loss = 0;
    const gradient = batch.map((sequence) => {
      checkSequence(sequence);
      const { logProbs, oldLogProbs, advantages, mask } = sequence;
      const slope = new Float64Array(logProbs.length);
      let tokens = 0;
      let sum = 0;
      for (let t = 0; t < logProbs.length; t++) {
        if (mask[t] === 0) continue;
        tokens++;
        sum += logProbs[t]! - oldLogProbs[t]!;
      }
      if (tokens === 0) return slope;
      counter.add(tokens, sum);
      const mean = sum / tokens;
      const ratio = Math.exp(Math.min(mean, MAX_MEAN_LOG_RATIO));
      for (let t = 0; t < logProbs.length; t++) {
        if (mask[t] === 0) continue;
        const advantage = advantages[t]!;
        if (advantage === 0) continue;
        const side = advantage > 0 ? (ratio > ceiling ? 'high' : undefined) : ratio < floor ? 'low' : undefined;
        loss -= advantage * (side === 'high' ? ceiling : side === 'low' ? floor : ratio);
        if (side !== undefined) counter.clipped(side);
        else if (!(mean > MAX_MEAN_LOG_RATIO)) slope[t] = -advantage * ratio;
      }
      return slope;
    });
    return { loss, gradient, stats: counter.stats() };
  };
}
