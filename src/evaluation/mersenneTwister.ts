/**
 * The generator behind `np.random.seed(n)` and `np.random.choice(count, size)` of NumPy's legacy interface, for figures that must repeat the
 * released ones draw by draw. Everything else draws from `random.ts`.
 */

const SIZE = 624;
const SHIFT = 397;

export class MersenneTwister {
  readonly #state = new Uint32Array(SIZE);
  #at = SIZE;

  /** @param seed a whole number from 0 to 2^32 - 1 */
  constructor(seed: number) {
    this.#state[0] = seed >>> 0;
    for (let i = 1; i < SIZE; i++) {
      const previous = this.#state[i - 1]!;
      this.#state[i] = Math.imul(1812433253, previous ^ (previous >>> 30)) + i;
    }
  }

  /** A whole number from 0 to 2^32 - 1. */
  next(): number {
    if (this.#at === SIZE) this.#renew();
    let y = this.#state[this.#at++]!;
    y ^= y >>> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    return (y ^ (y >>> 18)) >>> 0;
  }

  /** A whole number from 0 to count - 1: the low bits, drawn again while they are too large. */
  below(count: number): number {
    const most = count - 1;
    if (most === 0) return 0;
    const mask = 0xffffffff >>> Math.clz32(most);
    for (;;) {
      const drawn = (this.next() & mask) >>> 0;
      if (drawn <= most) return drawn;
    }
  }

  #renew(): void {
    const state = this.#state;
    for (let i = 0; i < SIZE; i++) {
      const y = (state[i]! & 0x80000000) | (state[(i + 1) % SIZE]! & 0x7fffffff);
      state[i] = state[(i + SHIFT) % SIZE]! ^ (y >>> 1) ^ (y & 1 ? 0x9908b0df : 0);
    }
    this.#at = 0;
  }
}
