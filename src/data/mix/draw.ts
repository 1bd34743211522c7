/** Seeded draws from numbered rows: which rows of a source, and in which order the set has them. */
import { deriveSeed, Random } from '../../random.js';

/** `count` of the numbers, each with the same chance, in ascending order; all of them where there are fewer. */
export function drawFrom(numbers: Uint32Array, count: number, ...seed: readonly (number | string)[]): Uint32Array {
  if (numbers.length <= count) return numbers.slice().sort();
  return shuffled(numbers, count, ...seed).sort();
}

/** The first `count` of a shuffled copy. */
export function shuffled(numbers: Uint32Array, count: number, ...seed: readonly (number | string)[]): Uint32Array {
  const random = new Random(deriveSeed(...seed));
  const copy = numbers.slice();
  for (let i = 0; i < Math.min(count, copy.length); i++) {
    const j = random.int(i, copy.length - 1);
    const one = copy[i]!;
    copy[i] = copy[j]!;
    copy[j] = one;
  }
  return copy.slice(0, count);
}
