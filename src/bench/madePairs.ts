/**
 * Pairs of texts of which it is known whether they are the same problem: edited and reordered copies on the one side; on the other, copies
 * with other numbers, another operation or the opposite wanted, and other problems in the same words. Seeded. Knows nothing of the detector.
 */
import { deriveSeed, Random } from '../random.js';
import { type MadeProblem, madeProblem, textOf } from './madeProblems.js';

export interface MadePair {
  readonly first: string;
  readonly second: string;
  readonly same: boolean;
  /** How the second was made from the first. */
  readonly how: string;
}

/** Half of them the same problem. */
export function madePairs(seed: number, count: number): MadePair[] {
  return Array.from({ length: count }, (_, index) => {
    const random = new Random(deriveSeed('made pair', seed, index));
    const problem = madeProblem(deriveSeed('pairs', seed), index);
    return index % 2 === 0 ? edited(problem, random) : different(problem, random, seed, index);
  });
}

type Edit = (problem: MadeProblem, random: Random) => MadeProblem;

function edited(problem: MadeProblem, random: Random): MadePair {
  const names = editsFor(random);
  return { first: textOf(problem), second: textOf(applied(problem, names, random)), same: true, how: names.join('+') };
}

/** The same problem, in other words or another order. */
export const editedCopy = (problem: MadeProblem, random: Random): MadeProblem => applied(problem, editsFor(random), random);

const editsFor = (random: Random): string[] => random.shuffle(Object.keys(EDITS)).slice(0, random.int(1, 3));

function applied(problem: MadeProblem, names: readonly string[], random: Random): MadeProblem {
  let changed = problem;
  for (const name of names) changed = EDITS[name]!(changed, random);
  // A copy that no edit could touch is at least spaced differently.
  return textOf(changed) === textOf(problem) ? EDITS.layout!(changed, random) : changed;
}

function different(problem: MadeProblem, random: Random, seed: number, index: number): MadePair {
  const first = textOf(problem);
  const hasNumbers = (first.match(/\d+/g) ?? []).length;
  const how =
    hasNumbers === 0
      ? random.pick(['opposite', 'other'])
      : random.pick(['number', 'number', 'number', 'numbers', 'swapped', 'opposite', 'other']);
  let second = first;
  if (how === 'number') second = changeNumbers(first, random, 1);
  else if (how === 'numbers') second = changeNumbers(first, random, hasNumbers);
  else if (how === 'swapped') second = swapNumbers(first, random) ?? changeNumbers(first, random, 1);
  else if (how === 'opposite') second = opposite(first) ?? '';
  if (how === 'other' || second === '' || second === first) {
    second = textOf(madeProblem(deriveSeed('other', seed), index, problem.kind));
    return { first, second, same: false, how: 'other' };
  }
  // Half of them are also laid out otherwise: that must not hide the change.
  const laid = random.chance(0.5) ? textOf(EDITS.layout!({ ...problem, sentences: [second] }, random)) : second;
  return { first, second: laid, same: false, how };
}

function changeNumbers(text: string, random: Random, howMany: number): string {
  const places = [...text.matchAll(/(?<![\w.])\d+(?![\w.]*\d)/g)];
  const all = places.length > 0 ? places : [...text.matchAll(/\d+/g)];
  const chosen = new Set(random.shuffle(all.map((match) => match.index)).slice(0, howMany));
  return text.replace(/\d+/g, (digits, at: number) => {
    if (!chosen.has(at)) return digits;
    const value = Number(digits);
    return String(
      random.pick([value + 1, value + random.int(2, 9), value * 10, Math.max(1, value - 1) === value ? value + 3 : Math.max(1, value - 1)]),
    );
  });
}

/** Exchanges two different numbers that stand in different surroundings. */
function swapNumbers(text: string, random: Random): string | undefined {
  const places = [...text.matchAll(/\d+/g)].map((match) => ({ at: match.index, digits: match[0] }));
  const pairs = places.flatMap((one, i) =>
    places
      .slice(i + 1)
      .filter((two) => two.digits !== one.digits)
      .map((two) => [one, two] as const),
  );
  if (pairs.length === 0) return undefined;
  const [one, two] = random.pick(pairs);
  return (
    text.slice(0, one.at) +
    two.digits +
    text.slice(one.at + one.digits.length, two.at) +
    one.digits +
    text.slice(two.at + two.digits.length)
  );
}

const OPPOSITES: readonly (readonly [RegExp, string])[] = [
  [/\blargest\b/, 'smallest'],
  [/\bminimum\b/, 'maximum'],
  [/\blongest\b/, 'shortest'],
  [/\bodd\b/, 'even'],
  [/\bnecessarily even\b/, 'necessarily odd'],
  [/\bsum\b/, 'product'],
  [/ \+ /, ' - '],
  [/\bmore\b/, 'fewer'],
  [/\bat most\b/, 'at least'],
  [/\bperpendicular\b/, 'parallel'],
  [/\bloses\b/, 'wins'],
  [/\bleft\b/, 'missing'],
];

function opposite(text: string): string | undefined {
  const found = OPPOSITES.find(([from]) => from.test(text));
  return found === undefined ? undefined : text.replace(found[0], found[1]);
}

