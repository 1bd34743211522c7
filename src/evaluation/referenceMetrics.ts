/**
 * The validation figures as the released code gives them: best@n, worst@n and maj@n over 1000 resamples *with replacement*, under seed 42.
 * best@n lies below the unbiased pass@n, and maj@N is not the vote of the N answers: for comparing with published figures only. Ours are in
 * `metrics.ts`.
 */
import { MersenneTwister } from './mersenneTwister.js';

/** Mean, and standard deviation over the resamples (population). */
export interface Resampled {
  readonly mean: number;
  readonly std: number;
}

export interface Vote {
  readonly prediction: unknown;
  readonly value: number;
}

export interface ValidationInput {
  readonly dataSources: readonly string[];
  /** Which prompt a sample belongs to. */
  readonly sampleUids: readonly string[];
  /** By variable: numbers or booleans, one a sample; texts are skipped; `pred` votes. */
  readonly infos: Readonly<Record<string, readonly unknown[]>>;
}

/** By data source, variable and figure (`mean@N`, `best@n/mean`, ...): means over prompts that have the figure. */
export type ValidationMetrics = Record<string, Record<string, Record<string, number>>>;

const RESAMPLES = 1000;
const SEED = 42;

/** @throws RangeError for lists of different length, TypeError for a variable that is neither number nor boolean nor text */
export function processValidationMetrics(input: ValidationInput): ValidationMetrics {
  const perPrompt = new Map<string, Map<string, number[]>>();
  for (const [i, source] of input.dataSources.entries()) {
    const uid = input.sampleUids[i];
    if (uid === undefined) throw new RangeError(`sample ${i} has no uid`);
    const prompts = getOr(perPrompt, source, () => new Map<string, number[]>());
    getOr(prompts, uid, () => []).push(i);
  }
  const result: ValidationMetrics = {};
  for (const [source, prompts] of perPrompt) {
    const values = new Map<string, Map<string, number[]>>();
    for (const samples of prompts.values()) {
      const own = Object.fromEntries(Object.entries(input.infos).map(([name, list]) => [name, samples.map((i) => at(list, i, name))]));
      for (const [name, list] of Object.entries(own)) {
        if (typeof list[0] === 'string') continue;
        const figures = promptFigures(
          list.map((value) => toNumber(value, name)),
          own.pred,
        );
        const all = getOr(values, name, () => new Map<string, number[]>());
        for (const [figure, value] of Object.entries(figures)) getOr(all, figure, () => []).push(value);
      }
    }
    result[source] = Object.fromEntries(
      [...values].map(([name, figures]) => [name, Object.fromEntries([...figures].map(([figure, list]) => [figure, mean(list)]))]),
    );
  }
  return result;
}

/** The figures of one prompt. */
function promptFigures(values: readonly number[], predictions: readonly unknown[] | undefined): Record<string, number> {
  const n = values.length;
  const figures: Record<string, number> = { [`mean@${n}`]: mean(values) };
  if (n === 1) return figures;
  figures[`std@${n}`] = std(values);
  for (const size of referenceSizes(n)) {
    const draws = referenceDraws(n, size);
    const put = (name: string, resampled: Resampled): void => {
      figures[`${name}@${size}/mean`] = resampled.mean;
      figures[`${name}@${size}/std`] = resampled.std;
    };
    put('best', resampled(values, draws, largest));
    put('worst', resampled(values, draws, smallest));
    if (predictions !== undefined) {
      const votes = values.map((value, i) => ({ prediction: predictions[i], value }));
      put('maj', resampled(votes, draws, majorityValue));
    }
  }
  return figures;
}

/** 2, 4, 8, ... below n, and n. */
export function referenceSizes(n: number): number[] {
  const sizes: number[] = [];
  for (let size = 2; size < n; size *= 2) sizes.push(size);
  return [...sizes, n];
}

/** The last few, since every prompt of a set asks for the same. */
const kept = new Map<string, readonly Uint32Array[]>();
const KEPT = 16;

/** The released draws: 1000 times `size` indices below n. The same for every prompt, since the seed is set anew each time. */
export function referenceDraws(n: number, size: number): readonly Uint32Array[] {
  const key = `${n}/${size}`;
  const known = kept.get(key);
  if (known !== undefined) return known;
  const random = new MersenneTwister(SEED);
  const draws = Array.from({ length: RESAMPLES }, () => Uint32Array.from({ length: size }, () => random.below(n)));
  if (kept.size >= KEPT) kept.clear();
  kept.set(key, draws);
  return draws;
}

/** The means of best@k and maj@k of one prompt; the same as by `resampled`, in a fraction of the time. */
export function referenceAtK(votes: readonly Vote[], k: number): { readonly best: number; readonly majority: number } {
  const keys = new Map<unknown, number>();
  const classes = Uint32Array.from(votes, ({ prediction }) => getOr(keys, pythonKey(prediction), () => keys.size));
  const values = Float64Array.from(votes, ({ value }) => value);
  const counts = new Uint32Array(keys.size);
  let best = 0;
  let majority = 0;
  const draws = referenceDraws(votes.length, k);
  for (const draw of draws) {
    counts.fill(0);
    let top = Number.NEGATIVE_INFINITY;
    let most = 0;
    for (let j = 0; j < k; j++) {
      const i = draw[j]!;
      if (values[i]! > top) top = values[i]!;
      const count = ++counts[classes[i]!]!;
      if (count > most) most = count;
    }
    best += top;
    // The first draw that belongs to a leading class decides, and gives the value.
    let first = 0;
    while (counts[classes[draw[first]!]!] !== most) first++;
    majority += values[draw[first]!]!;
  }
  return { best: best / draws.length, majority: majority / draws.length };
}

/** A figure of each resample, then mean and deviation over them. */
export function resampled<T>(data: readonly T[], draws: readonly ArrayLike<number>[], reduce: (drawn: readonly T[]) => number): Resampled {
  const values = draws.map((indices) => reduce(Array.from(indices, (i) => at(data, i, 'data'))));
  return { mean: mean(values), std: std(values) };
}

/** The value of the first vote for the prediction with most votes; a tie goes to the prediction seen first. */
export function majorityValue(votes: readonly Vote[]): number {
  const counts = new Map<unknown, { count: number; readonly value: number }>();
  for (const { prediction, value } of votes) getOr(counts, pythonKey(prediction), () => ({ count: 0, value })).count++;
  let winner: { readonly count: number; readonly value: number } | undefined;
  for (const candidate of counts.values()) if (winner === undefined || candidate.count > winner.count) winner = candidate;
  if (winner === undefined) throw new RangeError('there is no vote');
  return winner.value;
}

export const largest = (values: readonly number[]): number => values.reduce((a, b) => Math.max(a, b));
export const smallest = (values: readonly number[]): number => values.reduce((a, b) => Math.min(a, b));
export const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

export function std(values: readonly number[]): number {
  const middle = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - middle) ** 2)));
}

/** 1 and true are one key in Python, and every other pair of different values is two. */
const pythonKey = (value: unknown): unknown =>
  typeof value === 'boolean' ? Number(value) : typeof value === 'object' && value !== null ? JSON.stringify(value) : value;

function toNumber(value: unknown, name: string): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return Number(value);
  throw new TypeError(`${name} holds ${JSON.stringify(value)}, which is no number`);
}

function at<T>(list: readonly T[], i: number, name: string): T {
  if (i >= list.length) throw new RangeError(`${name} has no item ${i}`);
  return list[i]!;
}

function getOr<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const found = map.get(key);
  if (found !== undefined) return found;
  const made = make();
  map.set(key, made);
  return made;
}
