/** `toolwise data difficulty` as a function: opens model, pool and cache, measures, and writes the profile with its card. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { RecipeInput } from '../../recipe/schema.js';
import { type Policy, withPolicy } from '../../session/policy.js';
import type { Log } from '../../session/withRun.js';
import { createTable, refuseOverwrite } from '../../tables/writeTable.js';
import type { AnyTool } from '../../tools/callTool.js';
import { UserError } from '../../userError.js';
import { makeFolder } from '../../userPath.js';
import { sha256Of, writeCard } from '../card.js';
import { cacheFolder, DifficultyCache } from './cache.js';
import type { Histogram } from './histogram.js';
import { type Estimate, type Measured, measureDifficulty } from './measure.js';
import { openPool, type Pool } from './pool.js';
import { PROFILE_COLUMNS } from './profileFile.js';

export interface DifficultyOptions {
  /** A model, a run (`RUN`, `RUN@sft`), or an endpoint, as `withPolicy` takes them. */
  readonly model: string;
  /** A file of any known schema, `calc` or `calc-small`. */
  readonly problems: string;
  readonly count?: number;
  /** Rollouts a problem. Default 8, as in the paper. */
  readonly samples?: number;
  /** Default 1. */
  readonly temperature?: number;
  /** Default 1. */
  readonly topP?: number;
  /** Default 1. */
  readonly seed?: number;
  /** Valid rollouts below which a problem stays without a label. Default: half, rounded up. */
  readonly enough?: number;
  readonly recipe?: string | RecipeInput;
  readonly set?: readonly string[];
  readonly tools?: readonly AnyTool[];
  /** The profile: Parquet, JSON Lines or CSV by its ending. */
  readonly out: string;
  readonly force?: boolean;
  readonly strict?: boolean;
  /** Folder of the cache. */
  readonly cache?: string;
  readonly keyName?: string;
  readonly concurrency?: number;
  readonly log?: Log;
  readonly onProgress?: (what: string, done: number, all: number) => void;
  readonly signal?: AbortSignal;
}

export interface DifficultyProfile {
  readonly file: string;
  readonly card: string;
  readonly model: string;
  readonly fingerprint: string;
  readonly settings: string;
  readonly pool: string;
  readonly problems: number;
  /** Problems whose rollouts were all there before. */
  readonly known: number;
  /** Rollouts that were sampled now, and what they took. */
  readonly rollouts: number;
  readonly tokens: number;
  readonly seconds: number;
  readonly lost: number;
  readonly bad: number;
  readonly tooLong: number;
  readonly histogram: Histogram;
}

/** @throws UserError for what the user can mend; what was measured until then is in the cache */
export async function profileDifficulty(options: DifficultyOptions): Promise<DifficultyProfile> {
  const { out, force = false, samples = 8, enough } = options;
  refuseOverwrite(out, force);
  if (enough !== undefined && enough > samples)
    throw new UserError(`${enough} valid rollouts of ${samples} are asked for`, 'Lower --min-valid, or raise --samples.');
  const log = options.log ?? (() => undefined);
  const signal = options.signal ?? new AbortController().signal;
  const told = { count: 0 };
  const pool = await openPool(options.problems, {
    ...(options.count !== undefined && { count: options.count }),
    strict: options.strict ?? false,
    onBad: ({ where, error }) => {
      if (told.count++ < MOST_BAD) log(`${where}: ${error}`, 'warning');
    },
    signal,
  });
  const cache = new DifficultyCache(options.cache ?? cacheFolder());
  const folder = await engineFolder(cache.folder);
  try {
    const profile = await withPolicy(
      {
        model: options.model,
        ...(options.recipe !== undefined && { recipe: options.recipe }),
        ...(options.set && { set: options.set }),
        ...(options.tools && { tools: options.tools }),
        folder,
        endpoint: {
          ...(options.keyName !== undefined && { keyName: options.keyName }),
          ...(options.concurrency !== undefined && { concurrency: options.concurrency }),
        },
        log,
        signal,
      },
      (policy) => measureInto(policy, pool, cache, { ...options, samples, log, signal }),
    );
    await rm(folder, { recursive: true, force: true });
    return profile;
  } catch (error) {
    // The engine's log is for failures of the machine alone.
    if (signal.aborted || error instanceof UserError) await rm(folder, { recursive: true, force: true });
    throw error;
  } finally {
    cache.close();
  }
}

/** Bad rows that are told one by one; the others are in the count alone. */
const MOST_BAD = 10;

async function engineFolder(cache: string): Promise<string> {
  makeFolder(cache, 'Choose another folder by --cache.');
  return mkdtemp(join(cache, 'engine-'));
}

type Settled = DifficultyOptions & { readonly samples: number; readonly log: Log; readonly signal: AbortSignal };

