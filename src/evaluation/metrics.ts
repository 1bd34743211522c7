/**
 * Accuracy over several rollouts a problem: average@n, unbiased pass@k, maj@k. Pure. Does not grade and does not run anything.
 *
 * Infrastructure failures are no wrong answers. Each figure is given twice: over the valid rollouts, and over all that were asked for, where
 * a failure counts as not solved.
 */
import { answerKey } from '../reward/math/gradeAnswer.js';
import { UserError } from '../userError.js';
import { type BootstrapOptions, bootstrapInterval, type Interval } from './bootstrap.js';
import { majorityAtK, type Votes } from './majority.js';
import { referenceAtK } from './referenceMetrics.js';

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
  /** avg@n, which is also the expectation of avg@k for every k. */
  readonly average: Figure;
  /** maj@n: of all samples of a problem. */
  readonly majority: Figure;
  /** By k. Over the valid ones a problem with fewer than k is left out; absent where that leaves none. */
  readonly passAt: Readonly<Record<number, Figure>>;
  readonly majorityAt: Readonly<Record<number, Figure>>;
  /** As the released code computes its best@k and maj@k, for comparing with figures made so: see `referenceMetrics.ts`. */
  readonly referenceBestAt: Readonly<Record<number, Figure>>;
  readonly referenceMajorityAt: Readonly<Record<number, Figure>>;
}

/** The k of pass@k and maj@k that are given for n samples: 1, 2, 4, ... and n itself. */
export function powersUpTo(n: number): number[] {
  const ks: number[] = [];
  for (let k = 1; k < n; k *= 2) ks.push(k);
  return [...ks, n];
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
 * @throws UserError where k > n: that many were not drawn, and nothing can be said; RangeError for counts that cannot be
 */
export function passAtK(n: number, c: number, k: number): number {
  if (![n, c, k].every(Number.isInteger) || c < 0 || c > n)
    throw new RangeError(`pass@k needs whole numbers with 0 <= c <= n: n=${n}, c=${c}, k=${k}`);
  if (k < 1) throw new RangeError(`pass@${k}: k must be at least 1`);
  if (k > n) throw tooFew(k, `${n} samples`);
  let allWrong = 1;
  for (let i = 0; i < k; i++) allWrong *= Math.max(0, n - c - i) / (n - i);
  return 1 - allWrong;
}

const tooFew = (k: number, samples: string): UserError =>
  new UserError(
    `pass@${k} cannot be told from ${samples}: k must be at most the number of samples`,
    'Ask for a smaller k, or sample more.',
  );

/**
 * How the samples of one problem vote. Wrong answers are one class where they are equal (as exact values where they have one, else in normal
 * form); right answers are one class whatever their form. No answer is no vote; over all, a failure is none either.
 */
export function votesOf(samples: readonly Sample[], over: Over = 'valid'): Votes {
  let right = 0;
  let silent = 0;
  const wrong = new Map<string, number>();
  for (const sample of samples) {
    if (sample.kind === 'infra') {
      if (over === 'all') silent++;
      continue;
    }
    const answer = sample.answer?.trim() ?? '';
    if (answer === '') silent++;
    else if (sample.correct) right++;
    else wrong.set(answerKey(answer), (wrong.get(answerKey(answer)) ?? 0) + 1);
  }
  return { right, wrong: [...wrong.values()], silent };
}

/**
 * maj@k of one problem, exactly over all draws of k samples: the chance that the answer with most votes is right. Ties are shared equally;
 * see `majorityAtK`. Absent where there are fewer than k samples to count.
 *
 * @param k all samples where absent
 */
export function majorityOf(samples: readonly Sample[], over: Over = 'valid', k?: number): number | undefined {
  const { counted } = tally(samples, over);
  const drawn = k ?? counted;
  return counted === 0 || drawn > counted ? undefined : majorityAtK(votesOf(samples, over), drawn);
}

/**
 * best@k and maj@k as released: over 1000 resamples with replacement under seed 42, where an empty answer votes, spelling splits votes and a
 * tie goes to the answer seen first. Absent where there are fewer than k samples or only one.
 */
export function referenceOf(
  samples: readonly Sample[],
  over: Over,
  k: number,
): { readonly best: number; readonly majority: number } | undefined {
  const votes = samples.flatMap((sample) => {
    if (sample.kind === 'infra') return over === 'all' ? [{ prediction: '', value: 0 }] : [];
    return [{ prediction: sample.answer ?? '', value: Number(sample.correct) }];
  });
  if (votes.length < 2 || k > votes.length) return undefined;
  return referenceAtK(votes, k);
}

/**
 * All figures over problems; each problem weighs the same.
 *
 * @param options.passAt the k to give, of pass@k and maj@k
 * @throws UserError where a k is above the number of samples of a problem
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
      if (k > mine.length) throw tooFew(k, `the ${mine.length} samples of problem ${problemId}`);
    }
  }
  const figures = (over: Over): Figures => {
    const atEach = (of: (samples: readonly Sample[], k: number) => number | undefined): Record<number, Figure> =>
      Object.fromEntries(
        passAt.flatMap((k) => {
          const at = figure(problems, (problem) => of(problem.samples, k), bootstrap);
          return at ? [[k, at]] : [];
        }),
      );
    const reference = new Map(
      passAt.map((k) => [k, new Map(problems.map(({ samples: own }) => [own, k === 1 ? undefined : referenceOf(own, over, k)]))]),
    );
    return {
      average: figure(problems, (problem) => averageOf(problem.samples, over), bootstrap)!,
      majority: figure(problems, (problem) => majorityOf(problem.samples, over), bootstrap)!,
      passAt: atEach((own, k) => passOf(own, k, over)),
      majorityAt: atEach((own, k) => majorityOf(own, over, k)),
      referenceBestAt: atEach((own, k) => reference.get(k)?.get(own)?.best),
      referenceMajorityAt: atEach((own, k) => reference.get(k)?.get(own)?.majority),
    };
  };
  const valid = samples.length > infra ? figures('valid') : undefined;
  // Nothing lost: the same figures.
  const all = samples.length === 0 ? undefined : infra === 0 ? valid : figures('all');
  return { problems: problems.length, samples: samples.length, infra, ...(valid && { valid }), ...(all && { all }) };
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
