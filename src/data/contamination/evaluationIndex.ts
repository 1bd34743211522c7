/**
 * Finds problems of evaluation sets in training texts: the same words, most of their runs of words anywhere in a longer text, or nearly the
 * same problem. A text that shares the words but not the numbers is told apart: it is another problem from the same template. The rule
 * stands in docs/data.md. Does not read files (`evaluationSets.ts`).
 */
import { Boilerplate } from '../duplicates/boilerplate.js';
import { runsOf } from '../duplicates/hash.js';
import { countOf, type Fingerprint, fingerprint, numbersKey, sameProblem } from '../duplicates/sameProblem.js';
import { isNumber, type Words, wordsOf } from '../duplicates/words.js';

export interface EvaluationText {
  /** The set's name. */
  readonly set: string;
  /** Where it stands, for a person. */
  readonly where: string;
  readonly text: string;
}

export interface ContaminationOptions {
  /** Words of a run (n-gram). Default 8. */
  readonly run: number;
  /** Share of the evaluation problem's words that must lie in runs found in the text. Default 0.7. */
  readonly share: number;
}

export interface Contamination {
  /**
   * `exact`: the words are equal. `ngram`: enough runs of the evaluation problem stand in the text, with its numbers. `near`: one problem by
   * the rule for duplicates. `template`: the runs are there, the numbers are others; no contamination.
   */
  readonly kind: 'exact' | 'ngram' | 'near' | 'template';
  readonly evaluation: EvaluationText;
  /** Share of the evaluation problem's words found in runs; of `near` the similarity. In [0, 1]. */
  readonly share: number;
}

export const DEFAULT_CONTAMINATION: ContaminationOptions = { run: 8, share: 0.7 };

/** A run that so many different problems of the sets share says nothing about one of them. */
const SHARED = { leastTexts: 3, leastShare: 0.01 };
/** Of the evaluation problem's numbers so many must lie in runs that were found. */
const NUMBERS_FOUND = 2 / 3;
/** A problem shorter than a run must have so many words to be looked for inside of longer texts; else only equal texts count. */
const LEAST_INSIDE = 5;
/** So many equal numbers make a candidate. */
const TELLING_NUMBERS = 2;
/** Runs found below which a problem is no candidate. */
const CANDIDATE_SHARE = 0.1;

interface Entry {
  readonly source: EvaluationText;
  readonly words: Words;
  readonly numbers: ReadonlyMap<string, number>;
  /** The numbers, sorted, as one text. */
  readonly key: string;
  /** Hashes of its runs, in order. */
  readonly runs: Uint32Array;
  /** For each word whether it counts; what many problems of the set share does not. */
  readonly counts: Uint8Array;
  readonly counted: number;
  /** All of its words must be found: too few are its own. */
  readonly whole: boolean;
  fingerprint?: Fingerprint;
}

export class EvaluationIndex {
  readonly #options: ContaminationOptions;
  readonly #entries: Entry[] = [];
  readonly #equal = new Map<string, number>();
  /** From a run's hash to the problems it stands in. */
  readonly #runs = new Map<number, number | number[]>();
  /** By their numbers, where there are several: how edited copies are found that share no run. */
  readonly #byNumbers = new Map<string, number[]>();
  /** Problems shorter than a run, by their length and words. */
  readonly #short = new Map<number, Map<string, number>>();

  constructor(texts: Iterable<EvaluationText>, options: Partial<ContaminationOptions> = {}) {
    this.#options = { ...DEFAULT_CONTAMINATION, ...options };
    const all = [...texts].map((source) => ({ source, words: wordsOf(source.text) }));
    const shared = Boilerplate.learn(
      all.map(({ words }) => words),
      { run: this.#options.run, ...SHARED },
    );
    for (const { source, words } of all) this.#add(source, words, shared.covered(words));
  }

  get size(): number {
    return this.#entries.length;
  }

  #add(source: EvaluationText, words: Words, covered: Uint8Array | undefined): void {
    const key = words.join(' ');
    if (words.length === 0 || this.#equal.has(key)) return;
    const own = covered === undefined ? words.length : covered.reduce((sum, one) => sum + 1 - one, 0);
    const whole = own < this.#options.run;
    const runs = runsOf(words, this.#options.run);
    const counts = covered === undefined || whole ? new Uint8Array(words.length).fill(1) : covered.map((one) => 1 - one);
    const entry =
      this.#entries.push({
        source,
        words,
        numbers: tally(words),
        key: numbersKey(words),
        runs,
        counts,
        counted: whole ? words.length : own,
        whole,
      }) - 1;
    this.#equal.set(key, entry);
    const numbers = this.#entries[entry]!.key;
    if (countOf(numbers) >= TELLING_NUMBERS) this.#byNumbers.set(numbers, [...(this.#byNumbers.get(numbers) ?? []), entry]);
    if (runs.length > 0) for (const hash of new Set(runs)) this.#enter(hash, entry);
    else if (words.length >= LEAST_INSIDE) {
      const ofLength = this.#short.get(words.length) ?? new Map<string, number>();
      this.#short.set(words.length, ofLength.set(key, entry));
    }
  }

