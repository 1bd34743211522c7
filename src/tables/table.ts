/**
 * What a file of rows looks like to every room that reads one: named columns, and rows in batches, each knowing where it stands. Does not
 * read files (`openTable.ts`) and does not know what the rows mean.
 */
import type { KeyValue, SchemaElement } from 'hyparquet';
import { UserError } from '../userError.js';

export type TableFormat = 'parquet' | 'jsonl' | 'json' | 'csv';

export interface TableRow {
  /** Counted from 1: the line of JSON Lines, the row of every other format. */
  readonly number: number;
  /** For error messages, for example `set.jsonl:12` or `set.parquet: row 12`. */
  readonly where: string;
  /** Plain values: no BigInt, no Date, no typed arrays of numbers. */
  readonly values: Readonly<Record<string, unknown>>;
  /**
   * The same with integers beyond what a number holds as BigInt; absent where there are none. In `values` those of Parquet are their digits,
   * those of JSON are rounded. Give this to a `TableWriter` that is to write the row as it was.
   */
  readonly exact?: Readonly<Record<string, unknown>>;
}

export interface ParquetFacts {
  /** The tree of columns, depth first. */
  readonly elements: readonly SchemaElement[];
  /** What its writer noted for other programs. */
  readonly notes: readonly KeyValue[];
}

export interface RowsOptions {
  /** Which columns; absent: all. In Parquet the others are not even read. */
  readonly columns?: readonly string[];
  /** At most so many rows, from the first. */
  readonly limit?: number;
  /** Rows of one batch; the last may have fewer. Default 256. */
  readonly batchRows?: number;
  /** Told of a row that cannot be read, which is then left out. Absent: the first one ends the reading. Damage of the file always does. */
  readonly onBad?: (row: BadRow) => void;
  readonly signal?: AbortSignal;
}

export interface BadRow {
  /** As of `TableRow`. */
  readonly where: string;
  /** What is wrong with it, in one sentence without the place. */
  readonly error: string;
}

export interface Table {
  /** As error messages name it: a path, or an address on the hub. */
  readonly name: string;
  readonly format: TableFormat;
  /** Of JSON and JSON Lines: the keys of the first row. */
  readonly columns: readonly string[];
  /** Where the format says it without reading everything. */
  readonly rowCount?: number;
  /** How a Parquet file declares its columns, for a table that is written like it. */
  readonly parquet?: ParquetFacts;
  /** @throws UserError for a column that is not there, and for damage or excess when it is reached */
  batches(options?: RowsOptions): AsyncGenerator<readonly TableRow[], void, void>;
}

/** What a table may cost. A file beyond it is refused by a sentence, before it can take the memory of the machine. */
export interface TableLimits {
  /** Bytes of one line, one CSV record, or a whole JSON array. */
  readonly textBytes: number;
  /** Bytes that a compressed text file may unfold to. */
  readonly unpackedBytes: number;
  /** Uncompressed bytes of the columns wanted, in one row group of Parquet. */
  readonly groupBytes: number;
  /** Values of the columns wanted, in one row group of Parquet. */
  readonly groupValues: number;
}

export const TABLE_LIMITS: TableLimits = {
  textBytes: 256 * 2 ** 20,
  unpackedBytes: 8 * 2 ** 30,
  groupBytes: 2 ** 30,
  groupValues: 2 ** 25,
};

export const BATCH_ROWS = 256;

/** @throws UserError naming what was expected and what is there */
export function requireColumns(table: Pick<Table, 'name' | 'columns'>, wanted: readonly string[]): void {
  const missing = wanted.filter((name) => !table.columns.includes(name));
  if (missing.length === 0) return;
  const quoted = missing.map((name) => JSON.stringify(name)).join(', ');
  throw new UserError(
    `${table.name} has no column ${quoted}; it has: ${table.columns.length === 0 ? 'none' : listed(table.columns)}`,
    'Check that it is the file you mean.',
  );
}

/** A row that cannot be read: told where somebody listens, else thrown. */
export function refuseRow({ where, error }: BadRow, { onBad }: Pick<RowsOptions, 'onBad'>, hint?: string): void {
  if (onBad === undefined) throw new UserError(`${where}: ${error}`, hint);
  onBad({ where, error });
}

const MOST_NAMES = 40;

function listed(names: readonly string[]): string {
  const more = names.length - MOST_NAMES;
  return names.slice(0, MOST_NAMES).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** Gathers rows into batches; stops at the limit. */
export async function* inBatches(
  rows: AsyncIterable<TableRow> | Iterable<TableRow>,
  options: RowsOptions,
): AsyncGenerator<readonly TableRow[], void, void> {
  const { limit = Number.POSITIVE_INFINITY, batchRows = BATCH_ROWS, columns, signal } = options;
  let batch: TableRow[] = [];
  let count = 0;
  if (limit <= 0) return;
  for await (const row of rows) {
    signal?.throwIfAborted();
    batch.push(columns === undefined ? row : picked(row, columns));
    count++;
    if (batch.length === batchRows || count === limit) {
      yield batch;
      batch = [];
    }
    if (count === limit) return;
  }
  if (batch.length > 0) yield batch;
}

const picked = ({ exact, ...row }: TableRow, columns: readonly string[]): TableRow => ({
  ...row,
  values: pick(row.values, columns),
  ...(exact && { exact: pick(exact, columns) }),
});

const pick = (values: Readonly<Record<string, unknown>>, columns: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(columns.filter((name) => Object.hasOwn(values, name)).map((name) => [name, values[name]]));
