/**
 * One metric over its steps in bounded memory: single values first, then buckets of 2, 4, 8 ... steps with the mean, the least and the most
 * in each, so that no spike is lost however long a run is. Typed arrays; draws nothing.
 */
import type { Series } from '../../api.js';

export interface SeriesPoints {
  /** Last step of each bucket, from 0, ascending. */
  readonly steps: Float64Array;
  /** Mean of its values. */
  readonly values: Float64Array;
  readonly low: Float64Array;
  readonly high: Float64Array;
  /** Values in it. */
  readonly counts: Float64Array;
}

/** Buckets at most: more than a screen has columns. */
export const CAPACITY = 4096;

export class SeriesBuffer {
  readonly #columns: SeriesPoints;
  readonly #capacity: number;
  #length = 0;
  /** Steps of a bucket that is begun from now on. */
  #width = 1;
  #last = -1;
  #missing = 0;

  constructor(capacity = CAPACITY) {
    this.#capacity = capacity;
    const column = (): Float64Array => new Float64Array(capacity);
    this.#columns = { steps: column(), values: column(), low: column(), high: column(), counts: column() };
  }

  /** Takes what the server has, decimated or not. Values that are null are left out and counted. */
  static from(series: Series, capacity = CAPACITY): SeriesBuffer {
    const buffer = new SeriesBuffer(Math.max(capacity, 2 * series.steps.length));
    const { steps, values, low, high, count } = series;
    const each = Math.max(1, count / Math.max(1, steps.length));
    if (low !== undefined) buffer.#width = 2 ** Math.ceil(Math.log2(each));
    for (const [i, step] of steps.entries()) {
      const value = values[i];
      buffer.#last = step;
      if (value === null || value === undefined) buffer.#missing++;
      else buffer.#push(step, value, low?.[i] ?? value, high?.[i] ?? value, low === undefined ? 1 : each);
    }
    return buffer;
  }

  get length(): number {
    return this.#length;
  }

  /** -1 before the first. */
  get lastStep(): number {
    return this.#last;
  }

  /** Values that were no numbers. */
  get missing(): number {
    return this.#missing;
  }

  /** Whether a point may stand for several values. */
  get decimated(): boolean {
    return this.#width > 1;
  }

  /** Views, not copies: true until the next change. */
  get points(): SeriesPoints {
    const { steps, values, low, high, counts } = this.#columns;
    const n = this.#length;
    return {
      steps: steps.subarray(0, n),
      values: values.subarray(0, n),
      low: low.subarray(0, n),
      high: high.subarray(0, n),
      counts: counts.subarray(0, n),
    };
  }

  /** A step that was there already (a run that went on from a checkpoint) drops itself and all after it. */
  append(step: number, value: number | null): void {
    if (step <= this.#last) this.#dropFrom(step);
    this.#last = step;
    if (value === null || !Number.isFinite(value)) {
      this.#missing++;
      return;
    }
    const { steps, values, low, high, counts } = this.#columns;
    const i = this.#length - 1;
    if (i >= 0 && this.#width > 1 && bucketOf(steps[i]!, this.#width) === bucketOf(step, this.#width)) {
      const count = counts[i]! + 1;
      steps[i] = step;
      values[i]! += (value - values[i]!) / count;
      counts[i] = count;
      if (value < low[i]!) low[i] = value;
      if (value > high[i]!) high[i] = value;
      return;
    }
    this.#push(step, value, value, value, 1);
  }

  #push(step: number, value: number, low: number, high: number, count: number): void {
    if (this.#length === this.#capacity) this.#widen();
    const i = this.#length++;
    const columns = this.#columns;
    columns.steps[i] = step;
    columns.values[i] = value;
    columns.low[i] = low;
    columns.high[i] = high;
    columns.counts[i] = count;
  }

  /** Twice the width, until half of the room is free. */
  #widen(): void {
    const { steps, values, low, high, counts } = this.#columns;
    while (this.#length > this.#capacity / 2) {
      this.#width *= 2;
      let to = -1;
      for (let i = 0; i < this.#length; i++) {
        if (to >= 0 && bucketOf(steps[to]!, this.#width) === bucketOf(steps[i]!, this.#width)) {
          const count = counts[to]! + counts[i]!;
          steps[to] = steps[i]!;
          values[to]! += ((values[i]! - values[to]!) * counts[i]!) / count;
          counts[to] = count;
          low[to] = Math.min(low[to]!, low[i]!);
          high[to] = Math.max(high[to]!, high[i]!);
        } else {
          to++;
          steps[to] = steps[i]!;
          values[to] = values[i]!;
          low[to] = low[i]!;
          high[to] = high[i]!;
          counts[to] = counts[i]!;
        }
      }
      this.#length = to + 1;
    }
  }

  #dropFrom(step: number): void {
    const { steps } = this.#columns;
    while (this.#length > 0 && steps[this.#length - 1]! >= step) this.#length--;
    this.#last = step - 1;
  }
}

const bucketOf = (step: number, width: number): number => Math.floor(step / width);
