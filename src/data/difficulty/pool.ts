/**
 * The problems that are measured or selected from: a file of any known schema, read row by row as often as it is asked for, or a generator.
 * A row that cannot be read, or whose answer no rollout could be graded against, is told and left out. Measures nothing.
 */
import type { Problem } from '../../domain/problem.js';
import { isGenerator, loadProblems } from '../../problems/load.js';
import { openProblems } from '../../problems/readProblems.js';
import { deriveSeed } from '../../random.js';
import { readCodeTests } from '../../reward/code/readCodeTests.js';
import { refuseGold } from '../../reward/math/gradeMath.js';
import type { BadRow, Table } from '../../tables/table.js';
import { UserError } from '../../userError.js';

export interface PoolOptions {
  /** How many, from the first; a generator must be told. */
  readonly count?: number;
  /** The first bad row is an error. */
  readonly strict?: boolean;
  /** Told each bad row once, whatever the number of readings. */
  readonly onBad?: (row: BadRow) => void;
  readonly signal?: AbortSignal;
}

export interface PoolRow {
  readonly problem: Problem;
  /** As the file has it; of a generator the problem itself. */
  readonly values: Readonly<Record<string, unknown>>;
}

export interface Pool {
  readonly name: string;
  /** Absent: a generator's. */
  readonly table?: Table;
  /** From the first, each time it is called. @throws UserError for damage of the file, and for the first bad row where `strict` */
  rows(): AsyncGenerator<PoolRow, void, void>;
  /** Bad rows of the latest reading. */
  readonly bad: number;
}

/** A generator gives the problems that training with seed 1 begins with: always the same ones, whatever is drawn from them. */
const GENERATOR_SEED = deriveSeed(1, 'train');

/** @throws UserError where the source cannot be read */
export async function openPool(source: string, options: PoolOptions = {}): Promise<Pool> {
  const { count, strict = false, onBad, signal } = options;
  if (isGenerator(source)) {
    if (count === undefined) throw new UserError(`${source} is endless: how many problems?`, 'Add --count N.');
    const problems = await loadProblems(source, { split: 'train', seed: GENERATOR_SEED, count });
    async function* generated(): AsyncGenerator<PoolRow, void, void> {
      for (const problem of problems) yield { problem, values: { ...problem } };
    }
    return { name: `${source} (${count})`, rows: generated, bad: 0 };
  }
  let ungradeable = 0;
  let readings = 0;
  const tell = (row: BadRow): void => {
    if (readings === 1) onBad?.(row);
  };
  const file = await openProblems(source, {
    strict,
    ...(count !== undefined && { limit: count }),
    onBad: tell,
    ...(signal && { signal }),
  });
  async function* rows(): AsyncGenerator<PoolRow, void, void> {
    ungradeable = 0;
    readings++;
    for await (const { problem, row } of file.rows()) {
      try {
        refuseUngradeable(problem);
      } catch (error) {
        if (!(error instanceof UserError)) throw error;
        if (strict) throw new UserError(`${row.where}: ${error.message}`, error.hint);
        ungradeable++;
        tell({ where: row.where, error: error.message });
        continue;
      }
      yield { problem, values: row.values };
    }
  }
  return {
    name: file.name,
    table: file.table,
    rows,
    get bad() {
      return file.bad + ungradeable;
    },
  };
}

/** @throws UserError where no answer to the problem could be graded */
export function refuseUngradeable({ kind = 'math', answer, tests }: Problem): void {
  if (kind === 'code') {
    if (tests === undefined || tests === null) throw new UserError('it is code and has no "tests"');
    readCodeTests(tests);
    return;
  }
  if (answer === undefined) throw new UserError('it has no answer');
  if (kind === 'math') refuseGold(answer);
}
