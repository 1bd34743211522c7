/**
 * Whether two texts are one problem: exactly, nearly, or not. Numbers belong to what a problem is: where one differs, or two are exchanged,
 * the problems are two, however alike their words. The rule stands in docs/data.md. Does not search for candidates (`findDuplicates.ts`).
 */
import { combine, hashText } from './hash.js';
import { isNumber, isSign, type Words } from './words.js';

export interface Sameness {
  readonly same: 'exact' | 'near' | false;
  /** Jaccard of the features, in [0, 1]; 1 where the words are equal. */
  readonly similarity: number;
  /** What keeps them apart. */
  readonly reason?: 'numbers' | 'numbers exchanged' | 'signs' | 'opposite' | 'words';
}

/** Similarity from which two texts are one problem, by how many numbers they share: the more numbers agree, the less the words must. */
const BOUNDS = [0.7, 0.65, 0.55, 0.55, 0.42] as const;
/** So many equal numbers hardly meet by chance. */
export const MANY_NUMBERS = BOUNDS.length - 1;

const boundFor = (numbers: string): number => BOUNDS[Math.min(countOf(numbers), MANY_NUMBERS)]!;
export const countOf = (numbers: string): number => (numbers === '' ? 0 : numbers.split(' ').length);

/** A text with what comparing it needs, made once. */
export interface Fingerprint {
  readonly words: Words;
  /** The numbers, sorted, as one text. */
  readonly numbers: string;
  /** Hashes of words and of pairs of neighbours; every number counts as the same word. */
  readonly features: ReadonlySet<number>;
}

export function fingerprint(words: Words): Fingerprint {
  return { words, numbers: numbersKey(words), features: new Set(featuresOf(words)) };
}

export const numbersKey = (words: Words): string => words.filter(isNumber).sort().join(' ');

const NUMBER = hashText('#');

/** With repeats. */
export function featuresOf(words: Words): number[] {
  const features: number[] = [];
  let before = 0;
  for (const word of words) {
    const hash = isNumber(word) ? NUMBER : hashText(word);
    features.push(hash);
    if (before !== 0) features.push(combine(before, hash));
    before = hash;
  }
  return features;
}

export function sameProblem(one: Fingerprint, two: Fingerprint): Sameness {
  if (one.numbers !== two.numbers) return { same: false, similarity: 0, reason: 'numbers' };
  if (equalWords(one.words, two.words)) return { same: 'exact', similarity: 1 };
  const similarity = jaccard(one.features, two.features);
  if (similarity < boundFor(one.numbers)) return { same: false, similarity, reason: 'words' };
  const [extra, missing] = differences(one.words, two.words);
  if (exchangesSigns(extra, missing)) return { same: false, similarity, reason: 'signs' };
  if (exchangesOpposites(extra, missing)) return { same: false, similarity, reason: 'opposite' };
  if (exchangesNumbers(one.words, two.words)) return { same: false, similarity, reason: 'numbers exchanged' };
  return { same: 'near', similarity };
}

const equalWords = (one: Words, two: Words): boolean => one.length === two.length && one.every((word, index) => word === two[index]);

/** |A ∩ B| / |A ∪ B|; 1 where both are empty. */
export function jaccard(one: ReadonlySet<number>, two: ReadonlySet<number>): number {
  const [small, large] = one.size < two.size ? [one, two] : [two, one];
  let common = 0;
  for (const feature of small) if (large.has(feature)) common++;
  const all = one.size + two.size - common;
  return all === 0 ? 1 : common / all;
}

/** Words of the first that the second has less often, and the other way round. */
function differences(one: Words, two: Words): [extra: Set<string>, missing: Set<string>] {
  const counts = new Map<string, number>();
  for (const word of one) counts.set(word, (counts.get(word) ?? 0) + 1);
  for (const word of two) counts.set(word, (counts.get(word) ?? 0) - 1);
  const extra = new Set<string>();
  const missing = new Set<string>();
  for (const [word, count] of counts) if (count !== 0) (count > 0 ? extra : missing).add(word);
  return [extra, missing];
}

/** A sign more here and another more there; one that was only left out is a way of writing. */
function exchangesSigns(extra: ReadonlySet<string>, missing: ReadonlySet<string>): boolean {
  return [...extra].some(isSign) && [...missing].some(isSign);
}

const LOW = 'smallest least minimum minimal min lowest shortest fewest minimize minimise'.split(' ');
const HIGH = 'largest greatest maximum maximal max biggest highest longest most maximize maximise'.split(' ');

