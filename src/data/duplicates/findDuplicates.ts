/** Duplicates in a list of texts that is in memory. For files see `mix/`. */
import { Boilerplate } from './boilerplate.js';
import { DuplicateIndex, type DuplicatePair } from './duplicateIndex.js';
import { type Words, wordsOf } from './words.js';

export interface Duplicates {
  /** In order of the removed text; indices into the list. */
  readonly pairs: readonly DuplicatePair[];
  readonly exact: number;
  readonly near: number;
}

const SAMPLE = 2000;

/** @param texts questions; the first of several equal ones is kept */
export function findDuplicates(texts: readonly string[], options: { readonly exactOnly?: boolean } = {}): Duplicates {
  const all = texts.map(wordsOf);
  const boilerplate = Boilerplate.learn(all.slice(0, SAMPLE));
  const words: Words[] = all.map((one) => boilerplate.strip(one));
  const index = new DuplicateIndex();
  for (const one of words) index.add(one);
  const pairs: DuplicatePair[] = [];
  const { exact, near } = index.find({ ...options, wordsOf: (text) => words[text]!, onPair: (pair) => pairs.push(pair) });
  pairs.sort((one, two) => one.removed - two.removed);
  return { pairs, exact, near };
}
