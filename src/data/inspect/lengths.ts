/**
 * Lengths of many texts in little memory: least, most and sum exactly, quantiles to 1 part in 128. Knows numbers, not what they count.
 */

/** What is said about lengths. Quantiles of lengths above 256 may be off by 1 part in 128. */
export interface LengthSummary {
  readonly count: number;
  readonly min: number;
  readonly median: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
  readonly mean: number;
  readonly histogram: readonly HistogramBar[];
}

/** How many lengths are at least `from` and below `to`. */
export interface HistogramBar {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

/** Below it each length is counted by itself. */
const EXACT = 256;
const STEPS_A_DOUBLING = 128;

export class Lengths {
  readonly #buckets = new Map<number, number>();
  #count = 0;
  #sum = 0;
  #min = Number.POSITIVE_INFINITY;
  #max = 0;

  add(length: number): void {
    this.#count++;
    this.#sum += length;
    this.#min = Math.min(this.#min, length);
    this.#max = Math.max(this.#max, length);
    const bucket = bucketOf(length);
    this.#buckets.set(bucket, (this.#buckets.get(bucket) ?? 0) + 1);
  }

  /** Undefined where nothing was added. */
  summary(bars = 12): LengthSummary | undefined {
    if (this.#count === 0) return undefined;
    const sorted = [...this.#buckets].sort(([a], [b]) => a - b);
    return {
      count: this.#count,
      min: this.#min,
      median: this.#quantile(sorted, 0.5),
      p90: this.#quantile(sorted, 0.9),
      p99: this.#quantile(sorted, 0.99),
      max: this.#max,
      mean: this.#sum / this.#count,
      histogram: this.#histogram(sorted, bars),
    };
  }

  /** The least length that at least this share of them does not exceed. */
  #quantile(sorted: readonly (readonly [number, number])[], share: number): number {
    const rank = Math.ceil(share * this.#count);
    let seen = 0;
    for (const [bucket, count] of sorted) {
      seen += count;
      if (seen >= rank) return Math.min(this.#max, Math.max(this.#min, lengthOf(bucket)));
    }
    return this.#max;
  }

  /** Bars of equal width with round ends. */
  #histogram(sorted: readonly (readonly [number, number])[], bars: number): HistogramBar[] {
    const width = roundWidth((this.#max - this.#min + 1) / bars);
    const first = Math.floor(this.#min / width) * width;
    const counts = new Array<number>(Math.floor((this.#max - first) / width) + 1).fill(0);
    for (const [bucket, count] of sorted) {
      const length = Math.min(this.#max, Math.max(this.#min, lengthOf(bucket)));
      counts[Math.floor((length - first) / width)]! += count;
    }
    return counts.map((count, i) => ({ from: first + i * width, to: first + (i + 1) * width, count }));
  }
}

const bucketOf = (length: number): number =>
  length < EXACT ? length : EXACT + Math.floor((Math.log2(length) - Math.log2(EXACT)) * STEPS_A_DOUBLING);

const lengthOf = (bucket: number): number =>
  bucket < EXACT ? bucket : Math.round(EXACT * 2 ** ((bucket - EXACT + 0.5) / STEPS_A_DOUBLING));

/** 1, 2 or 5 times a power of ten, at least as large, and whole. */
function roundWidth(rough: number): number {
  if (rough <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((factor) => factor * power).find((width) => width >= rough)!;
}
