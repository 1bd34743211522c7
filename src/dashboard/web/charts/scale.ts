/** How far the y axis of a chart reaches. Pure. */

/** A little air above and below; 0 is in it where that is asked. */
export function paddedRange(min: number | null, max: number | null, fromZero: boolean): [number, number] {
  if (min === null || max === null || !Number.isFinite(min) || !Number.isFinite(max)) return [0, 1];
  const low = fromZero ? Math.min(0, min) : min;
  const high = fromZero ? Math.max(0, max) : max;
  const air = high > low ? (high - low) * 0.06 : Math.max(Math.abs(high) * 0.1, 1e-6);
  return [fromZero && low === 0 ? 0 : low - air, high + air];
}
