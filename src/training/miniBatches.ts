/** Cuts a step's groups into mini-batches of whole groups, one optimizer update each. */

/**
 * Sizes differ by at most one; order is kept. Fewer groups than updates give fewer mini-batches.
 *
 * @throws RangeError when `updates` is not a positive whole number
 */
export function miniBatches<T>(groups: readonly T[], updates: number): T[][] {
  if (!Number.isInteger(updates) || updates < 1) throw new RangeError(`updates must be a positive whole number, got ${updates}`);
  const parts = Math.min(updates, groups.length);
  return Array.from({ length: parts }, (_, i) =>
    groups.slice(Math.floor((i * groups.length) / parts), Math.floor(((i + 1) * groups.length) / parts)),
  );
}
