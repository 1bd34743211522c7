/** Puts a benchmark to work: its file becomes problems, its kind a grader. Samples nothing. */
import { readFile } from 'node:fs/promises';
import type { Problem } from '../domain/problem.js';
import { gradeChoice } from '../reward/choice.js';
import type { CodeJudge } from '../reward/code/codeJudge.js';
import type { CodeTests } from '../reward/code/codeTests.js';
import { gradeCode } from '../reward/code/gradeCode.js';
import { readCodeTests } from '../reward/code/readCodeTests.js';
import { extractAnswer } from '../reward/extract.js';
import type { Grader } from '../reward/grader.js';
import { checkGold } from '../reward/math/gradeAnswer.js';
import { gradeMath } from '../reward/math/gradeMath.js';
import type { CodeRunner } from '../sandbox/codeRunner.js';
import { type OpenOptions, openTable } from '../tables/openTable.js';
import type { Table } from '../tables/table.js';
import { UserError } from '../userError.js';
import { aime24, aime25 } from './aime.js';
import type { Benchmark, BenchmarkItem, EvalMode, Layout } from './benchmark.js';
import { gpqaDiamond } from './gpqa.js';
import { gsm8k } from './gsm8k.js';
import { liveCodeBench } from './livecodebench.js';
import { checkTemplate, fillTemplate, questionOf, systemOf } from './prompts.js';

export const BENCHMARKS: readonly Benchmark[] = [aime24, aime25, gpqaDiamond, liveCodeBench, gsm8k];

export interface BenchmarkChoice {
  /** For example `aime24`. */
  readonly name: string;
  /** A path or `hf:…`; absent: the hub's file that the benchmark names. */
  readonly file?: string | undefined;
  readonly mode: EvalMode;
  /** A file with the user's exact message, `{question}` in it. No system message is sent then. */
  readonly promptFile?: string | undefined;
  /** At most so many problems. */
  readonly limit?: number | undefined;
  /** Orders what is shuffled. Default 0. */
  readonly seed?: number | undefined;
  readonly open?: OpenOptions;
}

export interface LoadedBenchmark {
  readonly benchmark: Benchmark;
  readonly mode: EvalMode;
  /** Where the rows came from, with the hub's commit. */
  readonly file: string;
  readonly layout: string;
  readonly system: string;
  readonly problems: readonly Problem[];
  /** What a reader of the figures must know. */
  readonly warnings: readonly string[];
  grader(services: GraderServices): Grader;
}

export interface GraderServices {
  /** Runs programs; needed for code alone. */
  readonly judge?: CodeJudge | undefined;
  /** Runs SymPy where an answer cannot be decided otherwise. */
  readonly runner?: CodeRunner | undefined;
}

/** @throws UserError where the name, the file, its columns or a row cannot be used */
export async function loadBenchmark(choice: BenchmarkChoice): Promise<LoadedBenchmark> {
  const benchmark = findBenchmark(choice.name);
  const template = choice.promptFile === undefined ? undefined : await readTemplate(choice.promptFile);
  const table = await openTable(choice.file ?? benchmark.source, choice.open);
  const { layout, columns } = chooseLayout(benchmark, table);
  const items = await readItems(benchmark, table, layout, columns, choice);
  const problems = [...items].map(
    ([id, item]): Problem => ({
      id,
      question: template === undefined ? questionOf(benchmark.kind, item) : fillTemplate(template, item),
      ...(item.answer !== undefined && { answer: item.answer }),
      source: benchmark.id,
      ...(item.tags && { tags: item.tags }),
    }),
  );
  return {
    benchmark,
    mode: choice.mode,
    file: table.name,
    layout: layout.name,
    system: template === undefined ? systemOf(benchmark.kind, choice.mode) : '',
    problems,
    warnings: warningsOf(benchmark, layout, items),
    grader: (services) => graderOf(benchmark, items, services),
  };
}

function findBenchmark(name: string): Benchmark {
  const found = BENCHMARKS.find(({ id }) => id === name);
  if (found !== undefined) return found;
  throw new UserError(`there is no benchmark ${JSON.stringify(name)}`, `There are: ${BENCHMARKS.map(({ id }) => id).join(', ')}.`);
}

async function readTemplate(file: string): Promise<string> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw new UserError(`the prompt ${file} cannot be read: ${(error as Error).message}`);
  }
  return checkTemplate(text.replace(/\r?\n$/, ''), file);
}

