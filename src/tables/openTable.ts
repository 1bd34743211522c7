/**
 * From a name to a table: a local Parquet, JSON Lines, JSON, CSV or TSV file, or one of a data set on the Hugging Face hub. The one reading
 * room for everything that takes rows from files.
 */
import { stat } from 'node:fs/promises';
import { extname } from 'node:path';
import { UserError } from '../userError.js';
import { openCsv } from './csv.js';
import { fetchHubFile, type HubOptions, isHubSource } from './hub.js';
import { openJsonArray, openJsonLines } from './json.js';
import { openParquet } from './parquet.js';
import { BATCH_ROWS, type RowsOptions, TABLE_LIMITS, type Table, type TableFormat, type TableLimits, type TableRow } from './table.js';
import { firstBytes, isGzip, textChunks, unreadable } from './text.js';

export interface OpenOptions {
  /** Where the file's name does not say it. */
  readonly format?: TableFormat;
  readonly limits?: Partial<TableLimits>;
  readonly hub?: HubOptions;
}

/**
 * @param source a path, or `hf:owner/name/path/in/the/data-set@revision`
 * @throws UserError when it cannot be read, by one sentence
 */
export async function openTable(source: string, options: OpenOptions = {}): Promise<Table> {
  const { file, name } = isHubSource(source) ? await fetchHubFile(source, options.hub) : { file: source, name: source };
  const limits = { ...TABLE_LIMITS, ...options.limits };
  await checkIsFile(file, name);
  const ending = extname(file.replace(/\.gz$/i, '')).toLowerCase();
  const format = options.format ?? (await formatOf(file, name, ending, limits));
  if (format === 'parquet') return openParquet(file, name, limits);
  if (format === 'jsonl') return openJsonLines(file, name, limits);
  if (format === 'json') return openJsonArray(file, name, limits);
  return openCsv(file, name, ending === '.tsv' ? '\t' : ',', limits);
}

/** All rows at once. @throws UserError as `openTable` */
export async function readTable(source: string, options: OpenOptions & RowsOptions = {}): Promise<TableRow[]> {
  return allRows(await openTable(source, options), options);
}

export async function allRows(table: Table, options: RowsOptions = {}): Promise<TableRow[]> {
  const rows: TableRow[] = [];
  for await (const batch of table.batches({ batchRows: BATCH_ROWS, ...options })) for (const row of batch) rows.push(row);
  return rows;
}

async function checkIsFile(file: string, name: string): Promise<void> {
  let isFile: boolean;
  try {
    const found = await stat(file);
    if (found.isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' });
    isFile = found.isFile();
  } catch (error) {
    throw unreadable(name, error);
  }
  if (!isFile) throw new UserError(`${name} is no ordinary file`);
}

/** By what the file begins with; by its ending where that says more. */
async function formatOf(file: string, name: string, ending: string, limits: TableLimits): Promise<TableFormat> {
  const head = await firstBytes(file, 4, name);
  if (ending === '.parquet' || head.toString('latin1') === 'PAR1') return 'parquet';
  if (ending === '.csv' || ending === '.tsv') return 'csv';
  if (ending === '.jsonl' || ending === '.ndjson') return 'jsonl';
  const first = isGzip(head) ? await firstChunk(file, name, limits) : await firstBytes(file, 4096, name);
  const begin = first
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .trimStart()[0];
  if (begin === '[') return 'json';
  if (begin === '{') return 'jsonl';
  if (begin === undefined) return ending === '.json' ? 'json' : 'jsonl';
  throw new UserError(
    `${name} is neither Parquet, JSON Lines, JSON nor CSV`,
    'Its name must end in .parquet, .jsonl, .json, .csv or .tsv.',
  );
}

async function firstChunk(file: string, name: string, limits: TableLimits): Promise<Buffer> {
  for await (const chunk of textChunks(file, name, limits)) return chunk;
  return Buffer.alloc(0);
}
