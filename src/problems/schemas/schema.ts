/**
 * How rows of a known kind of data set become problems and go back. A schema reads one row at a time: a mixed file has rows of several
 * sources. Does not open files (`../readProblems.ts`).
 */
import type { Problem } from '../../domain/problem.js';
import type { ParquetColumns } from '../../tables/parquetSchema.js';
import type { TableRow } from '../../tables/table.js';

export type RowValues = Readonly<Record<string, unknown>>;

export interface Schema {
  readonly name: string;
  /** One line for a person: which data sets are written so. */
  readonly title: string;
  /** Of a new Parquet file, for rows that `write` makes without an original. */
  readonly columns: ParquetColumns;
  /**
   * Whether a file with these columns, whose first row holds these values, is written so. The schemas are asked in the order of `SCHEMAS`.
   */
  matches(columns: readonly string[], firstValues: RowValues): boolean;
  /** @throws UserError naming the row */
  read(row: TableRow): Problem;
  /**
   * The problem as a row. What the problem says as the original row did is left as it stands there, in every column.
   * @param original the row it came from, where that was written so: `exact` of the row where there is one, else `values`
   */
  write(problem: Problem, original?: RowValues): Record<string, unknown>;
}