  #enter(hash: number, entry: number): void {
    const known = this.#runs.get(hash);
    if (known === undefined) this.#runs.set(hash, entry);
    else if (typeof known === 'number') this.#runs.set(hash, [known, entry]);
    else known.push(entry);
  }

  /** The strongest finding about a text; undefined where there is none. @param words of the training text */
  find(words: Words): Contamination | undefined {
    const equal = this.#equal.get(words.join(' '));
    if (equal !== undefined) return { kind: 'exact', evaluation: this.#entries[equal]!.source, share: 1 };
    return this.#findShort(words) ?? this.#findLong(words);
  }

  #findShort(words: Words): Contamination | undefined {
    for (const [length, ofLength] of this.#short) {
      for (let at = 0; at + length <= words.length; at++) {
        const entry = ofLength.get(words.slice(at, at + length).join(' '));
        if (entry !== undefined) return { kind: 'ngram', evaluation: this.#entries[entry]!.source, share: 1 };
      }
    }
    return undefined;
  }

  #findLong(words: Words): Contamination | undefined {
    const runs = runsOf(words, this.#options.run);
    const hits = new Map<number, number>();
    for (const hash of runs) {
      const found = this.#runs.get(hash);
      if (found === undefined) continue;
      for (const entry of typeof found === 'number' ? [found] : found) hits.set(entry, (hits.get(entry) ?? 0) + 1);
    }
    const likely = [...hits]
      .filter(([entry, count]) => count >= CANDIDATE_SHARE * this.#entries[entry]!.runs.length)
      .sort((one, two) => two[1] - one[1])
      .slice(0, MOST_CANDIDATES)
      .map(([entry]) => this.#entries[entry]!);
    const [inside, template] = this.#findInside(words, runs, likely);
    return inside ?? this.#findEdited(words, likely) ?? template;
  }

  /** By runs: a problem inside of the text, and one whose wording is there with other numbers. */
  #findInside(words: Words, runs: Uint32Array, likely: readonly Entry[]): [inside?: Contamination | undefined, template?: Contamination] {
    if (likely.length === 0) return [];
    const places = placesOf(runs);
    const numbers = tally(words);
    let template: Contamination | undefined;
    for (const entry of likely) {
      const { share, numbersFound } = this.#coverage(entry, words, places);
      const same = contains(numbers, entry.numbers) && numbersFound >= NUMBERS_FOUND;
      if (same && share >= (entry.whole ? 1 : this.#options.share)) return [{ kind: 'ngram', evaluation: entry.source, share }];
      if (share >= this.#options.share) template ??= { kind: 'template', evaluation: entry.source, share };
    }
    return template === undefined ? [] : [undefined, template];
  }

  #findEdited(words: Words, likely: readonly Entry[]): Contamination | undefined {
    const key = numbersKey(words);
    const equal = (this.#byNumbers.get(key) ?? []).slice(0, MOST_CANDIDATES).map((entry) => this.#entries[entry]!);
    let own: Fingerprint | undefined;
    for (const entry of new Set([...likely.filter((one) => one.key === key), ...equal])) {
      own ??= fingerprint(words);
      entry.fingerprint ??= fingerprint(entry.words);
      const { same, similarity } = sameProblem(entry.fingerprint, own);
      if (same !== false) return { kind: 'near', evaluation: entry.source, share: similarity };
    }
    return undefined;
  }

  /** Every run is compared word by word: a hash alone proves nothing. */
  #coverage(entry: Entry, words: Words, places: ReadonlyMap<number, readonly number[]>): { share: number; numbersFound: number } {
    const { run } = this.#options;
    const found = new Uint8Array(entry.words.length);
    entry.runs.forEach((hash, at) => {
      const equal = places.get(hash)?.some((place) => sameRun(entry.words, at, words, place, run));
      if (equal === true) found.fill(1, at, at + run);
    });
    let covered = 0;
    let numbers = 0;
    let numbersFound = 0;
    entry.words.forEach((word, at) => {
      covered += found[at]! & entry.counts[at]!;
      if (!isNumber(word)) return;
      numbers++;
      numbersFound += found[at]!;
    });
    return { share: covered / entry.counted, numbersFound: numbers === 0 ? 1 : numbersFound / numbers };
  }
}

const MOST_CANDIDATES = 8;

function placesOf(runs: Uint32Array): Map<number, number[]> {
  const places = new Map<number, number[]>();
  runs.forEach((hash, at) => {
    const known = places.get(hash);
    if (known === undefined) places.set(hash, [at]);
    else known.push(at);
  });
  return places;
}

function sameRun(one: Words, at: number, two: Words, place: number, run: number): boolean {
  for (let i = 0; i < run; i++) if (one[at + i] !== two[place + i]) return false;
  return true;
}

function tally(words: Words): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) if (isNumber(word)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

/** Each number at least as often. */
function contains(all: ReadonlyMap<string, number>, part: ReadonlyMap<string, number>): boolean {
  for (const [word, count] of part) if ((all.get(word) ?? 0) < count) return false;
  return true;
}
