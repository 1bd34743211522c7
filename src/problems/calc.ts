/**
 * Generated problems that a short Python program answers: 14 families in three levels. Seeded; a problem's split follows from its
 * numbers alone, so training and evaluation never share one. Does not run programs: see `teacher.ts`.
 */
import type { Problem } from '../domain/problem.js';
import { deriveSeed, Random } from '../random.js';
import { UserError } from '../userError.js';
import type { CalcLevel, CalcSize, Family } from './calc/family.js';
import { LEVEL_1 } from './calc/level1.js';
import { LEVEL_2 } from './calc/level2.js';
import { LEVEL_3 } from './calc/level3.js';

export type { CalcLevel, CalcSize } from './calc/family.js';

export interface CalcProblem extends Problem {
  readonly answer: string;
  readonly tags: { readonly family: string; readonly level: CalcLevel };
  /** Right Python programs, the plainest first; the last line is an expression with the answer. */
  readonly programs: readonly string[];
  /** Plausible mistakes in the same form; now and then one is right by luck. */
  readonly wrongPrograms: readonly string[];
  /** One-sentence analyses of what has to be computed, alternatives of each other. */
  readonly explanation: readonly string[];
  /** A worked solution in plain text: every `expression = value` in it is true, and its last number is the answer. */
  readonly solution: string;
}

export type CalcSplit = 'train' | 'evaluation';

export interface CalcOptions {
  readonly size: CalcSize;
  readonly split: CalcSplit;
  readonly seed: number;
  /** All three when absent. */
  readonly levels?: readonly CalcLevel[];
}

export const CALC_FAMILIES: readonly Family[] = [...LEVEL_1, ...LEVEL_2, ...LEVEL_3];

/** One problem in four belongs to the evaluation. */
const EVALUATION_SHARE = 4;
/** The largest set that is made at once: every level has as many problems in each split, and several times as many where numbers are not tiny. */
const LARGEST_SET: Readonly<Record<CalcSize, number>> = { standard: 100_000, small: 100_000, tiny: 600 };

/** A set without duplicates, families in equal parts as long as they have new problems.
 * @param options.exclude ids that must not occur
 * @throws UserError when `count` is more than a set may hold */
export function calcProblems(options: CalcOptions & { readonly count: number; readonly exclude?: Iterable<string> }): CalcProblem[] {
  const largest = LARGEST_SET[options.size];
  if (options.count > largest) {
    throw new UserError(
      `calc: a set${options.size === 'tiny' ? ' of tiny problems' : ''} holds at most ${largest} problems; ${options.count} were asked for`,
      'Leave count out for an endless stream.',
    );
  }
  const seen = new Set(options.exclude);
  const problems: CalcProblem[] = [];
  const stream = calcStream(options);
  while (problems.length < options.count) {
    const problem = stream.next().value;
    if (seen.has(problem.id)) continue;
    seen.add(problem.id);
    problems.push(problem);
  }
  return problems;
}

/** Endless problems; every family once in each round. Position `start` gives the same problem whether or not those before it were drawn.
 * Problems come again after long. */
export function* calcStream(options: CalcOptions & { readonly start?: number }): Generator<CalcProblem, never, void> {
  const families = CALC_FAMILIES.filter((family) => options.levels?.includes(family.level) ?? true);
  if (families.length === 0) throw new UserError('calc: no level is left', 'Levels are 1, 2 and 3.');
  for (let position = options.start ?? 0; ; position++) {
    const round = Math.floor(position / families.length);
    const order = new Random(deriveSeed('calc round', options.seed, options.split, round)).shuffle(families);
    yield drawFor(options, order[position % families.length]!, new Random(deriveSeed('calc', options.seed, options.split, position)));
  }
}

function drawFor(options: CalcOptions, family: Family, random: Random): CalcProblem {
  for (;;) {
    const { key, answer, ...rest } = family.draw(random, family.level > 1 && options.size === 'tiny' ? 'small' : options.size);
    const id = `${family.name}:${key}`;
    if (splitOf(id) !== options.split) continue;
    return { id, source: 'calc', tags: { family: family.name, level: family.level }, answer: answer.toString(), ...rest };
  }
}

/** The split that a problem's id belongs to: by a hash, whatever the seed. */
export const splitOf = (id: string): CalcSplit => (deriveSeed('calc split', id) % EVALUATION_SHARE === 0 ? 'evaluation' : 'train');
