/** Grades the rows of a file: all of it is checked first, then graded several rows at a time, verdicts in the order of the rows. */
import { statSync } from 'node:fs';
import { UserError } from '../userError.js';
import { type RowResult, type Tally, toLine } from './graded.js';
import { type GradingRow, gradingRows } from './gradingRow.js';
import { inOrder } from './inOrder.js';
import type { RowGrader } from './rowGrader.js';

export interface GradeFileOptions {
  readonly grader: RowGrader;
  /** Rows in work at once. */
  readonly parallel: number;
  readonly signal: AbortSignal;
  /** Told once the file was checked. */
  readonly onChecked?: (rows: RowCounts) => Promise<void> | void;
  readonly onProgress?: (done: number, all: number) => void;
}

export interface RowCounts {
  readonly all: number;
  readonly code: number;
}

export interface GradedLine {
  readonly row: GradingRow;
  readonly result: RowResult;
  /** As it is printed. */
  readonly line: Readonly<Record<string, unknown>>;
}

/** @throws UserError naming file and line for a bad row, before anything is graded; the signal's reason */
export async function* gradeFile(file: string, tally: Tally, options: GradeFileOptions): AsyncGenerator<GradedLine, void, void> {
  const counts = await checkFile(file);
  await options.onChecked?.(counts);
  const graded = inOrder(gradingRows(file), options.parallel, async (row) => {
    options.signal.throwIfAborted();
    return { row, result: await options.grader(row, options.signal) };
  });
  for await (const { row, result } of graded) {
    tally.add(result);
    options.onProgress?.(tally.rows, counts.all);
    yield { row, result, line: toLine({ id: row.id }, result) };
  }
}

/** Reads every row. @throws UserError naming file and line */
export async function checkFile(file: string): Promise<RowCounts> {
  // It is read twice, which a pipe cannot be.
  const status = statSync(file, { throwIfNoEntry: false });
  if (status !== undefined && !status.isFile() && !status.isDirectory())
    throw new UserError(`${file} is no plain file`, 'Write the rows to a file first: it is read twice, to be checked and to be graded.');
  let all = 0;
  let code = 0;
  for await (const row of gradingRows(file)) {
    all++;
    if (row.kind === 'code') code++;
  }
  return { all, code };
}
