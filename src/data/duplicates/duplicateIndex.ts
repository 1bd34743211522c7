/**
 * Duplicates among many texts: 150 bytes of signature a text are kept, candidates are found by them (MinHash, banded), and every near
 * candidate is then compared word by word, by texts that the caller still has somewhere. The first in order is kept; the same order gives
 * the same result.
 */
import { type Blocks, float64Blocks, uint8Blocks, uint32Blocks } from './blocks.js';
import { combine, hashText, hashText53, scramble } from './hash.js';
import { countOf, type Fingerprint, featuresOf, fingerprint, MANY_NUMBERS, numbersKey, type Sameness, sameProblem } from './sameProblem.js';
import type { Words } from './words.js';

export interface DuplicatePair {
  /** Numbers of the texts in the order in which they were added; `kept` is the smaller. */
  readonly kept: number;
  readonly removed: number;
  readonly same: 'exact' | 'near';
  readonly similarity: number;
}

export interface FindOptions {
  /** Only equal words count. */
  readonly exactOnly?: boolean;
  /** The words that were added under a number. */
  readonly wordsOf: (text: number) => Words;
  readonly onPair?: (pair: DuplicatePair) => void;
  readonly onProgress?: (done: number, all: number) => void;
}

export interface Found {
  /** 1 for a text that is a duplicate of an earlier one. */
  readonly duplicate: Uint8Array;
  readonly exact: number;
  readonly near: number;
  /** Candidates compared word by word. */
  readonly compared: number;
  /** Texts that had more candidates than are compared. */
  readonly crowded: number;
}

const HASHES = 32;
/** Of a group of texts that share a band, each is held against so many earliest. */
const MOST_IN_GROUP = 512;
/** Of those the most alike are compared. */
const MOST_CANDIDATES = 3;
const ROW_BITS = 2 ** 26;

/**
 * How candidates are found among texts with equal numbers. Texts with few numbers must be more alike to count, so more hashes must agree:
 * a band is missed by a pair at the bound of `sameProblem` in 4 cases of 100, and above it hardly ever.
 */
interface Banding {
  readonly bands: number;
  readonly width: number;
  /** Equal hashes of the 32 below which a pair is not even compared: fewer occur once in some hundred pairs at the bound. */
  readonly leastEqual: number;
}

/** By how many numbers a text has: none or one; some; so many that equal numbers alone make a candidate (one band, no hash). */
const BANDINGS: readonly Banding[] = [
  { bands: 10, width: 3, leastEqual: 13 },
  { bands: 16, width: 2, leastEqual: 9 },
  { bands: 1, width: 0, leastEqual: 6 },
];
const bandingOf = (numbers: number): number => (numbers < 2 ? 0 : numbers < MANY_NUMBERS ? 1 : 2);

export class DuplicateIndex {
  readonly #exact: Blocks<Float64Array> = float64Blocks();
  readonly #numbers: Blocks<Uint32Array> = uint32Blocks();
  readonly #signatures: Blocks<Uint32Array> = uint32Blocks(HASHES);
  readonly #banding: Blocks<Uint8Array> = uint8Blocks();
  readonly #least = new Uint32Array(HASHES);

  get size(): number {
    return this.#exact.rows;
  }

  /** @returns the text's number: 0, 1, 2, … */
  add(words: Words): number {
    const numbers = numbersKey(words);
    this.#numbers.push(hashText(numbers));
    this.#banding.push(bandingOf(countOf(numbers)));
    const row = this.#signatures.grow();
    this.#sign(words);
    for (let i = 0; i < HASHES; i++) this.#signatures.set(row, this.#least[i]!, i);
    return this.#exact.push(hashText53(words.join(' ')));
  }

  find(options: FindOptions): Found {
    const duplicate = new Uint8Array(this.size);
    const exact = this.#findExact(duplicate, options);
    if (options.exactOnly === true) return { duplicate, exact, near: 0, compared: 0, crowded: 0 };
    const { pairs, crowded } = this.#candidates(duplicate);
    return { duplicate, exact, ...this.#compare(pairs, duplicate, options), crowded };
  }

  /** MinHash: for each of 32 hash functions the least value over the features. */
  #sign(words: Words): void {
    this.#least.fill(0xffffffff);
    for (const feature of new Set(featuresOf(words))) {
      for (let i = 0; i < HASHES; i++) {
        const value = scramble(feature ^ SALTS[i]!);
        if (value < this.#least[i]!) this.#least[i] = value;
      }
    }
  }

  #findExact(duplicate: Uint8Array, { onPair }: FindOptions): number {
    const order = Uint32Array.from({ length: this.size }, (_, row) => row);
    order.sort((one, two) => this.#exact.get(one) - this.#exact.get(two) || one - two);
    let first = 0;
    let count = 0;
    for (let i = 1; i < order.length; i++) {
      const [kept, row] = [order[first]!, order[i]!];
      if (this.#exact.get(kept) !== this.#exact.get(row) || this.#equalHashes(kept, row, HASHES) === 0) {
        first = i;
        continue;
      }
      duplicate[row] = 1;
      count++;
      onPair?.({ kept, removed: row, same: 'exact', similarity: 1 });
    }
    return count;
  }

  /** Equal hashes of two texts; 0 as soon as they cannot be `least`. */
  #equalHashes(one: number, two: number, least: number): number {
    const [here, at] = this.#signatures.place(one);
    const [there, from] = this.#signatures.place(two);
    let equal = HASHES;
    for (let i = 0; i < HASHES; i++) if (here[at + i] !== there[from + i] && --equal < least) return 0;
    return equal;
  }

