/** A set of stitched conversations from a file of problems with solutions, or from a generator: read, stitched, run, written, described. */
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename } from 'node:path';
import type { Problem } from '../../domain/problem.js';
import { inOrder } from '../../grading/inOrder.js';
import { isGenerator, loadProblems } from '../../problems/load.js';
import { openProblems } from '../../problems/readProblems.js';
import type { CodeRunner } from '../../sandbox/codeRunner.js';
import { openCodeRunner, type SandboxKind } from '../../sandbox/open.js';
import type { BadRow, TableRow } from '../../tables/table.js';
import { createTable, refuseOverwrite, type TableWriter } from '../../tables/writeTable.js';
import { codeInterpreter } from '../../tools/codeInterpreter.js';
import { describeTool } from '../../tools/jsonSchema.js';
import { UserError } from '../../userError.js';
import { sha256Of, writeCard } from '../card.js';
import { conversationRow } from '../conversations/conversationRow.js';
import { LEFT_OUT_WORDS, percent, type StitchReport, StitchTally } from './stitchReport.js';
import { type CallsPlacement, type StitchOutcome, stitchSolution } from './stitchSolution.js';

export interface StitchSetOptions {
  /** A path, `hf:owner/name/path`, `calc` or `calc-small`. */
  readonly source: string;
  readonly out: string;
  readonly calls: CallsPlacement;
  /** Rows read, from the first; of a generator 128 where it is absent. */
  readonly count?: number;
  /** The column of the solution, where the schema has none of its own. */
  readonly solution?: string;
  /** Keep conversations in which a call does not give its value; they say how many in `mismatches`. */
  readonly keepMismatches: boolean;
  readonly force: boolean;
  readonly strict: boolean;
  readonly seed: number;
  readonly sandbox: SandboxKind;
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
  readonly onBad: (row: BadRow) => void;
  readonly onNote: (note: string) => void;
  readonly onProgress: (done: number, all?: number) => void;
  readonly signal: AbortSignal;
}

/** @throws UserError for a source without solutions, an output that is there, and where nothing came of it */
export async function stitchSet(options: StitchSetOptions): Promise<StitchReport> {
  refuseOverwrite(options.out, options.force);
  const tally = new StitchTally();
  const source = await openSource(options, (row) => {
    tally.bad++;
    options.onBad(row);
  });
  const workers = availableParallelism();
  const runner = await openCodeRunner({ kind: options.sandbox, workers });
  try {
    for (const note of runner.notes) options.onNote(`sandbox: ${note}`);
    const table = await createTable(options.out, { force: options.force });
    try {
      await stitchAll(source, runner, table, tally, 2 * workers, options);
      const report = tally.report();
      if (report.written === 0) throw nothingCame(source.name, report);
      await table.close();
      await describe(source, report, options);
      return report;
    } catch (error) {
      await table.discard();
      throw error;
    }
  } finally {
    await runner.close();
  }
}

interface SolvedRow {
  readonly problem: Problem;
  readonly solution: string | undefined;
  readonly where: string;
}

interface Source {
  readonly name: string;
  readonly rowCount?: number;
  rows(): AsyncIterable<SolvedRow> | Iterable<SolvedRow>;
}

async function openSource(
  { source, count, solution, strict, seed, signal }: StitchSetOptions,
  onBad: (row: BadRow) => void,
): Promise<Source> {
  if (isGenerator(source)) {
    const problems = await loadProblems(source, { split: 'train', seed, count: count ?? 128 });
    return {
      name: source,
      rowCount: problems.length,
      rows: () => problems.map((problem) => ({ problem, solution: solutionOf(problem), where: problem.id })),
    };
  }
  const file = await openProblems(source, { strict, ...(count !== undefined && { limit: count }), onBad, signal });
  if (solution !== undefined && !file.table.columns.includes(solution)) {
    throw new UserError(
      `${file.name} has no column ${JSON.stringify(solution)}; it has: ${file.table.columns.join(', ')}`,
      'Check --solution.',
    );
  }
  const textIn = ({ values }: TableRow, problem: Problem): string | undefined => {
    if (solution === undefined) return solutionOf(problem);
    return typeof values[solution] === 'string' ? values[solution] : undefined;
  };
  const all = Math.min(count ?? Number.POSITIVE_INFINITY, file.table.rowCount ?? Number.POSITIVE_INFINITY);
  return {
    name: file.name,
    ...(Number.isFinite(all) && { rowCount: all }),
    async *rows() {
      for await (const { problem, row } of file.rows()) yield { problem, solution: textIn(row, problem), where: placeOf(row) };
    },
  };
}

/** As reports name it: without the folder. */
const placeOf = ({ where }: TableRow): string => basename(where);