/** Words that turn a problem into another one when exchanged. */
const OPPOSITES: readonly (readonly [readonly string[], readonly string[]])[] = [
  [LOW, HIGH],
  [['odd'], ['even']],
  [
    ['sum', 'total'],
    ['product', 'difference', 'quotient'],
  ],
  [['product'], ['difference', 'quotient']],
  [['difference'], ['quotient', 'ratio']],
  [
    ['more', 'greater', 'larger', 'longer', 'older', 'taller', 'higher', 'above', 'over'],
    ['less', 'fewer', 'smaller', 'shorter', 'younger', 'lower', 'below', 'under'],
  ],
  [
    ['increase', 'increases', 'increased', 'increasing', 'gains', 'rises', 'adds', 'added'],
    ['decrease', 'decreases', 'decreased', 'decreasing', 'loses', 'falls', 'subtracts', 'subtracted'],
  ],
  [['perpendicular'], ['parallel']],
  [
    ['wins', 'win'],
    ['loses', 'lose'],
  ],
  [['before'], ['after']],
  [['inside'], ['outside']],
  [['left'], ['right']],
  [['first'], ['last']],
  [['positive'], ['negative']],
  [['rational'], ['irrational']],
  [['prime'], ['composite']],
  [['with'], ['without']],
  [
    ['north', 'south'],
    ['east', 'west'],
  ],
  [['north'], ['south']],
  [['east'], ['west']],
  [['inscribed'], ['circumscribed']],
  [['area'], ['perimeter', 'circumference', 'volume']],
  [
    ['sine', 'sin'],
    ['cosine', 'cos', 'tangent', 'tan'],
  ],
  [
    ['mean', 'average'],
    ['median', 'mode'],
  ],
  [['numerator'], ['denominator']],
];

function exchangesOpposites(extra: ReadonlySet<string>, missing: ReadonlySet<string>): boolean {
  const has = (words: ReadonlySet<string>, list: readonly string[]): boolean => list.some((word) => words.has(word));
  return OPPOSITES.some(([one, two]) => (has(extra, one) && has(missing, two)) || (has(extra, two) && has(missing, one)));
}

/** Words on each side of a number that say which number it is. */
const CONTEXT = 3;

/**
 * The numbers are the same, but some changed places: a number's surroundings are found, in the other text, around another number, and there
 * better than around any equal one. Two numbers that stand in each other's places are enough; for one alone, and where the numbers follow
 * each other in the same order, it must be much better: edited words blur places.
 */
function exchangesNumbers(one: Words, two: Words): boolean {
  const theirs = places(two);
  const ordered = sameOrder(one, two);
  if (theirs.length > MOST_PLACES) return !ordered;
  const moved = new Set<string>();
  for (const here of places(one)) {
    let equal = 0;
    let other = 0;
    let value = '';
    for (const there of theirs) {
      const alike = likeness(here, there);
      if (there.value === here.value) equal = Math.max(equal, alike);
      else if (alike > other) {
        other = alike;
        value = there.value;
      }
    }
    if (other < CLEAR || other <= equal) continue;
    if (other >= equal + MUCH || (!ordered && moved.has(`${value} ${here.value}`))) return true;
    moved.add(`${here.value} ${value}`);
  }
  return false;
}

/** By so much better that no second number is asked. */
const MUCH = 5;

/** Beyond it the comparison of all with all costs too much; then their order decides. */
const MOST_PLACES = 64;
/** Of at most 2 * (3 + 2 + 1). */
const CLEAR = 3;

interface Place {
  readonly value: string;
  readonly around: readonly (string | undefined)[];
}

function places(words: Words): Place[] {
  const found: Place[] = [];
  words.forEach((value, at) => {
    if (!isNumber(value)) return;
    const around = Array.from({ length: CONTEXT }, (_, i) => [words[at - 1 - i], words[at + 1 + i]]).flat();
    found.push({ value, around });
  });
  return found;
}

/** Near neighbours weigh more. */
function likeness(one: Place, two: Place): number {
  let sum = 0;
  for (let i = 0; i < one.around.length; i++)
    if (one.around[i] !== undefined && one.around[i] === two.around[i]) sum += CONTEXT - Math.floor(i / 2);
  return sum;
}

const sameOrder = (one: Words, two: Words): boolean => one.filter(isNumber).join(' ') === two.filter(isNumber).join(' ');
