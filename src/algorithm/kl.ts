/**
 * Estimators of the divergence from a reference policy, token by token, with their gradients. Pure. Not homogeneous in anything a native
 * loss could fold: a KL term takes the custom way.
 */

/**
 * With d = logProb - refLogProb: `k1` d; `abs` |d|; `k2` d²/2; `k3` e^-d + d - 1. A `+` keeps the value and takes the gradient of `k2`
 * (straight-through), which is an unbiased estimate of the gradient of the divergence.
 */
export type KlEstimator = 'k1' | 'abs' | 'k2' | 'k3' | 'k1+' | 'abs+' | 'k3+';

export interface KlValues {
  /** Nats, [tokens]; 0 where the mask is 0. */
  readonly values: Float64Array;
  /** d value / d logProb, [tokens]. */
  readonly gradient: Float64Array;
}

const MAX_LOG_RATIO = 20;
const MAX_K3 = 10;

/**
 * @param logProbs    current policy, nats, [tokens]
 * @param refLogProbs reference policy, nats, [tokens]
 * @param mask        where absent every token counts
 * @throws RangeError when lengths differ or the estimator is unknown
 */
export function klValues(
  logProbs: ArrayLike<number>,
  refLogProbs: ArrayLike<number>,
  estimator: KlEstimator,
  mask?: ArrayLike<number>,
): KlValues {
  const tokens = logProbs.length;
  if (refLogProbs.length !== tokens || (mask !== undefined && mask.length !== tokens)) {
    throw new RangeError(`log-probs, reference log-probs and mask differ in length: ${tokens}, ${refLogProbs.length}, ${mask?.length}`);
  }
  const token = tokenKl(estimator);
  const values = new Float64Array(tokens);
  const gradient = new Float64Array(tokens);
  for (let t = 0; t < tokens; t++) {
    if (mask !== undefined && mask[t] === 0) continue;
    const [value, slope] = token(logProbs[t]! - refLogProbs[t]!);
    values[t] = value;
    gradient[t] = slope;
  }
  return { values, gradient };
}

/**
 * The KL term of a mini-batch: sum of weight times value, and its gradient. Multiply both by the coefficient (beta of Eq. 1).
 *
 * @param batch weights from `miniBatchWeights`, [sequences][tokens]; tokens of weight 0 are not looked at
 */
export function klLoss(
  batch: readonly { readonly logProbs: ArrayLike<number>; readonly refLogProbs: ArrayLike<number>; readonly weights: Float64Array }[],
  estimator: KlEstimator,
): { readonly loss: number; readonly gradient: Float64Array[] } {
  let loss = 0;
  const gradient = batch.map(({ logProbs, refLogProbs, weights }) => {
    const kl = klValues(logProbs, refLogProbs, estimator, weights);
    for (let t = 0; t < weights.length; t++) loss += weights[t]! * kl.values[t]!;
    return kl.gradient.map((slope, t) => slope * weights[t]!);
  });
  return { loss, gradient };
}

/**
 * The divergence as part of the reward: r_t - coefficient * k1_t at trained tokens.
 *
 * @param rewards     [tokens]
 * @param oldLogProbs policy that sampled, nats, [tokens]
 */
export function klShapedRewards(
  rewards: ArrayLike<number>,
  oldLogProbs: ArrayLike<number>,
  refLogProbs: ArrayLike<number>,
  coefficient: number,
  options: { readonly estimator?: KlEstimator; readonly mask?: ArrayLike<number> } = {},
): Float64Array {
  if (rewards.length !== oldLogProbs.length) throw new RangeError(`${rewards.length} rewards for ${oldLogProbs.length} log-probs`);
  const { values } = klValues(oldLogProbs, refLogProbs, options.estimator ?? 'k1', options.mask);
  return values.map((value, t) => rewards[t]! - coefficient * value);
}

/** Value and slope by d of one token. */
function tokenKl(estimator: KlEstimator): (difference: number) => readonly [number, number] {
  switch (estimator) {
    case 'k1':
      return (d) => [d, 1];
    case 'abs':
      return (d) => [Math.abs(d), Math.sign(d)];
    case 'k2':
      return (d) => [(d * d) / 2, d];
    case 'k3':
      return k3;
    case 'k1+':
    case 'abs+':
    case 'k3+': {
      const value = tokenKl(estimator.slice(0, -1) as KlEstimator);
      return (d) => [value(d)[0], d];
    }
    default:
      throw new RangeError(`unknown KL estimator ${JSON.stringify(estimator satisfies never)}; known: k1, abs, k2, k3, k1+, abs+, k3+`);
  }
}

/** Capped at 10 and with -d within ±20; no gradient where a cap bites. */
function k3(difference: number): readonly [number, number] {
  const x = Math.min(Math.max(-difference, -MAX_LOG_RATIO), MAX_LOG_RATIO);
  const value = Math.expm1(x) - x;
  if (value > MAX_K3) return [MAX_K3, 0];
  return [value, x === -difference ? -Math.expm1(x) : 0];
}
