/** Exponential moving average over steps. */

/**
 * y_t = sum_i w^(t-i) v_i / sum_i w^(t-i): the average of all values so far whose weight falls by `weight` a step. The division takes away
 * the pull towards the first value (or 0) that a plain recursion has. A point of several values counts as that many steps.
 *
 * @param weight in [0, 1); 0 gives the values back.
 */
export function smoothed(
  values: ArrayLike<number>,
  counts: ArrayLike<number>,
  weight: number,
  into = new Float64Array(values.length),
): Float64Array {
  let sum = 0;
  let mass = 0;
  for (let i = 0; i < values.length; i++) {
    const keep = weight ** counts[i]!;
    // the values of a bucket are not known one by one: its mean stands for each, sum_{j<count} w^j of them
    const share = weight === 0 ? 1 : (1 - keep) / (1 - weight);
    sum = sum * keep + values[i]! * share;
    mass = mass * keep + share;
    into[i] = sum / mass;
  }
  return into;
}
