/**
 * How diverse a set of texts is, in figures that can be compared between sets of different size: what depends on size is taken from a seeded
 * sample of fixed size. Each measure is defined in docs/data.md. Does not read files.
 */
import { deriveSeed, Random } from '../random.js';
import { runsOf } from './duplicates/hash.js';
import { featuresOf, jaccard } from './duplicates/sameProblem.js';
import { isNumber, wordsOf } from './duplicates/words.js';

export interface DiverseText {
  readonly text: string;
  /** A data set's or a file's name. */
  readonly source?: string | undefined;
  /** A kind of problem: `math`, `code`, … */
  readonly ability?: string | undefined;
}

export interface Share {
  readonly name: string;
  readonly rows: number;
  /** Of all rows, in [0, 1]. */
  readonly share: number;
}

export interface Diversity {
  readonly rows: number;
  /** Mean words of a text, over all rows. */
  readonly wordsPerText: number;
  /** Largest first; those beyond 40 are summed up as `others`. */
  readonly sources: readonly Share[];
  readonly abilities: readonly Share[];
  /** Shannon entropy of the shares, bits; 0 for one source. */
  readonly sourceEntropy: number;
  readonly abilityEntropy: number;
  /** Texts in the sample that the rest is measured on. */
  readonly sample: number;
  /** Different words of the sample; numbers count as one word. */
  readonly vocabulary: number;
  /** Shannon entropy of the words of the sample, bits. */
  readonly wordEntropy: number;
  /** Different runs of 2 and of 3 words over all runs of the sample, in [0, 1]. */
  readonly distinct2: number;
  readonly distinct3: number;
  /** Share of texts of the sample whose wording, numbers aside, no other text of the sample has. */
  readonly ownWording: number;
  /** Mean over the texts of a smaller sample of the similarity (Jaccard) to the most similar other one. */
  readonly nearestSimilarity: number;
}

export interface DiversityOptions {
  /** Texts of the sample. Default 2000. */
  readonly sample?: number;
  /** Texts among which nearest neighbours are looked for. Default 500. */
  readonly neighbours?: number;
  readonly seed?: number;
}

const MOST_NAMES = 40;
/** Names of sources counted one by one; beyond them a set names every row otherwise. */
const MOST_COUNTED = 10_000;

/** Takes texts one by one; holds the sample and the counts. */
export class DiversityMeter {
  readonly #size: number;
  readonly #neighbours: number;
  readonly #random: Random;
  readonly #sample: string[] = [];
  readonly #sources = new Map<string, number>();
  readonly #abilities = new Map<string, number>();
  #rows = 0;
  #words = 0;

  constructor({ sample = 2000, neighbours = 500, seed = 1 }: DiversityOptions = {}) {
    this.#size = sample;
    this.#neighbours = neighbours;
    this.#random = new Random(deriveSeed('diversity', seed));
  }

  add({ text, source = 'unknown', ability = 'unknown' }: DiverseText): void {
    this.#rows++;
    this.#words += countWords(text);
    count(this.#sources, source);
    count(this.#abilities, ability);
    // Reservoir sampling: every row has the same chance to be in the sample.
    const place = this.#rows <= this.#size ? this.#rows - 1 : this.#random.int(0, this.#rows - 1);
    if (place < this.#size) this.#sample[place] = text;
  }

  /** Texts in the sample. */
  get sampled(): number {
    return this.#sample.length;
  }

  /** @param size texts of the sample that are used: two sets are compared on samples of one size */
  result(size = this.sampled): Diversity {
    // The places in a reservoir are not by chance.
    const texts = new Random(deriveSeed('sample')).shuffle(this.#sample).slice(0, size).map(wordsOf);
    const words = new Map<string, number>();
    const wordings = new Map<string, number>();
    const runs = { two: new Set<number>(), three: new Set<number>() };
    let allTwo = 0;
    let allThree = 0;
    for (const text of texts) {
      const plain = text.map((word) => (isNumber(word) ? '#' : word));
      for (const word of plain) count(words, word);
      count(wordings, plain.join(' '));
      const two = runsOf(plain, 2);
      const three = runsOf(plain, 3);
      allTwo += two.length;
      allThree += three.length;
      for (const run of two) runs.two.add(run);
      for (const run of three) runs.three.add(run);
    }
    const own = [...wordings.values()].filter((times) => times === 1).length;
    return {
      rows: this.#rows,
      wordsPerText: this.#rows === 0 ? 0 : this.#words / this.#rows,
      sources: sharesOf(this.#sources, this.#rows),
      abilities: sharesOf(this.#abilities, this.#rows),
      sourceEntropy: entropyOf(this.#sources.values()),
      abilityEntropy: entropyOf(this.#abilities.values()),
      sample: texts.length,
      vocabulary: words.size,
      wordEntropy: entropyOf(words.values()),
      distinct2: ratio(runs.two.size, allTwo),
      distinct3: ratio(runs.three.size, allThree),
      ownWording: ratio(own, texts.length),
      nearestSimilarity: nearestSimilarity(texts.slice(0, this.#neighbours).map((text) => new Set(featuresOf(text)))),
    };
  }
}

/** @param texts a list or a stream of them */
export async function diversityOf(
  texts: Iterable<DiverseText> | AsyncIterable<DiverseText>,
  options: DiversityOptions = {},
): Promise<Diversity> {
  const meter = new DiversityMeter(options);
  for await (const text of texts) meter.add(text);
  return meter.result();
}

function countWords(text: string): number {
  let words = 0;
  let inside = false;
  for (let i = 0; i < text.length; i++) {
    const blank = text.charCodeAt(i) <= 32;
    if (!blank && !inside) words++;
    inside = !blank;
  }
  return words;
}

function count(counts: Map<string, number>, name: string): void {
  const key = counts.has(name) || counts.size < MOST_COUNTED ? name : 'others';
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function sharesOf(counts: ReadonlyMap<string, number>, all: number): Share[] {
  const sorted = [...counts].sort(([one, a], [two, b]) => b - a || (one < two ? -1 : 1));
  const shown = sorted.slice(0, MOST_NAMES).map(([name, rows]) => ({ name, rows, share: rows / all }));
  const rest = sorted.slice(MOST_NAMES).reduce((sum, [, rows]) => sum + rows, 0);
  return rest === 0 ? shown : [...shown, { name: 'others', rows: rest, share: rest / all }];
}

function entropyOf(counts: Iterable<number>): number {
  const list = [...counts];
  const all = list.reduce((sum, one) => sum + one, 0);
  return list.reduce((sum, one) => (one === 0 ? sum : sum - (one / all) * Math.log2(one / all)), 0);
}

const ratio = (part: number, all: number): number => (all === 0 ? 0 : part / all);

function nearestSimilarity(texts: readonly ReadonlySet<number>[]): number {
  if (texts.length < 2) return 0;
  const nearest = new Float64Array(texts.length);
  for (let i = 0; i < texts.length; i++) {
    for (let j = 0; j < i; j++) {
      // The smaller over the larger is the most that the similarity can be.
      const [one, two] = [texts[i]!, texts[j]!];
      const most = Math.min(one.size, two.size) / Math.max(one.size, two.size, 1);
      if (most <= nearest[i]! && most <= nearest[j]!) continue;
      const similarity = jaccard(one, two);
      nearest[i] = Math.max(nearest[i]!, similarity);
      nearest[j] = Math.max(nearest[j]!, similarity);
    }
  }
  return nearest.reduce((sum, one) => sum + one, 0) / texts.length;
}
