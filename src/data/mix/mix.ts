/**
 * Mixes sources into one set: reads them twice and never holds their rows. The first pass leaves out what a plan leaves out and finds
 * duplicates (`pool.ts`); then each source's share is drawn; the second pass copies the drawn rows, in the order of the draw. The same files,
 * plan and seed give the same set.
 */
import { dirname, resolve } from 'node:path';
import { findSchema } from '../../problems/schemas/index.js';
import type { BadRow } from '../../tables/table.js';
import { refuseOverwrite } from '../../tables/writeTable.js';
import { UserError } from '../../userError.js';
import { makeFolder } from '../../userPath.js';
import { EvaluationIndex } from '../contamination/evaluationIndex.js';
import { loadEvaluationSet, parseEvaluationSet } from '../contamination/evaluationSets.js';
import type { DiversityMeter } from '../diversity.js';
import { drawFrom, shuffled } from './draw.js';
import type { MixReport, RemovedPair, SourceReport } from './mixReport.js';
import type { MixPlan } from './plan.js';
import { type FoundIn, Pool, type PoolSource } from './pool.js';
import { openPromptLength } from './promptLength.js';
import { writeSet } from './writeSet.js';

export type { MixReport, RemovedPair, SourceReport } from './mixReport.js';

export interface MixOptions {
  readonly out: string;
  /** Of the set: `open-agentrl-rl` (default) or another that can be written. */
  readonly schema?: string;
  readonly force?: boolean;
  /** The first bad row is an error. */
  readonly strict?: boolean;
  /** Another set's, to be measured on a sample of the same size. */
  readonly compare?: DiversityMeter;
  readonly onNote?: (text: string) => void;
  readonly onBad?: (row: BadRow) => void;
  /** Every removed row with what it equals, as it is found. */
  readonly onPair?: (pair: RemovedPair) => void;
  readonly onProgress?: (what: string, done: number, all: number | undefined) => void;
  readonly signal?: AbortSignal;
}

export const DEFAULT_SCHEMA = 'open-agentrl-rl';
/** Pairs of each kind in the report. */
const SHOWN_PAIRS = 10;

/** @throws UserError where a source, an evaluation set, or the set to be written cannot be used, and where nothing is left */
export async function mix(plan: MixPlan, options: MixOptions): Promise<MixReport> {
  const { out, force = false, onNote, onProgress, signal } = options;
  const schema = findSchema(options.schema ?? DEFAULT_SCHEMA);
  if (schema.write === undefined)
    throw new UserError(`a set cannot be written in the schema ${schema.name}`, 'For example --schema plain.');
  refuseOverwrite(out, force);
  const source = plan.sources.find(({ file }) => resolve(file) === resolve(out));
  if (source !== undefined) throw new UserError(`${out} is a source: it cannot be written over while it is read`, 'Choose another name.');
  const folder = dirname(resolve(out));
  makeFolder(folder);

  const pairs = new Pairs(options.onPair);
  const { index: evaluations, against } = await openEvaluations(plan, signal);
  const promptLength = plan.prompt && (await openPromptLength(plan.prompt, (line) => onNote?.(line)));
  const pool = await Pool.read(plan, {
    evaluations,
    promptLength,
    folder,
    strict: options.strict ?? false,
    onBad: options.onBad,
    onContaminated: (found) => pairs.add(pairOf(found, plan)),
    onProgress,
    signal,
  });
  try {
    const found = findDuplicates(pool, plan, pairs, options);
    const chosen = draw(pool, plan, found.duplicate);
    if (chosen.rows.length === 0)
      throw new UserError('nothing is left to mix', 'The report of a plan with fewer filters says where the rows go.');
    const { rows, bytes, diversity } = await writeSet(pool, chosen.rows, {
      out,
      schema,
      force,
      folder,
      seed: plan.seed,
      onProgress,
      signal,
    });
    const sources = pool.sources.map((source, index) => reportOf(source, found, chosen.perSource[index]!));
    for (const source of sources) if (source.wanted !== undefined && source.kept < source.wanted) onNote?.(shortOf(source));
    return {
      out,
      schema: schema.name,
      rows,
      bytes,
      seed: plan.seed,
      sources,
      against,
      ...(promptLength && { prompt: promptLength.detail }),
      crowded: found.crowded,
      pairs: pairs.shown,
      diversity: compareDiversity(pool.diversity, diversity, options.compare),
    };
  } finally {
    pool.close();
  }
}

/** All on samples of the size of the smallest. */
function compareDiversity(pool: DiversityMeter, set: DiversityMeter, compared: DiversityMeter | undefined): MixReport['diversity'] {
  const size = Math.min(pool.sampled, set.sampled, compared?.sampled ?? Number.POSITIVE_INFINITY);
  return { pool: pool.result(size), set: set.result(size), ...(compared && { compared: compared.result(size) }) };
}

