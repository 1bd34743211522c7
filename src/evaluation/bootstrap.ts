/** Percentile bootstrap of a mean over problems. Pure and seeded. */
import { Random } from '../random.js';

export interface Interval {
  readonly low: number;
  readonly high: number;
}

export interface BootstrapOptions {
  readonly seed?: number;
  readonly resamples?: number;
  /** Share of resampled means inside; 0.95 by default. */
  readonly confidence?: number;
}

/**
 * Draws as many problems as there are, with replacement, `resamples` times; the interval holds the middle `confidence` of their means
 * (percentiles with linear interpolation). It says how much the figure would move with other problems, and holds the sampling noise of the
 * rollouts as far as it differs between problems. With one problem, or all alike, it has no width.
 *
 * @param values one number a problem, [problems]
 * @throws RangeError on no values, or options out of range
 */
export function bootstrapInterval(values: readonly number[], options: BootstrapOptions = {}): Interval {
  const { seed = 1, resamples = 2000, confidence = 0.95 } = options;
  if (values.length === 0) throw new RangeError('an interval over no problems');
  if (!Number.isInteger(resamples) || resamples < 1) throw new RangeError(`resamples must be a whole number of at least 1: ${resamples}`);
  if (!(confidence > 0 && confidence < 1)) throw new RangeError(`confidence must be between 0 and 1: ${confidence}`);
  const next = drawsOf(seed, values.length, resamples);
  const means = new Float64Array(resamples);
  for (let r = 0; r < resamples; r++) {
    let sum = 0;
    for (let i = 0; i < values.length; i++) sum += values[next()]!;
    means[r] = sum / values.length;
  }
  means.sort();
  const tail = (1 - confidence) / 2;
  return { low: quantile(means, tail), high: quantile(means, 1 - tail) };
}

/** The figures of one evaluation are over the same problems under the same seed: the draws are made once for all of them. */
let kept: { readonly key: string; readonly draws: Uint32Array } | undefined;
const MOST_KEPT = 2 ** 22;

/** Indices below `count`, one after the other, as many as the resamples take. */
function drawsOf(seed: number, count: number, resamples: number): () => number {
  const all = count * resamples;
  const random = new Random(seed);
  if (all > MOST_KEPT) return () => Math.floor(random.next() * count);
  const key = `${seed}/${count}/${resamples}`;
  if (kept?.key !== key) kept = { key, draws: Uint32Array.from({ length: all }, () => Math.floor(random.next() * count)) };
  const { draws } = kept;
  let at = 0;
  return () => draws[at++]!;
}

/** Linear between the two nearest of the sorted values. */
function quantile(sorted: Float64Array, share: number): number {
  const at = share * (sorted.length - 1);
  const below = sorted[Math.floor(at)]!;
  const above = sorted[Math.ceil(at)]!;
  return below + (above - below) * (at - Math.floor(at));
}
