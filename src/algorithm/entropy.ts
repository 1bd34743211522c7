/** Entropy of the policy at the tokens it wrote: estimated from log-probs, or summed up where an engine returned it. Pure. */

/** Over trained tokens, nats. */
export interface EntropyStatistics {
  readonly tokens: number;
  readonly mean: number;
  /** Population standard deviation. */
  readonly std: number;
  readonly min: number;
  readonly max: number;
  /** Share of tokens below 0.01 nats: where the policy is all but certain. */
  readonly certainShare: number;
}

const CERTAIN = 0.01;

/**
 * H ≈ mean of -logProb over trained tokens: an estimate, unbiased where tokens were sampled from that very distribution (temperature 1,
 * top-p 1). Undefined without a trained token.
 *
 * @param logProbs what the sampler returned, nats, [sequences][tokens]
 * @param masks    [sequences][tokens]
 */
export function estimateEntropy(logProbs: readonly ArrayLike<number>[], masks: readonly ArrayLike<number>[]): number | undefined {
  const mean = entropyStatistics(logProbs, masks)?.mean;
  return mean === undefined ? undefined : 0 - mean;
}

/**
 * @param entropies of the distribution each token was drawn from, nats, [sequences][tokens]
 * @returns undefined without a trained token
 * @throws RangeError when lengths differ
 */
export function entropyStatistics(
  entropies: readonly ArrayLike<number>[],
  masks: readonly ArrayLike<number>[],
): EntropyStatistics | undefined {
  if (entropies.length !== masks.length) throw new RangeError(`${entropies.length} sequences for ${masks.length} masks`);
  let tokens = 0;
  let mean = 0;
  let squares = 0;
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  let certain = 0;
  entropies.forEach((row, i) => {
    const mask = masks[i]!;
    if (row.length !== mask.length) throw new RangeError(`sequence ${i}: ${row.length} values for a mask of ${mask.length}`);
    for (let t = 0; t < row.length; t++) {
      if (mask[t] === 0) continue;
      const value = row[t]!;
      tokens++;
      const step = value - mean;
      mean += step / tokens;
      squares += step * (value - mean);
      min = Math.min(min, value);
      max = Math.max(max, value);
      if (value < CERTAIN) certain++;
    }
  });
  if (tokens === 0) return undefined;
  return { tokens, mean, std: Math.sqrt(squares / tokens), min, max, certainShare: certain / tokens };
}