async function measureInto(policy: Policy, pool: Pool, cache: DifficultyCache, options: Settled): Promise<DifficultyProfile> {
  const { out, force = false, samples, temperature = 1, topP = 1, seed = 1, enough, concurrency, log, signal } = options;
  const table = await createTable(out, { schema: PROFILE_COLUMNS, force });
  let measured: Measured;
  try {
    const started = performance.now();
    measured = await measureDifficulty(policy, pool, {
      samples,
      temperature,
      topP,
      seed,
      ...(enough !== undefined && { enough }),
      ...(concurrency !== undefined && { concurrency }),
      cache,
      signal,
      onEstimate: (estimate) => {
        for (const line of estimateLines(estimate, samples)) log(line);
      },
      onProgress: progress(log, options.onProgress, started),
      onRow: (row) => table.write({ ...row }),
    });
    if (measured.problems === 0) throw new UserError(`${pool.name} has no problem that could be measured`);
    await table.close();
  } catch (error) {
    if (!(error instanceof UserError)) log('what was measured is kept: the same command goes on from there', 'warning');
    throw error;
  } finally {
    await table.discard();
  }
  tellLosses(measured, pool.bad, log);
  const card = await cardOf(policy, pool, measured, options);
  const { pace, known, lost, tooLong, histogram, problems, settings } = measured;
  return {
    file: out,
    card,
    model: policy.name,
    fingerprint: policy.fingerprint,
    settings,
    pool: pool.name,
    problems,
    known,
    ...pace,
    lost,
    bad: pool.bad,
    tooLong,
    histogram,
  };
}

export function estimateLines(estimate: Estimate, samples: number): string[] {
  const { problems, known, rollouts, promptTokens, mostTokens, expected } = estimate;
  const head = `${whole(problems)} problems, ${samples} rollouts each; ${whole(known)} were measured before`;
  if (rollouts === 0) return [`${head}: nothing to sample`];
  const prompts = promptTokens === undefined ? '' : ` after about ${whole(promptTokens)} of prompts`;
  const before = expected
    ? `; by earlier ones like them about ${whole(expected.tokens)} and ${time(expected.seconds)}`
    : '; the time is told once the first are in';
  return [`${head}: ${whole(rollouts)} rollouts to sample`, `tokens to write: at most ${whole(mostTokens)}${prompts}${before}`];
}

const FIRST_LINE_SECONDS = 10;
const LINE_SECONDS = 60;

/** A bar on a terminal; there and elsewhere a line now and then. */
function progress(log: Log, bar: DifficultyOptions['onProgress'], started: number): (done: number, all: number) => void {
  let next = FIRST_LINE_SECONDS;
  return (done, all) => {
    const elapsed = (performance.now() - started) / 1000;
    const left = (elapsed / done) * (all - done);
    bar?.(`rollouts, ${time(left)} left`, done, all);
    if (elapsed < next || done === all) return;
    next = elapsed + LINE_SECONDS;
    log(`${whole(done)} of ${whole(all)} rollouts in ${time(elapsed)}, about ${time(left)} left`);
  };
}

function tellLosses({ lost, tooLong, histogram }: Measured, bad: number, log: Log): void {
  if (bad > 0) log(`${whole(bad)} bad rows were left out`, 'warning');
  if (tooLong > 0) log(`${whole(tooLong)} problems were left out: their prompts are longer than the model and the limits allow`, 'warning');
  if (lost > 0)
    log(
      `${whole(lost)} rollouts were lost to infrastructure; accuracies are over the others, and the same command tries them again`,
      'warning',
    );
  if (histogram.unlabelled > 0) log(`${whole(histogram.unlabelled)} problems lost so many that they have no label`, 'warning');
}

async function cardOf(policy: Policy, pool: Pool, measured: Measured, options: Settled): Promise<string> {
  const { samples, temperature = 1, topP = 1, seed = 1 } = options;
  const { histogram, problems, tooLong, lost } = measured;
  const { labels, certain, counts, n } = histogram;
  return writeCard(options.out, {
    title: `Difficulty of ${pool.name} for ${policy.name}`,
    sources: [
      {
        name: pool.name,
        rows: problems + tooLong + pool.bad,
        kept: problems,
        ...(existsSync(pool.name) && { hash: `sha256:${await sha256Of(pool.name)}` }),
      },
    ],
    filters: [
      { name: 'bad rows', removed: pool.bad },
      { name: 'prompt too long', removed: tooLong, ...(policy.promptLimit !== undefined && { detail: `${policy.promptLimit} tokens` }) },
    ].filter(({ removed }) => removed > 0),
    counts: {
      problems,
      ...Object.fromEntries(counts.map((count, k) => [`${k}/${n} right`, count])),
      'without label': histogram.unlabelled,
      easy: labels.easy,
      medium: labels.medium,
      hard: labels.hard,
      'always solved, to be dropped': certain.solved,
      'never solved, to be dropped': certain.unsolved,
      'rollouts lost to infrastructure': lost,
    },
    seed,
    notes: [
      `Model ${policy.name}, weights ${policy.fingerprint}; prompt and settings ${measured.settings}.`,
      `${samples} rollouts a problem at T=${temperature}, top-p ${topP}; accuracy is over the rollouts that were not lost.`,
      'easy: accuracy at least 0.75; hard: at most 0.25; medium between (paper, section 3.3). Labels count what is not to be dropped.',
    ],
  });
}

const whole = (value: number): string => Math.round(value).toLocaleString('en-US');
const time = (seconds: number): string =>
  seconds < 90 ? `${Math.ceil(seconds)} s` : seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
