/** `toolwise data select` as a function: opens pool, profile and target, draws, and writes the set in the pool's own columns with its card. */
import { existsSync } from 'node:fs';
import type { Log } from '../../session/withRun.js';
import { createTable, refuseOverwrite } from '../../tables/writeTable.js';
import { UserError } from '../../userError.js';
import { type CardSource, sha256Of, writeCard } from '../card.js';
import { openPool, type Pool } from '../difficulty/pool.js';
import { type Profile, readProfile } from '../difficulty/profileFile.js';
import { type Selection, selectProblems } from './select.js';
import { readTarget, type Target, targetName } from './target.js';

export interface SelectFileOptions {
  /** A file of any known schema, `calc` or `calc-small`. */
  readonly pool: string;
  /** Rows of the pool, from the first. */
  readonly count?: number;
  /** The file that `data difficulty` wrote. */
  readonly profile: string;
  /** `uniform`, `easy=0.2,medium=0.5,hard=0.3`, a profile's file or a histogram's. */
  readonly target: string;
  readonly size?: number;
  readonly exact?: boolean;
  readonly keepSolved?: boolean;
  readonly keepUnsolved?: boolean;
  /** Default 1. */
  readonly seed?: number;
  readonly out: string;
  readonly force?: boolean;
  readonly strict?: boolean;
  readonly log?: Log;
  readonly signal?: AbortSignal;
}

export interface SelectedFile extends Selection {
  readonly file: string;
  readonly card: string;
  readonly target: string;
}

/** @throws UserError for what the user can mend; nothing is written then */
export async function selectFile(options: SelectFileOptions): Promise<SelectedFile> {
  const { out, force = false, strict = false, exact = false, size, count, seed = 1, signal } = options;
  const log = options.log ?? (() => undefined);
  refuseOverwrite(out, force);
  if (exact && size === undefined)
    throw new UserError('--exact goes with --size', 'Without a size the largest set is made that follows the target exactly.');
  const target = await readTarget(options.target);
  const profile = await readProfile(options.profile, signal);
  let told = 0;
  const pool = await openPool(options.pool, {
    strict,
    ...(count !== undefined && { count }),
    onBad: ({ where, error }) => {
      if (told++ < MOST_BAD) log(`${where}: ${error}`, 'warning');
    },
    ...(signal && { signal }),
  });
  const writing: { table?: Awaited<ReturnType<typeof createTable>> } = {};
  try {
    const selection = await selectProblems(pool, profile, {
      target,
      exact,
      seed,
      ...(size !== undefined && { size }),
      keepSolved: options.keepSolved ?? false,
      keepUnsolved: options.keepUnsolved ?? false,
      onRow: async ({ values }) => {
        writing.table ??= await createTable(out, { force, ...(pool.table && { like: pool.table }) });
        await writing.table.write(values);
      },
    });
    await writing.table!.close();
    const card = await cardOf({ ...options, seed }, pool, profile, target, selection);
    return { file: out, card, target: targetName(target), ...selection };
  } finally {
    await writing.table?.discard();
  }
}

const MOST_BAD = 10;

async function cardOf(
  options: SelectFileOptions & { readonly seed: number },
  pool: Pool,
  profile: Profile,
  target: Target,
  selection: Selection,
): Promise<string> {
  const { rows, bad, unknown, unlabelled, solved, unsolved, buckets, short, distance } = selection;
  const passed = selection.pool - unknown - unlabelled - solved - unsolved - rows;
  const about = targetName(target);
  return writeCard(options.out, {
    title: `${rows} problems of ${pool.name} by difficulty`,
    sources: [{ name: pool.name, rows: selection.pool + bad, kept: rows, ...(await hashOfFile(pool.name)) }],
    filters: [
      { name: 'bad rows', removed: bad },
      { name: 'not in the profile', removed: unknown },
      { name: 'too few valid rollouts', removed: unlabelled },
      { name: 'always solved', removed: solved, detail: 'accuracy 1' },
      { name: 'never solved', removed: unsolved, detail: 'accuracy 0' },
      { name: 'not drawn', removed: passed, detail: `target ${about}` },
    ].filter(({ removed }) => removed > 0),
    counts: { rows, ...Object.fromEntries(buckets.map(({ name, taken }) => [name, taken])) },
    seed: options.seed,
    notes: [
      `Target ${about}${await shortHash(about)}; distance of the set from it (total variation) ${distance.toFixed(3)}.`,
      ...(short.length > 0 && options.size !== undefined ? [`The pool is too small in ${short.join(', ')}.`] : []),
      `Difficulty by the profile ${profile.name}${await shortHash(profile.name)}: weights ${profile.fingerprint}, ${profile.n} rollouts a problem.`,
    ],
  });
}

const shortHash = async (name: string): Promise<string> => {
  const { hash } = await hashOfFile(name);
  return hash === undefined ? '' : ` (${hash})`;
};

const hashOfFile = async (name: string): Promise<Pick<CardSource, 'hash'>> =>
  existsSync(name) ? { hash: `sha256:${await sha256Of(name)}` } : {};
