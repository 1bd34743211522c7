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
const BANDS = 16;
/** Of a group of texts that share a band, each is compared with so many earliest. */
const MOST_IN_GROUP = 32;
/** Candidates of one text over all bands. */
const MOST_CANDIDATES = 24;
/** Equal hashes of the 32 below which a pair is not even compared: at a similarity of 0.42 fewer occur once in 500 pairs. */
const LEAST_EQUAL = 6;
const ROW_BITS = 2 ** 26;

export class DuplicateIndex {
  readonly #exact: Blocks<Float64Array> = float64Blocks();
  readonly #numbers: Blocks<Uint32Array> = uint32Blocks();
  readonly #signatures: Blocks<Uint32Array> = uint32Blocks(HASHES);
  /** Whether there are so many numbers that they alone make a candidate. */
  readonly #many: Blocks<Uint8Array> = uint8Blocks();
  readonly #least = new Uint32Array(HASHES);

  get size(): number {
    return this.#exact.rows;
  }

  /** @returns the text's number: 0, 1, 2, … */
  add(words: Words): number {
    const numbers = numbersKey(words);
    this.#numbers.push(hashText(numbers));
    this.#many.push(countOf(numbers) >= MANY_NUMBERS ? 1 : 0);
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
      if (this.#exact.get(kept) !== this.#exact.get(row) || this.#equalHashes(kept, row) < HASHES) {
        first = i;
        continue;
      }
      duplicate[row] = 1;
      count++;
      onPair?.({ kept, removed: row, same: 'exact', similarity: 1 });
    }
    return count;
  }

  #equalHashes(one: number, two: number): number {
    let equal = 0;
    for (let i = 0; i < HASHES; i++) if (this.#signatures.get(one, i) === this.#signatures.get(two, i)) equal++;
    return equal;
  }

  /** Pairs as `later * 2^26 + earlier`, sorted. */
  #candidates(duplicate: Uint8Array): { pairs: Float64Array; crowded: number } {
    const found = float64Blocks();
    const counts = new Uint8Array(this.size);
    const crowded = new Uint8Array(this.size);
    // The last round takes the numbers alone.
    for (let band = 0; band <= BANDS; band++) {
      const keys: Float64Array = this.#keys(band, duplicate);
      for (let start = 0; start < keys.length; ) {
        const key = Math.floor(keys[start]! / ROW_BITS);
        let end = start + 1;
        while (end < keys.length && Math.floor(keys[end]! / ROW_BITS) === key) end++;
        for (let late = start + 1; late < end; late++) {
          const row = keys[late]! % ROW_BITS;
          if (late - start > MOST_IN_GROUP) crowded[row] = 1;
          for (let early = start; early < Math.min(late, start + MOST_IN_GROUP); early++) {
            const other = keys[early]! % ROW_BITS;
            if (this.#numbers.get(row) !== this.#numbers.get(other) || this.#equalHashes(row, other) < LEAST_EQUAL) continue;
            if (counts[row]! >= MOST_CANDIDATES) {
              crowded[row] = 1;
              break;
            }
            counts[row]!++;
            found.push(row * ROW_BITS + other);
          }
        }
        start = end;
      }
    }
    const pairs = new Float64Array(found.rows);
    for (let i = 0; i < pairs.length; i++) pairs[i] = found.get(i);
    pairs.sort();
    return { pairs, crowded: crowded.reduce((sum, one) => sum + one, 0) };
  }

  /** Of each text that is no exact duplicate: the band's key (26 bits) and the row, as one number; sorted. */
  #keys(band: number, duplicate: Uint8Array): Float64Array {
    const keys = new Float64Array(this.size);
    let count = 0;
    for (let row = 0; row < this.size; row++) {
      if (duplicate[row] === 1 || (band === BANDS && this.#many.get(row) === 0)) continue;
      let key = scramble(this.#numbers.get(row) + band);
      if (band < BANDS) key = combine(combine(key, this.#signatures.get(row, 2 * band)), this.#signatures.get(row, 2 * band + 1));
      keys[count++] = (key >>> 5) * ROW_BITS + row;
    }
    return keys.subarray(0, count).sort();
  }

  #compare(pairs: Float64Array, duplicate: Uint8Array, { wordsOf, onPair, onProgress }: FindOptions): Pick<Found, 'near' | 'compared'> {
    const recent = new Recent(wordsOf);
    let near = 0;
    let compared = 0;
    let before = -1;
    for (let i = 0; i < pairs.length; i++) {
      const pair = pairs[i]!;
      const removed = Math.floor(pair / ROW_BITS);
      const kept = pair % ROW_BITS;
      if (i % 1024 === 0) onProgress?.(i, pairs.length);
      if (pair === before || duplicate[removed] === 1 || duplicate[kept] === 1) continue;
      before = pair;
      compared++;
      const { same, similarity }: Sameness = sameProblem(recent.get(kept), recent.get(removed));
      if (same === false) continue;
      duplicate[removed] = 1;
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
