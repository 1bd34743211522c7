/**
 * How token losses become one number: as a weight for each token of a mini-batch, so that the loss is a plain sum of weight times token
 * loss. The weights see the whole mini-batch; how it is cut into micro-batches afterwards changes nothing.
 */

/**
 * - `token-mean`: 1 / trained tokens of the mini-batch. Paper: Eq. 4.
 * - `seq-mean-token-mean`: 1 / (sequences * trained tokens of the sequence). Paper: Eq. 5. A sequence without a trained token has no mean
 *   and is not counted among the sequences.
 * - `seq-mean-token-sum`: 1 / sequences.
 * - `seq-mean-token-sum-norm`: 1 / a fixed length, the same for every mini-batch (as Dr. GRPO does).
 */
export type Aggregation = 'token-mean' | 'seq-mean-token-mean' | 'seq-mean-token-sum' | 'seq-mean-token-sum-norm';

export interface AggregationOptions {
  /** The divisor of `seq-mean-token-sum-norm`, for example the response limit; tokens. */
  readonly fixedLength?: number;
  /** The rollout of each mask, where one may have several: its masks are then one sequence to `seq-...`. Absent: each mask is its own. */
  readonly rollouts?: readonly string[];
}

/**
 * @param masks 1 where a token is trained, [sequences][tokens]
 * @returns the weight of each token, [sequences][tokens]; 0 where the mask is 0. A mini-batch without a trained token has weights 0.
 * @throws RangeError when `seq-mean-token-sum-norm` has no positive `fixedLength`, or the aggregation is unknown, or names of rollouts
 *   are not one a mask
 */
export function miniBatchWeights(
  masks: readonly ArrayLike<number>[],
  aggregation: Aggregation,
  options: AggregationOptions = {},
): Float64Array[] {
  const places = placesOf(masks.length, options.rollouts);
  const tokens = new Array<number>(new Set(places).size).fill(0);
  for (const [i, mask] of masks.entries()) tokens[places[i]!]! += trainedTokens(mask);
  const weightOf = sequenceWeight(tokens, aggregation, options);
  return masks.map((mask, i) => {
    const weights = new Float64Array(mask.length);
    const own = tokens[places[i]!]!;
    const weight = own === 0 ? 0 : weightOf(own);
    for (let t = 0; t < mask.length; t++) if (mask[t] !== 0) weights[t] = weight;
    return weights;
  });
}

/**
 * A_it = A_i w_it: what the losses take as `advantages`.
 *
 * @param advantages one number a sequence, [sequences]
 * @param masks      [sequences][tokens]
 */
export function weightedAdvantages(
  advantages: ArrayLike<number>,
  masks: readonly ArrayLike<number>[],
  aggregation: Aggregation,
  options: AggregationOptions = {},
): Float64Array[] {
  if (advantages.length !== masks.length) throw new RangeError(`${advantages.length} advantages for ${masks.length} sequences`);
  return miniBatchWeights(masks, aggregation, options).map((weights, i) =>
    weights.map((weight) => (weight === 0 ? 0 : weight * advantages[i]!)),
  );
}

/** Weight of a trained token, from the number of trained tokens in its sequence. */
function sequenceWeight(tokens: readonly number[], aggregation: Aggregation, options: AggregationOptions): (own: number) => number {
  switch (aggregation) {
    case 'token-mean': {
      const all = tokens.reduce((sum, count) => sum + count, 0);
      return () => 1 / all;
    }
    case 'seq-mean-token-mean': {
      const sequences = tokens.filter((count) => count > 0).length;
      return (own) => 1 / (sequences * own);
    }
    case 'seq-mean-token-sum':
      return () => 1 / tokens.length;
    case 'seq-mean-token-sum-norm': {
      const length = options.fixedLength;
      if (length === undefined || !(length > 0))
        throw new RangeError(`seq-mean-token-sum-norm needs a positive fixedLength, not ${length}`);
      return () => 1 / length;
    }
    default:
      throw new RangeError(`unknown aggregation ${JSON.stringify(aggregation satisfies never)}`);
  }
}

/** The number of each mask's sequence, counted as they first come. */
function placesOf(masks: number, rollouts: readonly string[] | undefined): number[] {
  if (rollouts === undefined) return Array.from({ length: masks }, (_, i) => i);
  if (rollouts.length !== masks) throw new RangeError(`${rollouts.length} names of rollouts for ${masks} masks`);
  const places = new Map<string, number>();
  return rollouts.map((name) => {
    const place = places.get(name) ?? places.size;
    places.set(name, place);
    return place;
  });
}

function trainedTokens(mask: ArrayLike<number>): number {
  let count = 0;
  for (let t = 0; t < mask.length; t++) if (mask[t] !== 0) count++;
  return count;
}
