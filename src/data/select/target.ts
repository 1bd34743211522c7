/**
 * The distribution of difficulty that a selection shall have: uniform, shares of the three labels, or a histogram (for example another
 * model's, as in the paper). Reads the text of an option and a profile's or histogram's file; draws nothing.
 */
import { existsSync, readFileSync } from 'node:fs';
import { openTable } from '../../tables/openTable.js';
import { UserError } from '../../userError.js';
import { certaintyOf, DIFFICULTIES, type Difficulty, difficultyOf, levelOf } from '../difficulty/labels.js';

export type Target =
  /** As many of each bar of the histogram. */
  | { readonly kind: 'uniform' }
  | { readonly kind: 'labels'; readonly shares: Readonly<Record<Difficulty, number>> }
  | {
      readonly kind: 'histogram';
      readonly name: string;
      readonly weights: readonly { readonly accuracy: number; readonly weight: number }[];
    };

/** A part of the pool with its share of the selection. */
export interface Bucket {
  /** A label, or a bar such as `3/8`. */
  readonly name: string;
  /** In [0, 1]; all buckets together 1. */
  readonly share: number;
}

export interface Buckets {
  readonly buckets: readonly Bucket[];
  /** Index of the bucket that an accuracy belongs to; undefined where it is left out. */
  indexOf(accuracy: number): number | undefined;
  /** Share of the target on what is left out as always or never solved. */
  readonly leftOut: number;
}

export interface Kept {
  readonly keepSolved?: boolean;
  readonly keepUnsolved?: boolean;
}

/**
 * A target over the bars 0/n .. n/n or over the labels, without what is not kept; the rest is scaled up to 1.
 *
 * @param n rollouts a problem of the pool's profile
 * @throws UserError where nothing of the target is left
 */
export function bucketsOf(target: Target, n: number, kept: Kept = {}): Buckets {
  const keeps = (accuracy: number): boolean => {
    const certainty = certaintyOf(accuracy);
    return certainty === undefined || (certainty === 'solved' ? kept.keepSolved : kept.keepUnsolved) === true;
  };
  if (target.kind === 'labels') {
    const sum = DIFFICULTIES.reduce((all, name) => all + target.shares[name], 0);
    return {
      buckets: DIFFICULTIES.map((name) => ({ name, share: target.shares[name] / sum })),
      indexOf: (accuracy) => (keeps(accuracy) ? DIFFICULTIES.indexOf(difficultyOf(accuracy)) : undefined),
      leftOut: 0,
    };
  }
  const bars = Array.from({ length: n + 1 }, (_, k) => k).filter((k) => keeps(k / n));
  const weights = new Array<number>(n + 1).fill(target.kind === 'uniform' ? 1 : 0);
  if (target.kind === 'histogram') for (const { accuracy, weight } of target.weights) weights[levelOf(accuracy, n)]! += weight;
  const all = weights.reduce((a, b) => a + b, 0);
  const sum = bars.reduce((part, k) => part + weights[k]!, 0);
  if (!(sum > 0)) {
    const name = target.kind === 'histogram' ? target.name : 'the target';
    throw new UserError(
      `${name} asks only for problems that are always or never solved, and those are left out`,
      'Keep them by --keep-solved or --keep-unsolved, or measure with more rollouts a problem.',
    );
  }
  const at = new Map(bars.map((k, i) => [k, i]));
  return {
    buckets: bars.map((k) => ({ name: `${k}/${n}`, share: weights[k]! / sum })),
    indexOf: (accuracy) => (keeps(accuracy) ? at.get(levelOf(accuracy, n)) : undefined),
    leftOut: target.kind === 'uniform' ? 0 : (all - sum) / all,
  };
}

const FORMS =
  'A target is uniform, shares such as easy=0.2,medium=0.5,hard=0.3, the file of a profile, or a JSON file such as {"1/8": 3, "4/8": 10} or {"easy": 1, "hard": 2}.';