const SYNONYMS: readonly (readonly [string, string])[] = [
  ['takes away', 'removes'],
  ['brings', 'delivers'],
  ['buys', 'purchases'],
  ['There are', 'One finds'],
  ['Find', 'Determine'],
  ['Determine', 'Find'],
  ['Compute', 'Calculate'],
  ['Calculate', 'Work out'],
  ['Suppose that', 'Assume'],
  ['Consider', 'Look at'],
  ['such that', 'so that'],
  ['together with', 'along with'],
  ['Print', 'Output'],
  ['contains', 'holds'],
  ['different', 'distinct'],
  ['a crate', 'a large crate'],
  ['in a row', 'in one line'],
  ['carry', 'haul'],
  ['finished', 'done'],
  ['completely', 'fully'],
  ['needed', 'required'],
  ['is heated', 'gets heated'],
  ['falls on', 'strikes'],
  ['begins', 'starts'],
  ['friendship is mutual', 'friendship goes both ways'],
  ['What is', "What's"],
  ['How many', 'Exactly how many'],
  ['positive real numbers', 'positive reals'],
  ['every', 'each'],
  ['for all', 'for any'],
  ['You are given', 'Given is'],
  ['Decide whether', 'Tell whether'],
];

const FILLERS_BEFORE = [
  'Please solve the following problem.',
  'Here is a question for you.',
  'Exercise:',
  'Solve carefully:',
  'Problem 7.',
  '12)',
  'Question 3:',
];
const FILLERS_AFTER = [
  'Explain your reasoning.',
  'Show all steps.',
  'Give your final answer at the end.',
  'Good luck!',
  'Round only where needed.',
];
const DIGIT_WORDS = words0to20();

function words0to20(): readonly string[] {
  return 'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty'.split(
    ' ',
  );
}

const overText =
  (change: (text: string, random: Random) => string): Edit =>
  (problem, random) => ({ ...problem, sentences: problem.sentences.map((sentence) => change(sentence, random)) });

const EDITS: Readonly<Record<string, Edit>> = {
  layout: (problem, random) => {
    const change = random.pick<(text: string) => string>([
      (text) => text.toUpperCase(),
      (text) => text.replaceAll(' ', '  '),
      (text) => text.replaceAll('$', ''),
      (text) => text.replaceAll(/[,.](?= |$)/g, ' '),
      (text) => text.replaceAll('\\frac', '\\dfrac').replaceAll('\\cdot', '\\times').replaceAll('\\ge ', '\\geq ').replaceAll(' < ', '<'),
      (text) => `**${text}**\n`,
      (text) => text.replaceAll("'", '’').replaceAll(' - ', ' − '),
      (text) => text.replaceAll(/\$([^$]+)\$/g, '\\($1\\)'),
    ]);
    return { ...problem, sentences: problem.sentences.map(change) };
  },
  synonyms: overText((text, random) =>
    SYNONYMS.reduce((done, [from, to]) => (random.chance(0.7) ? done.replace(new RegExp(`\\b${from}\\b`), to) : done), text),
  ),
  typos: overText((text, random) =>
    text.replace(/\b[a-z]{6,}\b/g, (word) => {
      if (!random.chance(0.1)) return word;
      const at = random.int(1, word.length - 2);
      return random.chance(0.5) ? word.slice(0, at) + word.slice(at + 1) : word.slice(0, at) + word[at + 1] + word[at] + word.slice(at + 2);
    }),
  ),
  articles: overText((text, random) => text.replace(/\b(the|a|an|of the) /g, (article) => (random.chance(0.35) ? '' : article))),
  before: (problem, random) => ({ ...problem, sentences: [random.pick(FILLERS_BEFORE), ...problem.sentences] }),
  after: (problem, random) => ({ ...problem, sentences: [...problem.sentences, random.pick(FILLERS_AFTER)] }),
  reordered: (problem, random) => {
    const { sentences } = problem;
    if (sentences.length < 3) return { ...problem, sentences: [...sentences].reverse() };
    return { ...problem, sentences: [...random.shuffle(sentences.slice(0, -1)), sentences.at(-1)!] };
  },
  askedFirst: (problem) => ({ ...problem, sentences: [problem.sentences.at(-1)!, ...problem.sentences.slice(0, -1)] }),
  names: (problem, random) => {
    const text = textOf(problem);
    const name = /\b(?:named|On \w+day) ([A-Z][a-z]+)|^([A-Z][a-z]{2,}) (?:works|arranges)/.exec(text);
    const found = name?.[1] ?? name?.[2];
    if (found === undefined) return problem;
    const other = random.pick(['Ludmila', 'Roberto', 'Shirin', 'Timothy']);
    return { ...problem, sentences: problem.sentences.map((sentence) => sentence.replaceAll(new RegExp(`\\b${found}\\b`, 'g'), other)) };
  },
  spelledNumbers: overText((text, random) =>
    text.includes('$')
      ? text
      : text.replace(/(?<=[a-z] )(\d+)(?= [a-z])/g, (digits) => {
          const word = DIGIT_WORDS[Number(digits)];
          return word !== undefined && Number(digits) > 1 && random.chance(0.8) ? word : digits;
        }),
  ),
  thousands: overText((text) => text.replace(/(?<![\d.])(\d{1,3})(\d{3})(?!\d)/g, '$1,$2')),
  joined: (problem) => {
    const { sentences } = problem;
    if (sentences.length < 3) return problem;
    const [first, second, ...rest] = sentences as [string, string, ...string[]];
    return { ...problem, sentences: [`${first.replace(/\.$/, '')}; ${second}`, ...rest] };
  },
};
