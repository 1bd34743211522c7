/** Seeds and random numbers that do not depend on batching or on the machine. Not for secrets. */

/**
 * A seed from its coordinates, for example (run seed, step, problem, sample, turn, attempt): equal parts give equal seeds, and two
 * different lists practically never meet. In [0, 2^31).
 */
export function deriveSeed(...parts: readonly (number | string)[]): number {
  let high = 0x9e3779b9;
  let low = 0x85ebca6b;
  for (const part of parts) {
    const text = `${typeof part}:${part};`;
    for (let i = 0; i < text.length; i++) {
      low = Math.imul(low ^ text.charCodeAt(i), 0x01000193);
      high = Math.imul(high ^ (low >>> 15) ^ text.charCodeAt(i), 0x5bd1e995);
    }
  }
  return mix(high ^ Math.imul(low, 0xc2b2ae35)) & 0x7fffffff;
}

function mix(value: number): number {
  let x = value;
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return (x ^ (x >>> 16)) >>> 0;
}

/** A seeded stream of random numbers (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Uniform in [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  /** A whole number in [low, high]. */
  int(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** @throws RangeError on an empty list. */
  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new RangeError('pick from an empty list');
    return items[Math.floor(this.next() * items.length)]!;
  }

  /** A shuffled copy. */
  shuffle<T>(items: readonly T[]): T[] {
    const copy = [...items];
    for (let i = copy.length - 1; i > 0; i--) {
      const j = this.int(0, i);
      [copy[i], copy[j]] = [copy[j]!, copy[i]!];
    }
    return copy;
  }
}
