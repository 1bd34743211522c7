/**
 * Which of a pool's problems make a set that follows a target distribution, and where the pool is too small for it. Pure: candidates are
 * numbers, and who comes first within a bucket is said by their rank.
 */
import { apportion } from './apportion.js';
import type { Buckets } from './target.js';

export interface Candidate {
  /** null: not measured, or too few valid rollouts. */
  readonly accuracy: number | null;
  /** The lower ones of a bucket are taken first. Ranks from a seed make the draw random. */
  readonly rank: number;
}

/** One line of the table that is shown. */
export interface BucketCount {
  readonly name: string;
  /** Of the target, without what is left out. */
  readonly share: number;
  readonly wanted: number;
  /** In the pool. */
  readonly there: number;
  readonly taken: number;
}

export interface Draw {
  /** Indices of candidates, rising. */
  readonly taken: readonly number[];
  readonly buckets: readonly BucketCount[];
  /** Buckets with fewer problems than wanted; of the largest set, those that keep it from being larger. */
  readonly short: readonly string[];
  /** Half the sum of |share of the set - share of the target| over buckets, in [0, 1]. */
  readonly distance: number;
}

/**
 * Without a size: the largest set whose counts are the target's apportioned exactly. With a size: so many problems; a bucket that has
 * too few is taken whole, and what it lacks is spread over the others in the target's proportions, never to a bucket of share 0.
 */
export function draw(candidates: readonly Candidate[], buckets: Buckets, size?: number): Draw {
  const members: number[][] = buckets.buckets.map(() => []);
  for (const [i, { accuracy }] of candidates.entries()) {
    const bucket = accuracy === null ? undefined : buckets.indexOf(accuracy);
    if (bucket !== undefined) members[bucket]!.push(i);
  }
  const shares = buckets.buckets.map(({ share }) => share);
  const there = members.map((own) => own.length);
  const largest = size === undefined ? largestTotal(shares, there) : undefined;
  const wanted = apportion(shares, size ?? largest!);
  const counts = largest === undefined ? filled(shares, wanted, there) : wanted;
  const taken = members.flatMap((own, b) => own.sort((x, y) => candidates[x]!.rank - candidates[y]!.rank || x - y).slice(0, counts[b]!));
  const limiting = largest === undefined ? wanted : apportion(shares, largest + 1);
  return {
    taken: taken.sort((x, y) => x - y),
    buckets: buckets.buckets.map(({ name, share }, b) => ({ name, share, wanted: wanted[b]!, there: there[b]!, taken: counts[b]! })),
    short: buckets.buckets.flatMap(({ name }, b) => (limiting[b]! > there[b]! ? [name] : [])),
    distance: distance(shares, counts),
  };
}

/** The largest total whose apportionment the pool can give. */
function largestTotal(shares: readonly number[], there: readonly number[]): number {
  let most = there.reduce((sum, count) => sum + count, 0);
  for (const [b, share] of shares.entries()) if (share > 0) most = Math.min(most, Math.floor((there[b]! + 1) / share));
  while (most > 0 && apportion(shares, most).some((count, b) => count > there[b]!)) most--;
  return most;
}

function filled(shares: readonly number[], wanted: readonly number[], there: readonly number[]): number[] {
  const taken = wanted.map((count, b) => Math.min(count, there[b]!));
  for (;;) {
    const missing = wanted.reduce((sum, count, b) => sum + count - taken[b]!, 0);
    const open = shares.map((share, b) => (taken[b]! < there[b]! ? share : 0));
    if (missing <= 0 || open.every((share) => share === 0)) return taken;
    for (const [b, more] of apportion(open, missing).entries()) taken[b] = Math.min(there[b]!, taken[b]! + more);
  }
}

function distance(shares: readonly number[], counts: readonly number[]): number {
  const all = counts.reduce((sum, count) => sum + count, 0);
  if (all === 0) return 1;
  return shares.reduce((sum, share, b) => sum + Math.abs(counts[b]! / all - share), 0) / 2;
}
