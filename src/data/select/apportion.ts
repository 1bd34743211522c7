/** Whole numbers that follow shares. Pure. */

/**
 * Largest remainders: each share gets the whole part of its portion, and what is left goes, one each, to the largest fractions (earlier
 * ones first among equals). The result adds up to `total`, and no entry is further than 1 from its portion.
 *
 * @param weights not negative, not all 0; they need not add up to 1
 */
export function apportion(weights: readonly number[], total: number): number[] {
  const sum = weights.reduce((a, b) => a + b, 0);
  if (!(sum > 0)) throw new RangeError('shares that are all zero');
  const exact = weights.map((weight) => (weight / sum) * total);
  // A portion that is whole but for rounding counts as whole.
  const whole = exact.map((value) => Math.floor(value + 1e-9));
  let left = total - whole.reduce((a, b) => a + b, 0);
  const byFraction = exact
    .map((value, i) => ({ i, fraction: value - whole[i]! }))
    .filter(({ i }) => weights[i]! > 0)
    .sort((a, b) => b.fraction - a.fraction || a.i - b.i);
  for (const { i } of byFraction) {
    if (left <= 0) break;
    whole[i]!++;
    left--;
  }
  return whole;
}
