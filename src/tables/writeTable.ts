/**
 * Writes a table: Parquet, JSON Lines, JSON, CSV or TSV, by the file's ending. Rows stand under a temporary name until the table is whole,
 * and nothing is overwritten unasked. Values are as `Table` gives them: what was read from a file is written back unchanged.
 */
import { existsSync, statSync } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { UserError } from '../userError.js';
import { inWords, makeFolder } from '../userPath.js';
import type { ParquetColumns } from './parquetSchema.js';
import type { Table, TableFormat } from './table.js';
import { inferringRows, type ParquetCodec, parquetRows } from './writeParquet.js';
import { textRows } from './writeText.js';

export interface CreateOptions {
  /** Where the file's name does not say it. */
  readonly format?: TableFormat;
  /** Columns of Parquet; `infer`, the default, finds them from the rows. Other formats need none. */
  readonly schema?: ParquetColumns | 'infer';
  /** Write the columns of this table; where it is no Parquet file they are inferred. Comes before `schema`. */
  readonly like?: Table;
  /** Replace a file that is there. */
  readonly force?: boolean;
  /** Rows of one row group of Parquet, at most: what a reader must hold at once. Default 1024; fewer where they are large. */
  readonly rowGroupRows?: number;
  /** Of Parquet. Default snappy. */
  readonly codec?: ParquetCodec;
}

export interface TableWriter {
  /** @throws UserError naming the row and the column of a value that cannot be kept exactly; the table is discarded then */
  write(values: Readonly<Record<string, unknown>>): Promise<void>;
  /** The table under its name. */
  close(): Promise<{ readonly rows: number; readonly bytes: number }>;
  /** Takes back what was written; for tables that do not become whole. Does nothing after `close`. */
  discard(): Promise<void>;
}

/** Rows to bytes of one format. Knows nothing of names. */
export interface RowSink {
  write(values: Readonly<Record<string, unknown>>): void | Promise<void>;
  end(): Promise<void>;
  /** Lets go of what it holds beside the file. */
  discard?(): Promise<void>;
}

/** @throws UserError where the file is there, or its name says no format */
export async function createTable(file: string, options: CreateOptions = {}): Promise<TableWriter> {
  const { force = false } = options;
  refuseOverwrite(file, force);
  const format = options.format ?? formatOf(file);
  const folder = dirname(resolve(file));
  makeFolder(folder);
  const part = join(folder, `.${basename(file)}.${process.pid}-${Math.random().toString(36).slice(2, 8)}.part`);
  const handle = await open(part, 'wx').catch((error: unknown) => {
    throw inWords(file, 'written', error);
  });
  let sink: RowSink | undefined;
  let state: 'open' | 'closed' = 'open';
  let rows = 0;

  const discard = async (): Promise<void> => {
    if (state === 'closed') return;
    state = 'closed';
    await sink?.discard?.();
    await handle.close().catch(() => undefined);
    await rm(part, { force: true });
  };
  const orDiscard = async <T>(work: () => T | Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      await discard();
      throw inWords(file, 'written', error);
    }
  };
  const opened = await orDiscard(() => openSink(file, format, handle, part, options));
  sink = opened;
  return {
    write: (values) => {
      rows++;
      return orDiscard(() => opened.write(values));
    },
    close: () =>
      orDiscard(async () => {
        await opened.end();
        await handle.sync();
        await handle.close();
        refuseOverwrite(file, force);
        const { size } = await stat(part);
        await rename(part, file);
        state = 'closed';
        return { rows, bytes: size };
      }),
    discard,
  };
}

async function openSink(
  file: string,
  format: TableFormat,
  handle: import('node:fs/promises').FileHandle,
  part: string,
  { schema = 'infer', like, rowGroupRows, codec }: CreateOptions,
): Promise<RowSink> {
  if (format !== 'parquet') return textRows(handle, format, { tabs: /\.tsv(\.gz)?$/i.test(file), packed: /\.gz$/i.test(file), name: file });
  const settings = { name: file, ...(rowGroupRows !== undefined && { rowGroupRows }), ...(codec && { codec }) };
  if (like?.parquet !== undefined) return parquetRows(handle, { like: like.parquet, likeName: like.name }, settings);
  return schema === 'infer' ? inferringRows(handle, `${part}.rows`, settings) : parquetRows(handle, { columns: schema }, settings);
}

/** Before long work, so that its result has a place. @throws UserError where the file is there and may not be replaced */
export function refuseOverwrite(file: string, force: boolean): void {
  if (!existsSync(file)) return;
  if (!statSync(file).isFile()) throw new UserError(`${file} is no ordinary file: it cannot be written over`, 'Choose another name.');
  if (!force) throw new UserError(`${file} is there already`, 'Choose another name, or replace it by --force.');
}

const ENDINGS: readonly [RegExp, TableFormat][] = [
  [/\.parquet$/i, 'parquet'],
  [/\.(jsonl|ndjson)(\.gz)?$/i, 'jsonl'],
  [/\.json(\.gz)?$/i, 'json'],
  [/\.[ct]sv(\.gz)?$/i, 'csv'],
];

function formatOf(file: string): TableFormat {
  const found = ENDINGS.find(([ending]) => ending.test(file));
  if (found !== undefined) return found[1];
  throw new UserError(
    `the name ${file} does not say what to write`,
    'It must end in .parquet, .jsonl, .json, .csv or .tsv (the last four also with .gz).',
  );
}
