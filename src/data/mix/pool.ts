/**
 * The first pass over the sources: what each row is, kept as numbers, its question on disk. Nothing of a row stays in memory but some 200
 * bytes of signature; the second pass (`mix.ts`) finds a row again by its place in its source.
 */
import type { Problem } from '../../domain/problem.js';
import { openProblems, type ProblemFile } from '../../problems/readProblems.js';
import type { BadRow } from '../../tables/table.js';
import { UserError } from '../../userError.js';
import type { Contamination, EvaluationIndex } from '../contamination/evaluationIndex.js';
import { DiversityMeter } from '../diversity.js';
import { type Blocks, uint8Blocks, uint32Blocks } from '../duplicates/blocks.js';
import { Boilerplate } from '../duplicates/boilerplate.js';
import { DuplicateIndex } from '../duplicates/duplicateIndex.js';
import { type Words, wordsOf } from '../duplicates/words.js';
import { type MixPlan, type MixSource, nameOf } from './plan.js';
import type { PromptLength } from './promptLength.js';
import { passes } from './rowFilter.js';
import { Scratch } from './scratch.js';

export interface PoolOptions {
  readonly evaluations: EvaluationIndex | undefined;
  readonly promptLength: PromptLength | undefined;
  /** Where there is room for the questions. */
  readonly folder: string;
  readonly strict: boolean;
  readonly onBad?: ((row: BadRow) => void) | undefined;
  readonly onContaminated?: ((found: FoundIn) => void) | undefined;
  readonly onProgress?: ((source: string, rows: number, all: number | undefined) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface FoundIn extends Contamination {
  readonly source: string;
  readonly where: string;
  readonly text: string;
}

export interface PoolSource {
  readonly plan: MixSource;
  readonly name: string;
  readonly file: ProblemFile;
  /** Rows that could be read. */
  rows: number;
  bad: number;
  filtered: number;
  tooLong: number;
  contaminated: number;
  /** From the template of an evaluation problem, numbers aside. */
  templates: number;
  /** Of its rows those that passed: the first one's number in the pool, and how many there are. */
  first: number;
  passed: number;
  boilerplate: Boilerplate;
}

/** Texts from which a source's boilerplate is learnt. */
const SAMPLE = 2000;

export class Pool {
  readonly sources: readonly PoolSource[];
  readonly index = new DuplicateIndex();
  readonly diversity: DiversityMeter;
  readonly #options: PoolOptions;
  readonly #plan: MixPlan;
  readonly #questions: Scratch;
  /** By a row's place among all that were read: whether it passed. */
  readonly #passed: Blocks<Uint8Array> = uint8Blocks();
  /** By number in the pool: the row's number in its file. */
  readonly #numbers: Blocks<Uint32Array> = uint32Blocks();

  private constructor(plan: MixPlan, sources: readonly PoolSource[], options: PoolOptions) {
    this.#plan = plan;
    this.#options = options;
    this.sources = sources;
    this.diversity = new DiversityMeter({ seed: plan.seed });
    this.#questions = new Scratch(options.folder);
  }

  /** Reads all sources once; tells of bad rows then, not again. @throws UserError as `openProblems` */
  static async read(plan: MixPlan, options: PoolOptions): Promise<Pool> {
    const sources: PoolSource[] = [];
    let reading = true;
    const onBad = (row: BadRow): void => {
      if (reading) options.onBad?.(row);
    };
    for (const source of plan.sources) sources.push(await openSource(source, { ...options, onBad }));
    const pool = new Pool(plan, sources, options);
    try {
      for (const source of sources) await pool.#readSource(source);
      reading = false;
    } catch (error) {
      pool.close();
      throw error;
    }
    return pool;
  }

  get size(): number {
    return this.#numbers.rows;
  }

  question(row: number): string {
    return this.#questions.get(row).toString('utf8');
  }

  /** As they were compared. */
  words(row: number): Words {
    return this.sourceOf(row).boilerplate.strip(wordsOf(this.question(row)));
  }

  sourceOf(row: number): PoolSource {
    const found = this.sources.find(({ first, passed }) => row >= first && row < first + passed);
    if (found === undefined) throw new RangeError(`the pool has no row ${row}`);
    return found;
  }

  /** For a person, for example `set.parquet: row 12` or `set.jsonl:12`. */
  whereOf(row: number): string {
    const { name, file } = this.sourceOf(row);
    return `${name}:${file.table.format === 'jsonl' ? '' : ' row '}${this.#numbers.get(row)}`;
  }

  /** Whether the row at this place among all that were read is in the pool. */
  passedAt(place: number): boolean {
    return this.#passed.get(place) === 1;
  }

  close(): void {
    this.#questions.close();
  }

  async #readSource(source: PoolSource): Promise<void> {
    const { signal, onProgress } = this.#options;
    source.first = this.size;
    // The first rows wait until what all of them share is known.
    let waiting: Words[] | undefined = [];
    const settle = (): void => {
      source.boilerplate = Boilerplate.learn(waiting!);
      for (const words of waiting!) this.index.add(source.boilerplate.strip(words));
      waiting = undefined;
    };
    for await (const { problem, row } of source.file.rows()) {
      source.rows++;
      const words = this.#judge(problem, row.where, source);
      this.#passed.push(words === undefined ? 0 : 1);
      if (source.rows % 1000 === 0) {
        signal?.throwIfAborted();
        onProgress?.(source.name, source.rows, source.file.table.rowCount);
        await new Promise(setImmediate);
      }
      if (words === undefined) continue;
      source.passed++;
      this.#numbers.push(row.number);
      this.#questions.add(Buffer.from(problem.question));
      if (this.#plan.duplicates === 'keep') continue;
      if (waiting === undefined) this.index.add(source.boilerplate.strip(words));
      else if (waiting.push(words) === SAMPLE) settle();
    }
    if (waiting !== undefined && waiting.length > 0) settle();
    source.bad = source.file.bad;
  }

  /** The question's words where the row belongs to the pool; counted where not. */
  #judge(problem: Problem, where: string, source: PoolSource): Words | undefined {
    if (!passes(problem, source.plan.where)) {
      source.filtered++;
      return undefined;
    }
    if (this.#options.promptLength?.tooLong(problem) !== undefined) {
      source.tooLong++;
      return undefined;
    }
    const words = wordsOf(problem.question);
    const found = this.#options.evaluations?.find(words);
    if (found !== undefined) {
      const template = found.kind === 'template';
      if (template) source.templates++;
      this.#options.onContaminated?.({ ...found, source: source.name, where, text: problem.question });
      if (!template || this.#plan.contamination.templates === 'remove') {
        source.contaminated++;
        return undefined;
      }
    }
    this.diversity.add({ text: problem.question, source: problem.source, ability: problem.kind ?? 'math' });
    return words;
  }
}

async function openSource(plan: MixSource, { strict, onBad, signal }: PoolOptions): Promise<PoolSource> {
  const file = await openProblems(plan.file, {
    strict,
    ...(plan.schema !== undefined && { schema: plan.schema }),
    ...(onBad && { onBad }),
    ...(signal && { signal }),
  });
  if (file.schema.write === undefined) throw new UserError(`${file.name}: rows of ${file.schema.name} are read, but not written`);
  const counts = { rows: 0, bad: 0, filtered: 0, tooLong: 0, contaminated: 0, templates: 0, first: 0, passed: 0 };
  return { plan, name: nameOf(plan), file, ...counts, boilerplate: Boilerplate.none };
}
