/** Rows of JSON Lines and of JSON arrays. */
import { UserError } from '../userError.js';
import { parseExact } from './exactJson.js';
import { holdsLong } from './plainValue.js';
import {
  type BadRow,
  inBatches,
  type RowsOptions,
  refuseRow,
  requireColumns,
  type Table,
  type TableLimits,
  type TableRow,
} from './table.js';
import { textLines, wholeText } from './text.js';

const LINE_HINT = 'Each line must be one JSON object, for example {"question": "What is 6 * 7?", "answer": "42"}.';

/** One line of JSON Lines; undefined where it is empty. @throws UserError naming file and line */
export function parseJsonLine(text: string, number: number, name: string, hint = LINE_HINT): TableRow | undefined {
  if (text.trim() === '') return undefined;
  const row = readLine(text, number, name);
  if ('error' in row) throw new UserError(`${row.where}: ${row.error}`, hint);
  return row;
}

function readLine(text: string, number: number, name: string): TableRow | BadRow {
  const where = `${name}:${number}`;
  let values: unknown;
  try {
    values = JSON.parse(text);
  } catch (error) {
    return { where, error: `not valid JSON: ${(error as Error).message}` };
  }
  if (!isRecord(values)) return { where, error: 'not a JSON object' };
  return deeperThan(values, DEEPEST) ? { where, error: TOO_DEEP } : { number, where, values, ...exactOf(text) };
}

/** What is nested deeper than this was made to break readers, and would break ours where it is written or compared. */
const DEEPEST = 256;
const TOO_DEEP = `nested deeper than ${DEEPEST}`;

function deeperThan(value: unknown, most: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (most === 0) return true;
  if (Array.isArray(value)) return value.some((inner) => deeperThan(inner, most - 1));
  for (const name in value) if (deeperThan((value as Record<string, unknown>)[name], most - 1)) return true;
  return false;
}

/** @param text was parsed already */
function exactOf(text: string): Pick<TableRow, 'exact'> {
  const exact = parseExact(text);
  return exact === undefined ? {} : { exact: exact as Record<string, unknown> };
}

/** Rows of a text in memory. @throws UserError naming file and line */
export function parseJsonLines(text: string, name: string, hint?: string): TableRow[] {
  const lines = text.replace(/^\uFEFF/, '').split('\n');
  return lines.flatMap((line, i) => parseJsonLine(line, i + 1, name, hint) ?? []);
}

/** Reads line by line: a file may be larger than memory. */
export async function openJsonLines(file: string, name: string, limits: TableLimits): Promise<Table> {
  async function* rows(options: RowsOptions): AsyncGenerator<TableRow, void, void> {
    for await (const { text, number } of textLines(file, name, limits)) {
      if (text.trim() === '') continue;
      const row = readLine(text, number, name);
      if ('error' in row) refuseRow(row, options, LINE_HINT);
      else yield row;
    }
  }
  let columns: string[] = [];
  for await (const row of rows({ onBad: () => undefined })) {
    columns = Object.keys(row.values);
    break;
  }
  return tableOf({ name, format: 'jsonl', columns }, rows);
}

/** @throws UserError when it is no array of objects */
export async function openJsonArray(file: string, name: string, limits: TableLimits): Promise<Table> {
  const text = await wholeText(file, name, limits);
  let values: unknown;
  try {
    values = JSON.parse(text);
  } catch (error) {
    throw new UserError(`${name}: not valid JSON: ${(error as Error).message}`, 'It must be an array of objects, or JSON Lines.');
  }
  if (!Array.isArray(values)) throw new UserError(`${name}: not a JSON array`, 'It must be an array of objects, or JSON Lines.');
  const items: readonly unknown[] = values;
  const exact = deeperThan(values, DEEPEST) ? undefined : (parseExact(text) as readonly Record<string, unknown>[] | undefined);
  function* rows(options: RowsOptions): Generator<TableRow, void, void> {
    for (const [i, item] of items.entries()) {
      const where = `${name}: row ${i + 1}`;
      if (!isRecord(item)) refuseRow({ where, error: 'not a JSON object' }, options);
      else if (deeperThan(item, DEEPEST)) refuseRow({ where, error: TOO_DEEP }, options);
      else yield { number: i + 1, where, values: item, ...(holdsLong(exact?.[i]) && { exact: exact![i]! }) };
    }
  }
  const columns = Object.keys(items.find(isRecord) ?? {});
  return tableOf({ name, format: 'json', columns, rowCount: items.length }, rows);
}

function tableOf(facts: Omit<Table, 'batches'>, rows: (options: RowsOptions) => AsyncIterable<TableRow> | Iterable<TableRow>): Table {
  return {
    ...facts,
    async *batches(options: RowsOptions = {}) {
      requireColumns(facts, options.columns ?? []);
      yield* inBatches(rows(options), options);
    },
  };
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
