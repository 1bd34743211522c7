/**
 * Checks a Parquet file before it is decoded: what its footer declares, and page by page what its columns hold. A damaged file, or a few
 * bytes that stand for gigabytes (sizes, row counts, run lengths, shared prefixes), are refused before they cost anything. Does not decode
 * values: that is hyparquet's.
 */
import type { Compressors, FileMetaData, RowGroup, SchemaTree } from 'hyparquet';
import { parquetHeader } from 'hyparquet/src/column.js';
import { decompressPage } from 'hyparquet/src/datapage.js';
import { deltaBinaryUnpack } from 'hyparquet/src/delta.js';
import { readRleBitPackedHybrid } from 'hyparquet/src/encoding.js';
import { getMaxDefinitionLevel, getMaxRepetitionLevel } from 'hyparquet/src/schema.js';
import { readVarInt } from 'hyparquet/src/thrift.js';
import type { ColumnMetaData, PageHeader } from 'hyparquet/src/types.js';
import type { TableLimits } from './table.js';
import { megabytes } from './text.js';

/** Why a file is not read: it is damaged, or it asks for too much. Worded to follow the file's name and a colon. */
export class ParquetRefused extends Error {
  override readonly name = 'ParquetRefused';
  constructor(
    readonly kind: 'damaged' | 'tooLarge' | 'unsupported',
    message: string,
  ) {
    super(message);
  }
}

const damaged = (what: string): ParquetRefused => new ParquetRefused('damaged', what);
const tooLarge = (what: string): ParquetRefused => new ParquetRefused('tooLarge', what);

const DEEPEST = 32;
/** A bit-packed run may hold padding: at most so many values beyond those of its page. */
const PADDING = 512;

/** Where a column chunk's bytes stand in the file. */
export function chunkRange(meta: ColumnMetaData): { readonly start: number; readonly end: number } {
  const start = Number(meta.dictionary_page_offset || meta.data_page_offset);
  return { start, end: start + Number(meta.total_compressed_size) };
}

/** The top-level columns. @throws ParquetRefused when the footer contradicts itself or the file's size */
export function checkFooter(metadata: FileMetaData, tree: SchemaTree, fileBytes: number, limits: TableLimits): void {
  if (depth(tree) > DEEPEST) throw tooLarge(`its columns are nested deeper than ${DEEPEST}`);
  let rows = 0n;
  for (const group of metadata.row_groups) {
    if (group.num_rows < 0n) throw damaged('a row group has fewer than no rows');
    rows += group.num_rows;
    for (const { meta_data: meta, file_path: path } of group.columns) {
      if (path) throw new ParquetRefused('unsupported', 'its columns stand in other files');
      if (meta === undefined) throw damaged('a column has no description');
      const { start, end } = chunkRange(meta);
      if (!(start >= 0 && end >= start && end <= fileBytes)) throw damaged('a column lies outside of the file: was it cut off?');
      if (group.num_rows > limits.groupValues)
        throw tooLarge(`a row group declares ${group.num_rows} rows; at most ${limits.groupValues} are read`);
    }
  }
  if (rows !== metadata.num_rows) throw damaged(`it declares ${metadata.num_rows} rows, its row groups ${rows}`);
}

const depth = (tree: SchemaTree): number => 1 + Math.max(0, ...tree.children.map(depth));

/** The chunks of the wanted columns. @throws ParquetRefused when they declare more than the limits allow */
export function checkGroup(group: RowGroup, wanted: (column: string) => boolean, limits: TableLimits): ColumnMetaData[] {
  const chunks = group.columns.map(({ meta_data: meta }) => meta!).filter((meta) => wanted(meta.path_in_schema[0] ?? ''));
  let bytes = 0;
  let values = 0;
  for (const meta of chunks) {
    bytes += Number(meta.total_uncompressed_size);
    values += Number(meta.num_values);
    if (meta.num_values < 0n || meta.total_uncompressed_size < 0n) throw damaged('a column declares a negative size');
    if (meta.path_in_schema.length === 1 && meta.num_values !== group.num_rows) {
      throw damaged(`the column ${meta.path_in_schema[0]} has ${meta.num_values} values for ${group.num_rows} rows`);
    }
  }
  if (bytes > limits.groupBytes) {
    throw tooLarge(`a row group declares ${megabytes(bytes)} of the columns wanted; at most ${megabytes(limits.groupBytes)} are read`);
  }
  if (values > limits.groupValues) {
    throw tooLarge(`a row group declares ${values} values of the columns wanted; at most ${limits.groupValues} are read`);
  }
  return chunks;
}

/**
 * Walks the pages of one column chunk.
 *
 * @param path schema elements from the root to the column
 * @param bytesLeft what the row group may still unfold to
 * @returns what the chunk unfolds to
 * @throws ParquetRefused; RangeError and others of the decoder where the bytes make no sense
 */
