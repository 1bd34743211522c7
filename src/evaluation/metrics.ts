/**
 * Accuracy over several rollouts a problem: average@n, unbiased pass@k, maj@n. Pure. Does not grade and does not run anything.
 *
 * Infrastructure failures are no wrong answers. Each figure is given twice: over the valid rollouts, and over all that were asked for, where
 * a failure counts as not solved.
 */
import { type BootstrapOptions, bootstrapInterval, type Interval } from './bootstrap.js';

export type Sample =
  /** `answer`: what was read as the answer; absent: none, which is no vote. */
  { readonly kind: 'graded'; readonly correct: boolean; readonly answer?: string } | { readonly kind: 'infra' };

/** The rollouts of one problem. */
export interface ProblemSamples {
  readonly problemId: string;
  readonly samples: readonly Sample[];
}

/** `valid` leaves infrastructure failures out; `all` counts them as not solved. */
export type Over = 'valid' | 'all';

export interface Figure {
  /** Mean over problems, in [0, 1]. */
  readonly value: number;
  /** Bootstrap over problems. */
  readonly interval: Interval;
  /** Problems in it. */
  readonly problems: number;
}

export interface Accuracy {
  readonly problems: number;
  readonly samples: number;
  /** Samples that infrastructure failures took. */
  readonly infra: number;
  /** Absent where no sample is valid. */
  readonly valid?: Figures;
  /** Absent where there are no samples. */
  readonly all?: Figures;
}

export interface Figures {
  readonly average: Figure;
  readonly majority: Figure;
  /** By k. Over the valid ones a problem with fewer than k is left out; absent where that leaves none. */
  readonly passAt: Readonly<Record<number, Figure>>;
}

/** average@n of one problem: the share of right samples. Absent where there is none to count. */
export function averageOf(samples: readonly Sample[], over: Over = 'valid'): number | undefined {
  const { right, counted } = tally(samples, over);
  return counted === 0 ? undefined : right / counted;
}

/**
 * Unbiased pass@k: 1 - C(n - c, k) / C(n, k), the chance that k of the n samples, drawn without putting back, hold a right one.
 *
 * @param n samples
 * @param c right ones
 * @throws RangeError where k > n: that many were not drawn, and nothing can be said
 */
export function passAtK(n: number, c: number, k: number): number {
  if (![n, c, k].every(Number.isInteger) || c < 0 || c > n)
    throw new RangeError(`pass@k needs whole numbers with 0 <= c <= n: n=${n}, c=${c}, k=${k}`);
  if (k < 1 || k > n) throw new RangeError(`pass@${k} cannot be told from ${n} samples: k must be from 1 to ${n}`);
  let allWrong = 1;
  for (let i = 0; i < k; i++) allWrong *= Math.max(0, n - c - i) / (n - i);
  return 1 - allWrong;
}

/**
 * maj@n of one problem: 1 where the answer with most votes is right. Answers are one class where their text is equal after trimming; right
 * answers are one class whatever their form ("0.5" and "1/2"). No answer is no vote. Ties are shared equally: with the right class among m
 * leading ones it is 1/m. Without any vote it is 0. Absent where there is no sample to count.
 */
export function majorityOf(samples: readonly Sample[], over: Over = 'valid'): number | undefined {
  if (tally(samples, over).counted === 0) return undefined;
  const votes = new Map<string, number>();
  for (const sample of samples) {
    const answer = sample.kind === 'graded' ? sample.answer?.trim() : undefined;
    if (answer === undefined || answer === '') continue;
    const key = sample.kind === 'graded' && sample.correct ? 'right' : `wrong ${answer}`;
    votes.set(key, (votes.get(key) ?? 0) + 1);
  }
  const most = Math.max(0, ...votes.values());
  if (most === 0 || votes.get('right') !== most) return 0;
  return 1 / [...votes.values()].filter((count) => count === most).length;
}

/**
 * All figures over problems; each problem weighs the same.
 *
 * @param options.passAt the k to give
 * @throws RangeError where a k is above the number of samples of a problem
 */
export function accuracy(
  problems: readonly ProblemSamples[],
  options: BootstrapOptions & { readonly passAt?: readonly number[] } = {},
): Accuracy {
  const { passAt = [], ...bootstrap } = options;
  const samples = problems.flatMap((problem) => problem.samples);
  const infra = samples.filter((sample) => sample.kind === 'infra').length;
  for (const { problemId, samples: mine } of problems) {
    for (const k of passAt) {
      if (k > mine.length) throw new RangeError(`pass@${k} cannot be told from the ${mine.length} samples of problem ${problemId}`);
    }
  }
  const figures = (over: Over): Figures => ({
    average: figure(problems, (problem) => averageOf(problem.samples, over), bootstrap)!,
    majority: figure(problems, (problem) => majorityOf(problem.samples, over), bootstrap)!,
    passAt: Object.fromEntries(
      passAt.flatMap((k) => {
        const at = figure(problems, (problem) => passOf(problem.samples, k, over), bootstrap);
        return at ? [[k, at]] : [];
      }),
    ),
  });
  return {
    problems: problems.length,
    samples: samples.length,
    infra,
    ...(samples.length > infra ? { valid: figures('valid') } : {}),
    ...(samples.length > 0 ? { all: figures('all') } : {}),
  };
}

function passOf(samples: readonly Sample[], k: number, over: Over): number | undefined {
  const { right, counted } = tally(samples, over);
  return k > counted ? undefined : passAtK(counted, right, k);
}

function tally(samples: readonly Sample[], over: Over): { right: number; counted: number } {
  let right = 0;
  let counted = 0;
  for (const sample of samples) {
    if (sample.kind === 'graded' || over === 'all') counted++;
    if (sample.kind === 'graded' && sample.correct) right++;
  }
  return { right, counted };
}

function figure(
  problems: readonly ProblemSamples[],
  of: (problem: ProblemSamples) => number | undefined,
  options: BootstrapOptions,
): Figure | undefined {
  const values = problems.map(of).filter((value) => value !== undefined);
  if (values.length === 0) return undefined;
  const value = values.reduce((sum, x) => sum + x, 0) / values.length;
  return { value, interval: bootstrapInterval(values, options), problems: values.length };
}