/** The first layout whose columns are all there. @throws UserError naming what each would need and what is there */
function chooseLayout(benchmark: Benchmark, table: Table): { layout: Layout; columns: ReadonlyMap<string, string> } {
  for (const layout of benchmark.layouts) {
    const found = Object.entries(layout.fields).map(
      ([field, names]) => [field, names.find((name) => table.columns.includes(name))] as const,
    );
    if (found.some(([field, column]) => column === undefined && layout.optional?.includes(field) !== true)) continue;
    return { layout, columns: new Map(found.filter((entry): entry is [string, string] => entry[1] !== undefined)) };
  }
  if (table.columns.length === 0) throw new UserError(`${table.name} has no rows`, `The benchmark's own file is ${benchmark.source}.`);
  const expected = benchmark.layouts.map(({ fields, optional = [] }) =>
    Object.entries(fields)
      .filter(([field]) => !optional.includes(field))
      .map(([, names]) => names.join(' or '))
      .join(', '),
  );
  throw new UserError(
    `${table.name} has not the columns of ${benchmark.title}: expected ${expected.join('; or ')}; it has: ${table.columns.join(', ') || 'none'}`,
    `The benchmark's own file is ${benchmark.source}.`,
  );
}

async function readItems(
  benchmark: Benchmark,
  table: Table,
  layout: Layout,
  columns: ReadonlyMap<string, string>,
  { limit = Number.POSITIVE_INFINITY, seed = 0 }: BenchmarkChoice,
): Promise<Map<string, BenchmarkItem>> {
  const items = new Map<string, BenchmarkItem>();
  for await (const batch of table.batches({ columns: [...new Set(columns.values())], batchRows: 16 })) {
    for (const { values, where, number } of batch) {
      const fields = Object.fromEntries([...columns].map(([field, column]) => [field, values[column]]));
      const item = layout.read(fields, { where, number, seed });
      if (item === undefined) continue;
      if (benchmark.kind === 'math' && item.answer !== undefined) {
        const problem = checkGold(item.answer);
        if (problem !== undefined) throw new UserError(`${where}: the answer ${JSON.stringify(item.answer)} cannot be used: ${problem}`);
      }
      const id = item.id ?? `${benchmark.id}:${number}`;
      if (items.has(id))
        throw new UserError(`${where}: the id ${JSON.stringify(id)} stands in an earlier row already`, 'Ids must be unique.');
      items.set(id, item);
      if (items.size >= limit) return items;
    }
  }
  if (items.size === 0) throw new UserError(`${table.name} has no problem of ${benchmark.title}`, 'Check that it is the file you mean.');
  return items;
}

function warningsOf(benchmark: Benchmark, layout: Layout, items: ReadonlyMap<string, BenchmarkItem>): string[] {
  const shown = [...items.values()].filter(({ testsShown }) => testsShown === true).length;
  const warnings: string[] = [];
  if (shown > 0)
    warnings.push(
      `Without a hidden test: ${shown} of ${items.size}. All tests of these problems stand in the prompt as examples, so the score is too good.`,
    );
  if (benchmark.kind === 'choice' && layout.name === 'letter')
    warnings.push('The options stand in the order of the file: whether it favours a letter is not known.');
  return warnings;
}

function graderOf(benchmark: Benchmark, items: ReadonlyMap<string, BenchmarkItem>, { judge, runner }: GraderServices): Grader {
  const itemOf = (id: string): BenchmarkItem => {
    const item = items.get(id);
    if (item === undefined) throw new RangeError(`${benchmark.id} has no problem ${id}`);
    return item;
  };
  if (benchmark.kind === 'math') {
    return ({ finalText, problem }, { signal }) =>
      gradeMath(extractAnswer(finalText).answer, itemOf(problem.id).answer!, { signal, ...(runner && { runner }) });
  }
  if (benchmark.kind === 'choice') {
    return ({ finalText, problem }) => {
      const { options, answer } = itemOf(problem.id);
      return gradeChoice(extractAnswer(finalText).answer, { gold: answer!, ...(options && { options }) });
    };
  }
  if (judge === undefined) throw new RangeError(`${benchmark.id} needs a judge of programs`);
  const tests = recentTests((id) => itemOf(id).tests);
  return ({ finalText, problem }, { signal }) => gradeCode(finalText, tests(problem.id), { judge, signal, stopEarly: true });
}

/** Rollouts of one problem are graded close together: tests of a few problems at a time are kept unfolded. */
const KEPT = 8;

function recentTests(source: (id: string) => unknown): (id: string) => CodeTests {
  const kept = new Map<string, CodeTests>();
  return (id) => {
    const tests = kept.get(id) ?? readTests(source(id), id);
    kept.delete(id);
    kept.set(id, tests);
    if (kept.size > KEPT) kept.delete(kept.keys().next().value!);
    return tests;
  };
}

function readTests(value: unknown, id: string): CodeTests {
  try {
    return readCodeTests(value);
  } catch (error) {
    if (error instanceof UserError) throw new UserError(`problem ${JSON.stringify(id)}: ${error.message}`, error.hint);
    throw error;
  }
}