  /** Pairs as `later * 2^26 + earlier`, sorted. */
  #candidates(duplicate: Uint8Array): { pairs: Float64Array; crowded: number } {
    const found = float64Blocks();
    const crowded = new Uint8Array(this.size);
    BANDINGS.forEach((banding, kind) => {
      for (let band = 0; band < banding.bands; band++) {
        const keys = this.#keys(kind, band, duplicate);
        for (let start = 0, end = 0; start < keys.length; start = end) {
          const key = Math.floor(keys[start]! / ROW_BITS);
          end = start + 1;
          while (end < keys.length && Math.floor(keys[end]! / ROW_BITS) === key) end++;
          this.#pairUp(keys.subarray(start, end), banding.leastEqual, found, crowded);
        }
      }
    });
    const pairs = new Float64Array(found.rows);
    for (let i = 0; i < pairs.length; i++) pairs[i] = found.get(i);
    pairs.sort();
    return { pairs, crowded: crowded.reduce((sum, one) => sum + one, 0) };
  }

  /** @param group keys of one band, in the order of their texts */
  #pairUp(group: Float64Array, least: number, found: Blocks<Float64Array>, crowded: Uint8Array): void {
    for (let late = 1; late < group.length; late++) {
      const row = group[late]! % ROW_BITS;
      if (late > MOST_IN_GROUP) crowded[row] = 1;
      const best: { readonly other: number; readonly equal: number }[] = [];
      for (let early = 0; early < Math.min(late, MOST_IN_GROUP); early++) {
        const other = group[early]! % ROW_BITS;
        if (this.#numbers.get(row) !== this.#numbers.get(other)) continue;
        const equal = this.#equalHashes(row, other, Math.max(least, best.length < MOST_CANDIDATES ? 1 : best.at(-1)!.equal + 1));
        if (equal === 0) continue;
        const place = best.findIndex((one) => one.equal < equal);
        best.splice(place === -1 ? best.length : place, 0, { other, equal });
        if (best.length > MOST_CANDIDATES) best.pop();
      }
      for (const { other } of best) found.push(row * ROW_BITS + other);
    }
  }

  /** Of each text of the kind that is no exact duplicate: the band's key (26 bits) and the row, as one number; sorted. */
  #keys(kind: number, band: number, duplicate: Uint8Array): Float64Array {
    const { width } = BANDINGS[kind]!;
    const keys = new Float64Array(this.size);
    let count = 0;
    for (let row = 0; row < this.size; row++) {
      if (duplicate[row] === 1 || this.#banding.get(row) !== kind) continue;
      let key = scramble(this.#numbers.get(row) + band);
      for (let i = 0; i < width; i++) key = combine(key, this.#signatures.get(row, width * band + i));
      keys[count++] = (key >>> 6) * ROW_BITS + row;
    }
    return keys.subarray(0, count).sort();
  }

  #compare(pairs: Float64Array, duplicate: Uint8Array, { wordsOf, onPair, onProgress }: FindOptions): Pick<Found, 'near' | 'compared'> {
    const recent = new Recent(wordsOf);
    /** Of a removed text the one that was kept in its place: a copy of a copy is held against that. */
    const keeper = new Uint32Array(this.size);
    const tried = new Set<number>();
    let trying = -1;
    let near = 0;
    let compared = 0;
    for (let i = 0; i < pairs.length; i++) {
      if (i % 1024 === 0) onProgress?.(i, pairs.length);
      const removed = Math.floor(pairs[i]! / ROW_BITS);
      const candidate = pairs[i]! % ROW_BITS;
      const kept = duplicate[candidate] === 1 ? keeper[candidate]! : candidate;
      if (removed !== trying) tried.clear();
      trying = removed;
      if (duplicate[removed] === 1 || tried.has(kept)) continue;
      tried.add(kept);
      compared++;
      const { same, similarity }: Sameness = sameProblem(recent.get(kept), recent.get(removed));
      if (same === false) continue;
      duplicate[removed] = 1;
      keeper[removed] = kept;
      near++;
      onPair?.({ kept, removed, same: 'near', similarity });
    }
    return { near, compared };
  }
}

const SALTS = Uint32Array.from({ length: HASHES }, (_, i) => hashText(`hash function ${i}`));

/** Fingerprints of the texts compared last. */
class Recent {
  readonly #wordsOf: (text: number) => Words;
  readonly #kept = new Map<number, Fingerprint>();

  constructor(wordsOf: (text: number) => Words) {
    this.#wordsOf = wordsOf;
  }

  get(text: number): Fingerprint {
    const known = this.#kept.get(text) ?? fingerprint(this.#wordsOf(text));
    this.#kept.delete(text);
    this.#kept.set(text, known);
    if (this.#kept.size > 256) this.#kept.delete(this.#kept.keys().next().value!);
    return known;
  }
}
