/**
 * What a benchmark is: where its file comes from, how its rows become items, how an answer is graded, and which scores the paper gives. One
 * module each beside this; `loadBenchmark.ts` puts one to work.
 */
import type { TableRow } from '../tables/table.js';

/** With the tools of the recipe, or by thinking alone. */
export type EvalMode = 'agentic' | 'plain';

export interface Benchmark {
  readonly id: BenchmarkId;
  readonly title: string;
  /** Taken where no file is named. */
  readonly source: string;
  /** Decides instructions and grader. */
  readonly kind: 'math' | 'choice' | 'code';
  /** The forms its file is found in; the first whose columns are all there is taken. */
  readonly layouts: readonly Layout[];
  readonly published: readonly PublishedScore[];
}

export type BenchmarkId = 'aime24' | 'aime25' | 'gpqa-diamond' | 'livecodebench-v6' | 'gsm8k';

export interface Layout {
  readonly name: string;
  /** For each field the names that a column may have. */
  readonly fields: Readonly<Record<string, readonly string[]>>;
  /** Fields that may be missing. */
  readonly optional?: readonly string[];
  /** @param values by field, not by column. @returns undefined for a row that is not part of the benchmark. @throws UserError naming the row */
  read(values: Readonly<Record<string, unknown>>, context: RowContext): BenchmarkItem | undefined;
}

export interface RowContext extends Pick<TableRow, 'where' | 'number'> {
  /** Orders what is shuffled. */
  readonly seed: number;
}

export interface BenchmarkItem {
  /** Unique in the file; absent: the row's number. */
  readonly id?: string;
  /** As the file has it, options and starter code included, instructions not. */
  readonly question: string;
  /** What an answer is compared with: a text, or an option's letter. */
  readonly answer?: string;
  /** Texts of the options in the order in which they are asked. */
  readonly options?: readonly string[];
  /** In any form that `readCodeTests` reads; read when the first answer is graded. */
  readonly tests?: unknown;
  /** The program completes a given function or class instead of reading standard input. */
  readonly starter?: boolean;
  /** Whether all tests of the item also stand in its text as examples. */
  readonly testsShown?: boolean;
  readonly tags?: Readonly<Record<string, string | number>>;
}

/** A row of the paper's Table 2: percent, average over 32 rollouts where the paper has them. */
export interface PublishedScore {
  readonly model: string;
  readonly mode: EvalMode;
  readonly score: number;
  /** Run by the paper's authors, not taken from its own. */
  readonly selfEvaluated?: boolean;
}
