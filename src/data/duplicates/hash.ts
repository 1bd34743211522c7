/** Hashes of words and of runs of words: fast, 32 bits, the same on every machine. Not for secrets. */

/** In [0, 2^32). */
export function hashText(text: string, seed = 0): number {
  let hash = (0x811c9dc5 ^ seed) >>> 0;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return scramble(hash);
}

/** Order matters. */
export const combine = (one: number, two: number): number => scramble((Math.imul(one, 0x9e3779b1) ^ two) + 0x7f4a7c15);

export function scramble(value: number): number {
  let x = value;
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return (x ^ (x >>> 16)) >>> 0;
}

/** 53 bits, as a whole number: for rows among millions. */
export function hashText53(text: string): number {
  return hashText(text) * 2 ** 21 + (hashText(text, 0x5bd1e995) >>> 11);
}

/** Of the rolling hash: odd, so that no bit is lost. */
const BASE = 0x9e3779b1;

/** Hashes of all runs of `n` words, in order; none where there are fewer. */
export function runsOf(words: readonly string[], n: number): Uint32Array {
  const count = Math.max(0, words.length - n + 1);
  const runs = new Uint32Array(count);
  if (count === 0) return runs;
  const single = new Uint32Array(words.length);
  for (let i = 0; i < words.length; i++) single[i] = hashText(words[i]!);
  let first = 1;
  for (let i = 0; i < n; i++) first = Math.imul(first, BASE);
  let hash = 0;
  for (let i = 0; i < words.length; i++) {
    hash = Math.imul(hash, BASE) + single[i]!;
    if (i >= n) hash -= Math.imul(single[i - n]!, first);
    hash |= 0;
    if (i >= n - 1) runs[i - n + 1] = scramble(hash);
  }
  return runs;
}
