/** Rows of a Parquet file, one row group at a time and only the columns that are wanted. Damage and excess become one sentence. */
import { type FileHandle, open } from 'node:fs/promises';
import { type AsyncBuffer, type FileMetaData, parquetMetadataAsync, parquetReadObjects, parquetSchema, type SchemaTree } from 'hyparquet';
import { getTreePath } from 'hyparquet/src/schema.js';
import { UserError } from '../userError.js';
import { checkChunk, checkFooter, checkGroup, chunkRange, ParquetRefused } from './parquetGuard.js';
import { parsers } from './parquetParsers.js';
import { exactValue, holdsLong, plainValue } from './plainValue.js';
import { inBatches, type ParquetFacts, type RowsOptions, requireColumns, type Table, type TableLimits, type TableRow } from './table.js';
import { unreadable } from './text.js';
import { sharedUnpackers } from './unpack.js';

/** Thrift's numbers may be long: a larger footer is no footer. */
const LARGEST_FOOTER = 64 * 2 ** 20;

/** @throws UserError when it is no whole Parquet file */
export async function openParquet(file: string, name: string, limits: TableLimits): Promise<Table> {
  const { metadata, tree } = await withFile(file, name, async (buffer) => {
    await checkEnds(buffer);
    const metadata = await parquetMetadataAsync(buffer, { geoparquet: false });
    const tree = parquetSchema(metadata);
    checkFooter(metadata, tree, buffer.byteLength, limits);
    return { metadata, tree };
  });
  const columns = tree.children.map(({ element }) => element.name);
  const parquet: ParquetFacts = { elements: metadata.schema, notes: metadata.key_value_metadata ?? [] };
  const facts = { name, format: 'parquet', columns, rowCount: Number(metadata.num_rows), parquet } as const;
  return {
    ...facts,
    async *batches(options: RowsOptions = {}) {
      const wanted = options.columns ?? columns;
      requireColumns(facts, wanted);
      const rest: RowsOptions = { ...options };
      yield* inBatches(rowsOf({ file, name, metadata, tree, wanted, limits, limit: rest.limit ?? Number.POSITIVE_INFINITY }), rest);
    },
  };
}

interface Reading {
  readonly file: string;
  readonly name: string;
  readonly metadata: FileMetaData;
  readonly tree: SchemaTree;
  readonly wanted: readonly string[];
  readonly limits: TableLimits;
  readonly limit: number;
}

async function* rowsOf(reading: Reading): AsyncGenerator<TableRow, void, void> {
  const { metadata, wanted, name, limit } = reading;
  let groupStart = 0;
  for (const group of metadata.row_groups) {
    const groupEnd = groupStart + Number(group.num_rows);
    if (groupStart >= limit) return;
    const rows = wanted.length === 0 ? [] : await readGroup(reading, group, groupStart, Math.min(groupEnd, limit));
    for (let i = 0; i < Math.min(groupEnd, limit) - groupStart; i++) {
      const number = groupStart + i + 1;
      const read = rows[i] ?? {};
      const values = Object.fromEntries(Object.entries(read).map(([key, value]) => [key, plainValue(value ?? null)]));
      const exact = holdsLong(read) ? (exactValue({ ...values, ...read }) as typeof values) : undefined;
      yield { number, where: `${name}: row ${number}`, values, ...(exact && { exact }) };
    }
    groupStart = groupEnd;
  }
}

async function readGroup(
  { file, name, metadata, tree, wanted, limits }: Reading,
  group: FileMetaData['row_groups'][number],
  rowStart: number,
  rowEnd: number,
): Promise<Record<string, unknown>[]> {
  return withFile(file, name, async (buffer) => {
    const { checking, decoding } = sharedUnpackers();
    let bytesLeft = limits.groupBytes;
    for (const meta of checkGroup(group, (column) => wanted.includes(column), limits)) {
      const { start, end } = chunkRange(meta);
      bytesLeft -= checkChunk(await buffer.slice(start, end), meta, getTreePath(tree, meta.path_in_schema), bytesLeft, checking);
    }
    return parquetReadObjects({
      file: buffer,
      metadata,
      columns: [...wanted],
      rowStart,
      rowEnd,
      compressors: decoding,
      parsers,
      geoparquet: false,
    });
  });
}

const MAGIC = 'PAR1';

/** A file that was cut off lacks its end. */
async function checkEnds(buffer: AsyncBuffer): Promise<void> {
  const { byteLength: size } = buffer;
  const text = async (start: number, end: number): Promise<string> => Buffer.from(await buffer.slice(start, end)).toString('latin1');
  if (size < 12 || (await text(0, 4)) !== MAGIC) throw new ParquetRefused('damaged', 'it is not a Parquet file');
  if ((await text(size - 4, size)) !== MAGIC) throw new ParquetRefused('damaged', 'its end is missing: was it cut off?');
  const footer = new DataView(await buffer.slice(size - 8, size - 4)).getUint32(0, true);
  if (footer > Math.min(size - 12, LARGEST_FOOTER)) throw new ParquetRefused('damaged', `its footer cannot have ${footer} bytes`);
}

async function withFile<T>(file: string, name: string, work: (buffer: AsyncBuffer) => Promise<T>): Promise<T> {
  let handle: FileHandle;
  try {
    handle = await open(file, 'r');
  } catch (error) {
    throw unreadable(name, error);
  }
  try {
    return await work(await bufferOf(handle));
  } catch (error) {
    throw explained(name, error);
  } finally {
    await handle.close();
  }
}

async function bufferOf(handle: FileHandle): Promise<AsyncBuffer> {
  const { size } = await handle.stat();
  return {
    byteLength: size,
    async slice(start, end = size) {
      if (!(start >= 0 && end >= start && end <= size)) throw new ParquetRefused('damaged', 'it points outside of itself: was it cut off?');
      const bytes = new Uint8Array(end - start);
      let done = 0;
      while (done < bytes.length) {
        const { bytesRead } = await handle.read(bytes, done, bytes.length - done, start + done);
        if (bytesRead === 0) throw new ParquetRefused('damaged', 'it became shorter while it was read');
        done += bytesRead;
      }
      return bytes.buffer;
    },
  };
}

/** Whatever the decoder trips over in foreign bytes is damage of the file; failures of the machine keep their own words. */
function explained(name: string, error: unknown): Error {
  if (error instanceof UserError) return error;
  if (!(error instanceof ParquetRefused)) {
    const { syscall, message } = error as NodeJS.ErrnoException;
    if (syscall !== undefined) return unreadable(name, error);
    return new UserError(`${name} is damaged: ${message}`, 'Fetch the file again.');
  }
  if (error.kind === 'damaged') return new UserError(`${name} is damaged: ${error.message}`, 'Fetch the file again.');
  if (error.kind === 'unsupported') return new UserError(`${name} cannot be read: ${error.message}`, 'Write it anew as plain columns.');
  return new UserError(`${name} is too large: ${error.message}`, 'Write it anew in smaller row groups, if you trust it.');
}