export function checkChunk(
  chunk: ArrayBuffer,
  meta: ColumnMetaData,
  path: SchemaTree[],
  bytesLeft: number,
  unpackers: Compressors,
): number {
  const column = meta.path_in_schema.join('.');
  if (path.some(({ element }) => element.logical_type?.type === 'VARIANT')) {
    throw new ParquetRefused('unsupported', `the column ${column} has the type VARIANT, which is not read`);
  }
  const reader = { view: new DataView(chunk), offset: 0 };
  let unfolded = 0;
  let values = 0;
  while (reader.offset < reader.view.byteLength - 1) {
    const header = parquetHeader(reader);
    const { compressed_page_size: packed, uncompressed_page_size: size } = header;
    if (!(packed >= 0 && size >= 0 && reader.offset + packed <= reader.view.byteLength)) {
      throw damaged(`a page of the column ${column} lies outside of its column: was the file cut off?`);
    }
    unfolded += size;
    if (unfolded > bytesLeft)
      throw tooLarge(`the column ${column} unfolds to more than ${megabytes(bytesLeft)}: it looks like a decompression bomb`);
    const data = header.data_page_header ?? header.data_page_header_v2;
    if (data !== undefined) {
      values += data.num_values;
      if (!(data.num_values >= 0) || values > Number(meta.num_values))
        throw damaged(`the pages of the column ${column} hold more values than it declares`);
      checkPage(new Uint8Array(chunk, reader.offset, packed), header, meta, path, bytesLeft, unpackers);
    }
    reader.offset += packed;
  }
  if (values !== Number(meta.num_values))
    throw damaged(`the column ${column} holds ${values} of the ${meta.num_values} values that it declares`);
  return unfolded;
}

function checkPage(
  packed: Uint8Array,
  header: PageHeader,
  meta: ColumnMetaData,
  path: SchemaTree[],
  bytesLeft: number,
  unpackers: Compressors,
): void {
  const { data_page_header: v1, data_page_header_v2: v2 } = header;
  const repetition = getMaxRepetitionLevel(path);
  const definition = getMaxDefinitionLevel(path);
  if (v1 !== undefined) {
    const page = new Page(decompressPage(packed, header.uncompressed_page_size, meta.codec, unpackers), v1.num_values);
    if (repetition > 0) page.skipLevels(repetition);
    const nulls = definition > 0 ? page.skipLevels(definition) : 0;
    page.checkValues(v1.encoding, meta.type, v1.num_values - nulls, bytesLeft);
  } else if (v2 !== undefined) {
    const levels = v2.repetition_levels_byte_length + v2.definition_levels_byte_length;
    const head = new Page(packed, v2.num_values);
    if (repetition > 0) head.checkRuns(repetition);
    head.offset = v2.repetition_levels_byte_length;
    if (definition > 0) head.checkRuns(definition);
    const size = header.uncompressed_page_size - levels;
    if (!(levels >= 0 && size >= 0 && levels <= packed.length)) throw damaged('the levels of a page are larger than the page');
    const rest = packed.subarray(levels);
    const bytes = v2.is_compressed !== false && size > 0 ? decompressPage(rest, size, meta.codec, unpackers) : rest;
    new Page(bytes, v2.num_values).checkValues(v2.encoding, meta.type, v2.num_values - v2.num_nulls, bytesLeft);
  }
}

/** One unpacked page, read from its start. */
class Page {
  offset = 0;
  readonly #view: DataView;

  constructor(
    bytes: Uint8Array,
    /** Values of the page, nulls included. */
    private readonly count: number,
  ) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Checks levels that follow their length, and goes behind them; returns how many are below the maximum. */
  skipLevels(maximum: number): number {
    const length = this.#view.getUint32(this.offset, true);
    this.offset += 4;
    this.checkRuns(maximum);
    const levels = new Array<number>(this.count);
    readRleBitPackedHybrid({ view: this.#view, offset: this.offset }, widthOf(maximum), levels, length);
    this.offset += length;
    return levels.reduce((nulls, level) => nulls + (level === maximum ? 0 : 1), 0);
  }

  /** Run lengths of levels, from the offset on. */
  checkRuns(maximum: number): void {
    this.#runs(this.offset, widthOf(maximum));
  }

  checkValues(encoding: string, type: string, count: number, bytesLeft: number): void {
    if (count < 0) throw damaged('a page has more nulls than values');
    if (count === 0) return;
    if (type === 'BOOLEAN' && (encoding === 'RLE' || encoding.endsWith('DICTIONARY'))) this.#runs(this.offset + 4, 1);
    else if (encoding.endsWith('DICTIONARY')) this.#runs(this.offset + 1, this.#view.getUint8(this.offset));
    else if (encoding === 'DELTA_BYTE_ARRAY') this.#prefixes(count, bytesLeft);
  }

  #runs(from: number, width: number): void {
    const reader = { view: this.#view, offset: from };
    for (let seen = 0; seen < this.count && reader.offset < this.#view.byteLength; ) {
      const header = readVarInt(reader);
      const groups = header >>> 1;
      const run = (header & 1) === 1 ? groups * 8 : groups;
      if (run > this.count + PADDING) throw damaged(`a run of ${run} values stands in a page of ${this.count}`);
      reader.offset += (header & 1) === 1 ? groups * width : (width + 7) >> 3;
      seen += run;
    }
  }

  /** Each value may repeat the beginning of the one before: the sum of their lengths is what counts. */
  #prefixes(count: number, bytesLeft: number): void {
    const reader = { view: this.#view, offset: this.offset };
    const lengths = new Int32Array(count);
    let total = 0;
    for (let list = 0; list < 2; list++) {
      deltaBinaryUnpack(reader, count, lengths);
      for (const length of lengths) total += length;
    }
    if (total > bytesLeft) throw tooLarge(`a page unfolds to more than ${megabytes(bytesLeft)}: it looks like a decompression bomb`);
  }
}

const widthOf = (maximum: number): number => 32 - Math.clz32(maximum);
