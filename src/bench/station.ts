/** A place that serves so many at once, the first come first, each for as long as it needs; and how long they had to wait. In virtual time. */
import { deriveSeed, Random } from '../random.js';
import type { VirtualClock } from './virtualClock.js';

export class Station {
  #free: number;
  readonly #queue: (() => void)[] = [];
  #head = 0;
  /** Seconds that each waited before it was served. */
  readonly waits: number[] = [];

  constructor(
    private readonly clock: VirtualClock,
    places: number,
  ) {
    this.#free = places;
  }

  async serve(seconds: number): Promise<void> {
    const came = this.clock.now;
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#queue.push(resolve));
    this.waits.push(this.clock.now - came);
    await this.clock.sleep(seconds);
    if (this.#head < this.#queue.length) this.#next();
    else this.#free++;
  }

  #next(): void {
    const next = this.#queue[this.#head]!;
    this.#head++;
    if (this.#head > 1024 && this.#head * 2 > this.#queue.length) {
      this.#queue.splice(0, this.#head);
      this.#head = 0;
    }
    next();
  }
}

/** Lognormal with sigma 1, from coordinates alone: the same request takes as long in every order. */
export function lognormal(median: number, ...coordinates: (number | string)[]): number {
  const random = new Random(deriveSeed(...coordinates));
  const radius = Math.sqrt(-2 * Math.log(1 - random.next()));
  return median * Math.exp(radius * Math.cos(2 * Math.PI * random.next()));
}

/** The q-th share of the values, 0 for none. */
export function quantile(values: readonly number[], q: number): number {
  if (values.length === 0) return 0;
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))]!;
}
