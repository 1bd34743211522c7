/** Grades the rows of a file: all of it is read first, then graded several rows at a time, verdicts in the order of the rows. */
import { statSync } from 'node:fs';
import { UserError } from '../userError.js';
import { type RowResult, type Tally, toLine } from './graded.js';
import { type BadRow, type GradingRow, gradingRows } from './gradingRow.js';
import { inOrder } from './inOrder.js';
import type { RowGrader } from './rowGrader.js';

export interface GradeFileOptions {
  readonly grader: RowGrader;
  /** Rows in work at once. */
  readonly parallel: number;
  readonly signal: AbortSignal;
  /** The first bad row ends it, before anything is graded. */
  readonly strict?: boolean;
  /** Told once the file was read, before anything is graded. */
  readonly onChecked?: (rows: RowCounts) => Promise<void> | void;
  readonly onProgress?: (done: number, all: number) => void;
}

export interface RowCounts {
  readonly all: number;
  /** Of code, among the good ones. */
  readonly code: number;
  readonly bad: number;
  readonly firstBad?: BadRow;
}

export interface GradedLine {
  /** A bad one has no more than its error. */
  readonly row: GradingRow | BadRow;
  readonly result: RowResult;
  /** As it is printed. */
  readonly line: Readonly<Record<string, unknown>>;
}

/** @throws UserError where the file cannot be read, has no rows, none that is a JSON object, or with `strict` a bad one; the signal's reason */
export async function* gradeFile(file: string, tally: Tally, options: GradeFileOptions): AsyncGenerator<GradedLine, void, void> {
  const counts = await checkFile(file, options);
  await options.onChecked?.(counts);
  const graded = inOrder(gradingRows(file), options.parallel, async (row): Promise<Omit<GradedLine, 'line'>> => {
    options.signal.throwIfAborted();
    if (row.kind === 'bad') return { row, result: { kind: 'refused', error: row.error } };
    return { row, result: await options.grader(row, options.signal) };
  });
  for await (const { row, result } of graded) {
    tally.add(result);
    options.onProgress?.(tally.rows, counts.all);
    yield { row, result, line: toLine({ id: row.id }, result) };
  }
}

/** Reads every row. @throws UserError as `gradeFile` does */
export async function checkFile(file: string, { strict = false }: { readonly strict?: boolean } = {}): Promise<RowCounts> {
  // It is read twice, which a pipe cannot be.
  const status = statSync(file, { throwIfNoEntry: false });
  if (status !== undefined && !status.isFile() && !status.isDirectory())
    throw new UserError(`${file} is no plain file`, 'Write the rows to a file first: it is read twice, to be checked and to be graded.');
  let [all, code, bad, withId] = [0, 0, 0, 0];
  let firstBad: BadRow | undefined;
  for await (const row of gradingRows(file)) {
    all++;
    if (row.id !== null) withId++;
    if (row.kind === 'code') code++;
    if (row.kind !== 'bad') continue;
    if (strict) throw new UserError(row.error, row.hint);
    bad++;
    firstBad ??= row;
  }
  // Another kind of file: not a word about each of its lines.
  if (withId === 0 && firstBad !== undefined)
    throw new UserError(`${file} holds no row with an "id"; the first: ${firstBad.error}`, firstBad.hint);
  return { all, code, bad, ...(firstBad && { firstBad }) };
}
