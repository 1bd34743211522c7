/**
 * Rows as JSON Lines, a JSON array, CSV or TSV.
 *
 * CSV: a text that a spreadsheet would run as a formula (it begins with = + - @, a tab or a carriage return, and is no number) is written
 * with an apostrophe before it; so is one that begins with apostrophes and then one of these, so that reading takes exactly one off.
 * Lists and objects become JSON text, null an empty field.
 */
import { once } from 'node:events';
import type { FileHandle } from 'node:fs/promises';
import { createGzip } from 'node:zlib';
import { UserError } from '../userError.js';
import { jsonText } from './parquetValues.js';
import type { TableFormat } from './table.js';
import type { RowSink } from './writeTable.js';

interface TextOptions {
  readonly tabs: boolean;
  readonly packed: boolean;
  /** For messages. */
  readonly name: string;
}

const CHUNK = 2 ** 18;

export function textRows(handle: FileHandle, format: Exclude<TableFormat, 'parquet'>, options: TextOptions): RowSink {
  const out = options.packed ? packedOutput(handle) : plainOutput(handle);
  const rowText = format === 'csv' ? csvRows(options) : format === 'json' ? jsonRows() : jsonLine;
  let pending: string[] = [];
  let size = 0;
  const flush = async (): Promise<void> => {
    const text = pending.join('');
    pending = [];
    size = 0;
    await out.write(Buffer.from(text));
  };
  return {
    write(values) {
      const text = rowText(values);
      pending.push(text);
      size += text.length;
      return size >= CHUNK ? flush() : undefined;
    },
    async end() {
      if (format === 'json') pending.push(pending.length === 0 && size === 0 && !out.begun ? '[]\n' : '\n]\n');
      await flush();
      await out.end();
    },
  };
}

interface Output {
  /** Whether anything was written. */
  readonly begun: boolean;
  write(bytes: Buffer): Promise<void>;
  end(): Promise<void>;
}

function plainOutput(handle: FileHandle): Output {
  let begun = false;
  return {
    get begun() {
      return begun;
    },
    async write(bytes) {
      begun = true;
      await writeAll(handle, bytes);
    },
    async end() {},
  };
}

export async function writeAll(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length; ) done += (await handle.write(bytes, done, bytes.length - done)).bytesWritten;
}

function packedOutput(handle: FileHandle): Output {
  let begun = false;
  const gzip = createGzip();
  const copied = (async () => {
    for await (const chunk of gzip) await writeAll(handle, chunk as Buffer);
  })();
  copied.catch(() => undefined);
  return {
    get begun() {
      return begun;
    },
    async write(bytes) {
      begun = true;
      if (!gzip.write(bytes)) await Promise.race([once(gzip, 'drain'), copied]);
    },
    async end() {
      gzip.end();
      await copied;
    },
  };
}

const jsonLine = (values: Readonly<Record<string, unknown>>): string => `${jsonText(values)}\n`;

function jsonRows(): (values: Readonly<Record<string, unknown>>) => string {
  let first = true;
  return (values) => {
    const before = first ? '[\n' : ',\n';
    first = false;
    return before + jsonText(values);
  };
}

/** The first row names the columns. */
function csvRows({ tabs, name }: TextOptions): (values: Readonly<Record<string, unknown>>) => string {
  const delimiter = tabs ? '\t' : ',';
  let columns: readonly string[] | undefined;
  let number = 0;
  const line = (fields: readonly unknown[]): string => {
    const text = fields.map((field) => csvField(field, delimiter)).join(delimiter);
    // A line without anything would be no row.
    return `${text === '' ? '""' : text}\r\n`;
  };
  return (values) => {
    number++;
    const header = columns === undefined ? line(Object.keys(values)) : '';
    columns ??= Object.keys(values);
    const strange = Object.keys(values).find((column) => !columns!.includes(column));
    if (strange !== undefined)
      throw new UserError(
        `row ${number} for ${name} has ${JSON.stringify(strange)}, for which the header has no column`,
        'Write JSON Lines, or give every row the same columns.',
      );
    return header + line(columns.map((column) => values[column]));
  };
}

const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;
export const FORMULA = /^'*[=+\-@\t\r]/;

function csvField(value: unknown, delimiter: string): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'string' ? value : typeof value === 'object' ? jsonText(value) : String(value);
  const guarded = typeof value === 'string' && FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /["\r\n]/.test(guarded) || guarded.includes(delimiter) || guarded !== guarded.trim()
    ? `"${guarded.replaceAll('"', '""')}"`
    : guarded;
}
