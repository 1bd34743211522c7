/**
 * Truncated importance sampling: corrects for a sampler whose probabilities differ from those of the training weights (another precision,
 * an older snapshot). Pure; the weights are constants, no gradient goes through them.
 */

/**
 * w_t = min(cap, exp(oldLogProb_t - samplerLogProb_t)). Multiply the advantages by it: policy losses are positively homogeneous in them.
 *
 * @param oldLogProbs     training weights before the step, nats, [tokens]
 * @param samplerLogProbs what the sampler returned, nats, [tokens]
 * @param cap             positive
 * @param mask            1 at the model's tokens; elsewhere the weight is 0. Absent: all are
 * @throws RangeError when lengths differ or the cap is not positive
 */
export function importanceWeights(
  oldLogProbs: ArrayLike<number>,
  samplerLogProbs: ArrayLike<number>,
  cap: number,
  mask?: ArrayLike<number>,
): Float64Array {
  const tokens = oldLogProbs.length;
  if (samplerLogProbs.length !== tokens || (mask !== undefined && mask.length !== tokens)) {
    throw new RangeError(`log-probs, sampler's log-probs and mask differ in length: ${tokens}, ${samplerLogProbs.length}, ${mask?.length}`);
  }
  if (!(cap > 0)) throw new RangeError(`the cap of the importance weights must be positive: ${cap}`);
  const weights = new Float64Array(tokens);
  for (let t = 0; t < tokens; t++) {
    if (mask !== undefined && mask[t] === 0) continue;
    weights[t] = Math.min(cap, Math.exp(oldLogProbs[t]! - samplerLogProbs[t]!));
  }
  return weights;
}