function solutionOf(problem: Problem): string | undefined {
  const { solution } = problem as { readonly solution?: unknown };
  return typeof solution === 'string' ? solution : undefined;
}

async function stitchAll(
  source: Source,
  runner: CodeRunner,
  table: TableWriter,
  tally: StitchTally,
  parallel: number,
  { calls, timeoutSeconds, memoryMb, keepMismatches, onProgress, signal }: StitchSetOptions,
): Promise<void> {
  const tool = codeInterpreter(runner, { timeoutSeconds, memoryMb });
  const tools = [describeTool(tool)];
  const work = async (row: SolvedRow): Promise<{ readonly row: SolvedRow; readonly outcome: StitchOutcome }> => {
    signal.throwIfAborted();
    const context = { problem: row.problem, trajectoryId: `stitch:${row.problem.id}`, state: undefined, signal };
    const execute = async (code: string): Promise<{ ok: boolean; text: string }> => {
      const outcome = await tool.execute({ code }, context);
      if (typeof outcome === 'string') return { ok: true, text: outcome };
      if (outcome.kind === 'infra') throw new Error(`the sandbox failed: ${outcome.error}`);
      return { ok: outcome.kind === 'ok', text: outcome.text };
    };
    return { row, outcome: await stitchSolution(row.problem, row.solution, { calls, execute }) };
  };
  let done = 0;
  for await (const { row, outcome } of inOrder(source.rows(), parallel, work)) {
    const mismatches = tally.add(outcome, row.where);
    onProgress(++done, source.rowCount);
    if (outcome.kind !== 'stitched') continue;
    if (mismatches > 0 && !keepMismatches) {
      tally.leftOut();
      continue;
    }
    const { id, source: from, answer } = row.problem;
    const extra = {
      id,
      ...(from !== undefined && { source: from }),
      ...(answer !== undefined && { answer }),
      calls: outcome.calls,
      ...(keepMismatches && { mismatches }),
    };
    await table.write(conversationRow(outcome.messages, tools, extra));
    tally.written(outcome.calls);
  }
}

function nothingCame(name: string, { leftOut, read, bad }: StitchReport): UserError {
  if (read > 0 && leftOut.noSolution === read) {
    return new UserError(`${basename(name)}: no row has a solution`, 'Name the column by --solution, for example --solution answer.');
  }
  const why = Object.entries({ ...leftOut }).flatMap(([kind, count]) =>
    count === 0 ? [] : [`${count} with ${LEFT_OUT_WORDS[kind as keyof StitchReport['leftOut']]}`],
  );
  return new UserError(
    `${basename(name)}: nothing could be stitched: ${[...why, ...(bad > 0 ? [`${bad} bad`] : [])].join(', ') || 'it has no rows'}`,
  );
}

async function describe(source: Source, report: StitchReport, { out, keepMismatches, calls, seed }: StitchSetOptions): Promise<void> {
  const generated = isGenerator(source.name);
  const { checks } = report;
  const all = Object.values(checks).reduce((sum, count) => sum + count, 0);
  const wrong = all - checks.equal - checks.rounded;
  await writeCard(out, {
    title: `Stitched conversations from ${basename(source.name)}`,
    sources: [
      {
        name: source.name,
        rows: report.read + report.bad,
        kept: report.written,
        ...(generated && { licence: 'generated' }),
        ...(existsSync(source.name) && { hash: `sha256:${await sha256Of(source.name)}` }),
      },
    ],
    filters: [
      ...Object.entries(report.leftOut).map(([kind, removed]) => ({
        name: LEFT_OUT_WORDS[kind as keyof StitchReport['leftOut']],
        removed,
      })),
      { name: 'rows that cannot be read', removed: report.bad },
    ].filter(({ removed }) => removed > 0),
    counts: {
      rows: report.written,
      'programs run': report.calls,
      calculations: all,
      ...Object.fromEntries(Object.entries(checks).flatMap(([kind, count]) => (count === 0 ? [] : [[`calculations: ${kind}`, count]]))),
      ...Object.fromEntries(Object.entries(report.callsByRow).map(([number, count]) => [`rows with ${number} calls`, count])),
    },
    ...(generated && { seed }),
    notes: [
      'Stitched, not sampled: a text solution with calls put in the place of its calculations. No model decided to call a tool.',
      calls === 'each' ? 'One call for each calculation.' : 'All calculations of a solution in one program.',
      `${wrong} of ${all} calculations (${percent(wrong, all)}) do not give the value that the solution states; rows with such are ${
        keepMismatches ? 'kept, with their number in "mismatches"' : 'left out'
      }.`,
    ],
  });
}