const shortOf = ({ name, wanted, kept, available }: SourceReport): string =>
  `${name}: ${wanted} rows are wanted, ${available} are left after all filters: ${kept} are in the set`;

async function openEvaluations(
  { against, contamination }: MixPlan,
  signal: AbortSignal | undefined,
): Promise<{ index: EvaluationIndex | undefined; against: MixReport['against'] }> {
  if (against.length === 0) return { index: undefined, against: [] };
  const sets = [];
  for (const text of against) sets.push(await loadEvaluationSet(parseEvaluationSet(text), signal));
  const index = new EvaluationIndex(
    sets.flatMap(({ texts }) => texts),
    { run: contamination.run, share: contamination.share },
  );
  return { index, against: sets.map(({ name, texts }) => ({ name, problems: texts.length })) };
}

/** Keeps a few of each kind, and passes all on. */
class Pairs {
  readonly shown: RemovedPair[] = [];
  readonly #counts = new Map<string, number>();
  readonly #onPair: ((pair: RemovedPair) => void) | undefined;

  constructor(onPair: ((pair: RemovedPair) => void) | undefined) {
    this.#onPair = onPair;
  }

  /** Whether anybody would see one more of the kind. */
  wants(why: RemovedPair['why']): boolean {
    return this.#onPair !== undefined || (this.#counts.get(why) ?? 0) < SHOWN_PAIRS;
  }

  add(pair: RemovedPair): void {
    const count = this.#counts.get(pair.why) ?? 0;
    this.#counts.set(pair.why, count + 1);
    if (count < SHOWN_PAIRS) this.shown.push(pair);
    this.#onPair?.(pair);
  }
}

const pairOf = ({ kind, share, where, text, evaluation }: FoundIn, plan: MixPlan): RemovedPair => ({
  why: `evaluation ${kind}`,
  removed: kind !== 'template' || plan.contamination.templates === 'remove',
  similarity: share,
  row: { where, text },
  equals: { where: evaluation.where, text: evaluation.text },
});

interface FoundDuplicates {
  readonly duplicate: Uint8Array;
  readonly crowded: number;
  readonly exact: ReadonlyMap<PoolSource, number>;
  readonly near: ReadonlyMap<PoolSource, number>;
}

function findDuplicates(pool: Pool, plan: MixPlan, pairs: Pairs, { onProgress, signal }: MixOptions): FoundDuplicates {
  const counts = { exact: new Map<PoolSource, number>(), near: new Map<PoolSource, number>() };
  if (plan.duplicates === 'keep') return { duplicate: new Uint8Array(pool.size), crowded: 0, ...counts };
  const { duplicate, crowded } = pool.index.find({
    exactOnly: plan.duplicates === 'exact',
    wordsOf: (row) => pool.words(row),
    onProgress: (done, all) => {
      signal?.throwIfAborted();
      onProgress?.('candidates', done, all);
    },
    onPair: ({ kept, removed, same, similarity }) => {
      const source = pool.sourceOf(removed);
      counts[same].set(source, (counts[same].get(source) ?? 0) + 1);
      if (!pairs.wants(same)) return;
      const side = (row: number) => ({ where: pool.whereOf(row), text: pool.question(row) });
      pairs.add({ why: same, removed: true, similarity, row: side(removed), equals: side(kept) });
    },
  });
  return { duplicate, crowded, ...counts };
}

interface Chosen {
  /** Numbers in the pool, in the order of the set. */
  readonly rows: Uint32Array;
  readonly perSource: readonly { readonly available: number; readonly kept: number }[];
}

function draw(pool: Pool, plan: MixPlan, duplicate: Uint8Array): Chosen {
  const perSource: { available: number; kept: number }[] = [];
  const rows = new Uint32Array(pool.size);
  let count = 0;
  for (const [index, { plan: source, first, passed }] of pool.sources.entries()) {
    const left = Uint32Array.from({ length: passed }, (_, index) => first + index).filter((row) => duplicate[row] === 0);
    const drawn = drawFrom(left, source.count ?? left.length, 'mix', source.seed ?? plan.seed, index);
    perSource.push({ available: left.length, kept: drawn.length });
    rows.set(drawn, count);
    count += drawn.length;
  }
  const chosen = rows.slice(0, count);
  return { rows: plan.shuffle ? shuffled(chosen, count, 'order', plan.seed) : chosen, perSource };
}

function reportOf(source: PoolSource, found: FoundDuplicates, { available, kept }: Chosen['perSource'][number]): SourceReport {
  const { name, file, plan, rows, bad, filtered, tooLong, contaminated, templates } = source;
  return {
    name,
    file: file.name,
    schema: file.schema.name,
    rows,
    bad,
    filtered,
    tooLong,
    contaminated,
    templates,
    exact: found.exact.get(source) ?? 0,
    near: found.near.get(source) ?? 0,
    available,
    wanted: plan.count,
    kept,
    ...(plan.licence !== undefined && { licence: plan.licence }),
  };
}
