/**
 * What paired runs say about a claim: rules that are fixed before anything runs. Pure: knows differences over blocks, not arms or runs.
 *
 * A difference is in the direction that the claim names, in the endpoint's own units. With `margin` m, from the 95 % t-interval over blocks:
 * above m: supported; inside (-m, m): no material effect; else below 0: contradicted; anything else: undecided. Holm's procedure over all claims
 * of a study keeps the chance of any false verdict at 5 %.
 */
import { studentQuantile, studentTail } from './student.js';

/** Fewer blocks are exploratory, whatever the numbers. */
export const LEAST_BLOCKS = 6;
const ALPHA = 0.05;

export interface PairedDifference {
  readonly blocks: number;
  readonly mean: number;
  /** Of the differences, with n - 1. */
  readonly deviation: number;
  /** 95 %, two-sided; NaN ends with fewer than two blocks. */
  readonly interval: readonly [number, number];
}

/** What the numbers of one part would say if it stood alone; `p` is two-sided, the smallest level at which it says so. */
export interface Reading {
  readonly says: 'supported' | 'contradicted' | 'noMaterialEffect' | 'undecided';
  readonly p: number;
}

export type Outcome = Reading['says'] | 'exploratory' | 'notTested';

/** @param differences one a block */
export function pairedDifference(differences: readonly number[]): PairedDifference {
  const n = differences.length;
  const mean = differences.reduce((sum, value) => sum + value, 0) / n;
  const deviation = n < 2 ? Number.NaN : Math.sqrt(differences.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1));
  const reach = n < 2 ? Number.NaN : (studentQuantile(1 - ALPHA / 2, n - 1) * deviation) / Math.sqrt(n);
  return { blocks: n, mean, deviation, interval: [mean - reach, mean + reach] };
}

/** @param margin at least 0; what is smaller does not matter to anybody */
export function readDifference({ blocks, mean, deviation }: PairedDifference, margin: number): Reading {
  if (blocks < 2 || !Number.isFinite(mean) || isFlat({ mean, deviation })) return { says: 'undecided', p: 1 };
  const error = deviation / Math.sqrt(blocks);
  /** One-sided p that the true difference is above (or below) a bound, doubled. */
  const above = (bound: number): number => p2(mean - bound, error, blocks);
  const below = (bound: number): number => p2(bound - mean, error, blocks);
  const readings: Reading[] = [
    { says: 'supported', p: above(margin) },
    { says: 'contradicted', p: below(0) },
    { says: 'noMaterialEffect', p: Math.max(above(-margin), below(margin)) },
  ];
  const clear = readings.filter(({ p }) => p < ALPHA);
  // A difference between -margin and 0 may be both: that it does not matter says more.
  const best = clear.find(({ says }) => says === 'noMaterialEffect') ?? clear.sort((a, b) => a.p - b.p)[0];
  return best ?? { says: 'undecided', p: Math.min(1, ...readings.map(({ p }) => p)) };
}

const p2 = (distance: number, error: number, blocks: number): number => Math.min(1, 2 * studentTail(distance / error, blocks - 1));

/** Whether all differences are one number, so that nothing is known of how they scatter and no interval is one. */
export const isFlat = ({ mean, deviation }: Pick<PairedDifference, 'mean' | 'deviation'>): boolean =>
  deviation <= 1e-9 * Math.max(1, Math.abs(mean));

/** A claim of several parts needs all of them: it says what all say, at the weakest part's level. */
export function readParts(parts: readonly Reading[]): Reading {
  const [first] = parts;
  if (first === undefined) return { says: 'undecided', p: 1 };
  if (parts.every(({ says }) => says === first.says)) return { says: first.says, p: Math.max(...parts.map(({ p }) => p)) };
  // One contradicted part is enough against the whole.
  const against = parts.filter(({ says }) => says === 'contradicted');
  if (against.length > 0) return { says: 'contradicted', p: Math.min(1, parts.length * Math.min(...against.map(({ p }) => p))) };
  return { says: 'undecided', p: 1 };
}

export interface ClaimReading {
  readonly id: string;
  readonly reading: Reading;
  readonly blocks: number;
  /** Whether what the claim is about was there to be seen: see `checks.ts`. */
  readonly checked: boolean;
}

export interface ClaimVerdict {
  readonly id: string;
  readonly outcome: Outcome;
  /** Holm's adjusted p over the claims that were tested; absent for others. */
  readonly adjusted?: number;
}

/** Verdicts of all claims of a study together. */
export function verdicts(claims: readonly ClaimReading[]): ClaimVerdict[] {
  const tested = claims.filter(({ checked, blocks }) => checked && blocks >= LEAST_BLOCKS);
  const adjusted = holm(tested.map(({ reading }) => reading.p));
  return claims.map((claim): ClaimVerdict => {
    if (!claim.checked) return { id: claim.id, outcome: 'notTested' };
    if (claim.blocks < LEAST_BLOCKS) return { id: claim.id, outcome: 'exploratory' };
    const p = adjusted[tested.indexOf(claim)]!;
    return { id: claim.id, outcome: p < ALPHA ? claim.reading.says : 'undecided', adjusted: p };
  });
}

/** Holm, 1979: the i-th smallest of m times (m - i), never below the one before, at most 1. */
export function holm(ps: readonly number[]): number[] {
  const order = ps.map((_, i) => i).sort((a, b) => ps[a]! - ps[b]!);
  const adjusted = new Array<number>(ps.length);
  let most = 0;
  for (const [rank, i] of order.entries()) {
    most = Math.max(most, Math.min(1, (ps.length - rank) * ps[i]!));
    adjusted[i] = most;
  }
  return adjusted;
}
