/** How many charts a frame may draw. Pure. */

/** Beyond it a page feels slow: 25 frames a second. */
const LONG_MS = 40;
/** Longer is no slow frame but a pause in which nothing was drawn. */
const PAUSE_MS = 1000;
const MOST = 64;

/** @param sinceLast milliseconds since the frame before that drew */
export function nextBatch(batch: number, sinceLast: number): number {
  if (sinceLast > PAUSE_MS) return batch;
  return sinceLast > LONG_MS ? Math.max(1, Math.floor(batch / 2)) : Math.min(MOST, batch + 1);
}