/** The word or the shares of an option; undefined where it can only be a file's name. @throws UserError for shares that are none */
export function parseTarget(text: string): Target | undefined {
  if (text === 'uniform') return { kind: 'uniform' };
  if (!text.includes('=') || existsSync(text)) return undefined;
  const shares = { easy: 0, medium: 0, hard: 0 };
  const seen = new Set<string>();
  for (const part of text.split(',')) {
    const [name = '', value = '', more] = part.split('=').map((side) => side.trim());
    const share = Number(value);
    if (!isDifficulty(name) || seen.has(name) || value === '' || more !== undefined || !(share >= 0 && Number.isFinite(share)))
      throw new UserError(`target ${JSON.stringify(text)}: ${JSON.stringify(part)} is no share of easy, medium or hard`, FORMS);
    seen.add(name);
    shares[name] = share;
  }
  return labels(shares, text);
}

/** @throws UserError where the file is missing or holds no distribution */
export async function readTarget(text: string): Promise<Target> {
  const parsed = parseTarget(text);
  if (parsed) return parsed;
  if (!existsSync(text)) throw new UserError(`target ${JSON.stringify(text)}: there is no such file`, FORMS);
  if (/\.json$/i.test(text)) {
    const value = readJson(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return fromObject(value as Record<string, unknown>, text);
  }
  return fromProfile(text);
}

/** How a target is named in tables and cards. */
export const targetName = (target: Target): string =>
  target.kind === 'uniform'
    ? 'uniform'
    : target.kind === 'histogram'
      ? target.name
      : DIFFICULTIES.map((name) => `${name}=${target.shares[name]}`).join(',');

const isDifficulty = (name: string): name is Difficulty => (DIFFICULTIES as readonly string[]).includes(name);

function labels(shares: Record<Difficulty, number>, name: string): Target {
  if (DIFFICULTIES.every((label) => shares[label] === 0)) throw new UserError(`target ${JSON.stringify(name)}: all shares are 0`, FORMS);
  return { kind: 'labels', shares };
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new UserError(`target ${file} is no JSON: ${(error as Error).message}`, FORMS);
  }
}

function fromObject(value: Record<string, unknown>, file: string): Target {
  const entries = Object.entries(value);
  for (const [key, weight] of entries)
    if (typeof weight !== 'number' || !(weight >= 0 && Number.isFinite(weight)))
      throw new UserError(`target ${file}: ${JSON.stringify(key)} must be a number of at least 0`, FORMS);
  const numbers = value as Record<string, number>;
  if (entries.length > 0 && entries.every(([key]) => isDifficulty(key))) {
    return labels({ easy: numbers.easy ?? 0, medium: numbers.medium ?? 0, hard: numbers.hard ?? 0 }, file);
  }
  const weights = entries.map(([key, weight]) => ({ accuracy: accuracyFrom(key, file), weight: weight as number }));
  if (!weights.some(({ weight }) => weight > 0)) throw new UserError(`target ${file} has no weight above 0`, FORMS);
  return { kind: 'histogram', name: file, weights };
}

/** `3/8` or `0.375`. */
function accuracyFrom(key: string, file: string): number {
  const fraction = /^(\d+)\/(\d+)$/.exec(key);
  const value = fraction ? Number(fraction[1]) / Number(fraction[2]) : key.trim() === '' ? Number.NaN : Number(key);
  if (!(value >= 0 && value <= 1))
    throw new UserError(`target ${file}: ${JSON.stringify(key)} is neither a label nor an accuracy from 0 to 1`, FORMS);
  return value;
}

async function fromProfile(file: string): Promise<Target> {
  const table = await openTable(file);
  if (!table.columns.includes('accuracy'))
    throw new UserError(`target ${file} has no column "accuracy": it is no difficulty profile`, FORMS);
  const weights = new Map<number, number>();
  for await (const batch of table.batches({ columns: ['accuracy'] })) {
    for (const { values, where } of batch) {
      const accuracy = values.accuracy ?? null;
      if (accuracy === null) continue;
      if (typeof accuracy !== 'number' || !(accuracy >= 0 && accuracy <= 1))
        throw new UserError(`${where}: "accuracy" is not a number from 0 to 1`);
      weights.set(accuracy, (weights.get(accuracy) ?? 0) + 1);
    }
  }
  if (weights.size === 0) throw new UserError(`target ${file} has no labelled problem`, FORMS);
  return { kind: 'histogram', name: file, weights: [...weights].map(([accuracy, weight]) => ({ accuracy, weight })) };
}
