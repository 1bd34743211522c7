/**
 * A set from a pool of problems that follows a target distribution of difficulty (paper, section 3.3): reads the pool twice, first to
 * draw, then to hand over the rows that were drawn, as the pool has them. Does not measure difficulty and writes no files.
 */
import { deriveSeed } from '../../random.js';
import { UserError } from '../../userError.js';
import { certaintyOf } from '../difficulty/labels.js';
import type { Pool, PoolRow } from '../difficulty/pool.js';
import { problemHash } from '../difficulty/problemHash.js';
import type { Profile } from '../difficulty/profileFile.js';
import { type Candidate, type Draw, draw } from './draw.js';
import { bucketsOf, type Kept, type Target } from './target.js';

export interface SelectOptions extends Kept {
  readonly target: Target;
  /** Absent: the largest set that follows the target. */
  readonly size?: number;
  /** Refuse a set that does not follow the target because the pool is too small. Needs a size. */
  readonly exact?: boolean;
  readonly seed: number;
  /** In the order of the pool. Awaited. */
  readonly onRow: (row: PoolRow) => void | Promise<void>;
}

export interface Selection extends Pick<Draw, 'buckets' | 'short' | 'distance'> {
  readonly rows: number;
  /** Rows of the pool, bad ones not counted. */
  readonly pool: number;
  readonly bad: number;
  /** Rows without an entry in the profile. */
  readonly unknown: number;
  /** Rows with too few valid rollouts. */
  readonly unlabelled: number;
  /** Rows always or never solved that were left out. */
  readonly solved: number;
  readonly unsolved: number;
  /** Share of the target on what is left out as always or never solved. */
  readonly targetLeftOut: number;
}

/**
 * Which rows are taken depends on the seed and on each problem's text, not on the order of the pool: under one seed a larger set holds the
 * smaller one, bucket by bucket.
 *
 * @throws UserError where the profile is of other problems, nothing can be taken, or `exact` cannot be met
 */
export async function selectProblems(pool: Pool, profile: Profile, options: SelectOptions): Promise<Selection> {
  const { target, size, exact = false, seed, keepSolved = false, keepUnsolved = false, onRow } = options;
  const buckets = bucketsOf(target, profile.n, { keepSolved, keepUnsolved });
  const candidates: Candidate[] = [];
  const counts = { unknown: 0, unlabelled: 0, solved: 0, unsolved: 0 };
  const repeats = new Map<string, number>();
  for await (const { problem } of pool.rows()) {
    const hash = problemHash(problem);
    const accuracy = profile.accuracies.get(hash);
    const repeat = repeats.get(hash) ?? 0;
    repeats.set(hash, repeat + 1);
    const certainty = accuracy === undefined || accuracy === null ? undefined : certaintyOf(accuracy);
    if (accuracy === undefined) counts.unknown++;
    else if (accuracy === null) counts.unlabelled++;
    else if (certainty !== undefined && !(certainty === 'solved' ? keepSolved : keepUnsolved)) counts[certainty]++;
    candidates.push({ accuracy: accuracy ?? null, rank: deriveSeed('select', seed, hash, repeat) });
  }
  const { bad } = pool;
  const drawn = draw(candidates, buckets, size);
  refuseEmpty(pool, profile, candidates.length, counts, drawn, size);
  if (exact && drawn.short.length > 0) throw notExact(drawn, profile);
  const wanted = new Set(drawn.taken);
  let at = 0;
  for await (const row of pool.rows()) if (wanted.has(at++)) await onRow(row);
  const { buckets: table, short, distance } = drawn;
  return {
    rows: drawn.taken.length,
    pool: candidates.length,
    bad,
    ...counts,
    targetLeftOut: buckets.leftOut,
    buckets: table,
    short,
    distance,
  };
}

/** Without a size also a set that is small only because it must have nothing of a bucket that the pool has nothing of. */
function refuseEmpty(
  pool: Pool,
  profile: Profile,
  rows: number,
  counts: { readonly unknown: number },
  drawn: Draw,
  size: number | undefined,
): void {
  const empty = drawn.buckets.filter(({ share, there }) => share > 0 && there === 0).map(({ name }) => name);
  const limited = size === undefined && drawn.short.some((name) => empty.includes(name));
  if (drawn.taken.length > 0 && !limited) return;
  if (rows === 0) throw new UserError(`${pool.name} has no problems to select from`);
  if (counts.unknown === rows)
    throw new UserError(
      `none of the ${rows} problems of ${pool.name} is in ${profile.name}`,
      'Problems are found by their text: measure this pool by `toolwise data difficulty`.',
    );
  throw new UserError(
    `no set follows this target: the pool has no problem in ${empty.join(', ')}`,
    'Give --size N to take what there is, choose another target, or measure more problems.',
  );
}

function notExact({ buckets, short }: Draw, profile: Profile): UserError {
  const lacks = buckets
    .filter(({ name }) => short.includes(name))
    .map(({ name, wanted, there }) => `${name} (wanted ${wanted}, there ${there})`);
  return new UserError(
    `the pool is too small for this target: ${lacks.join(', ')}`,
    `Ask for fewer, leave --exact out, or measure more problems than the ${profile.rows} of ${profile.name}.`,
  );
}
