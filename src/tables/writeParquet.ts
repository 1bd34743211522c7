/**
 * Rows as Parquet, a row group at a time: no more than one group of rows is held, so that files of any size can be written. Bounds the rows
 * and the bytes of a group, for the sake of whoever reads it.
 */
import { createReadStream } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { deserialize, serialize } from 'node:v8';
import { gzipSync } from 'node:zlib';
import type { KeyValue, SchemaElement, SchemaTree } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { UserError } from '../userError.js';
import { ColumnInference } from './inferColumns.js';
import { elementsOf, type ParquetColumns, treeOf, writableElements } from './parquetSchema.js';
import { MisfitValue, storedStruct } from './parquetValues.js';
import type { ParquetFacts } from './table.js';
import type { RowSink } from './writeTable.js';
import { writeAll } from './writeText.js';

export type ParquetCodec = 'snappy' | 'gzip' | 'none';

export interface ParquetSettings {
  /** For messages. */
  readonly name: string;
  readonly rowGroupRows?: number;
  readonly codec?: ParquetCodec;
}

export type ParquetShape = { readonly columns: ParquetColumns } | { readonly like: ParquetFacts; readonly likeName: string };

const GROUP_ROWS = 1024;
/** Rows of more than this, all together, are a group. Counted in characters, before they are packed. */
const GROUP_SIZE = 16 * 2 ** 20;

const CODECS = { snappy: 'SNAPPY', gzip: 'GZIP', none: 'UNCOMPRESSED' } as const;

/** What other programs need to know the columns by; the description of Arrow's own types is left out, since it may no longer hold. */
const KEPT_NOTES = ['huggingface', 'pandas'];

export function parquetRows(handle: FileHandle, shape: ParquetShape, settings: ParquetSettings): RowSink {
  const declared = 'columns' in shape ? elementsOf(shape.columns) : writableElements(shape.like.elements, shape.likeName);
  if (declared.length === 1) throw new UserError(`${settings.name}: a Parquet file needs at least one column`);
  const notes = 'columns' in shape ? [] : shape.like.notes.filter(({ key }) => KEPT_NOTES.includes(key));
  return new ParquetRows(handle, declared, notes, settings);
}

/** The encoder has a decoder of its own, whose types are older. */
type EncoderSchema = ParquetWriter['schema'];

class ParquetRows implements RowSink {
  readonly #bytes = new ByteWriter(2 ** 20);
  readonly #writer: ParquetWriter;
  readonly #tree: SchemaTree;
  readonly #groupRows: number;
  #rows: Record<string, unknown>[] = [];
  #size = 0;
  #count = 0;

  constructor(
    private readonly handle: FileHandle,
    private readonly declared: readonly SchemaElement[],
    notes: readonly KeyValue[],
    private readonly settings: ParquetSettings,
  ) {
    this.#tree = treeOf(declared);
    this.#groupRows = settings.rowGroupRows ?? GROUP_ROWS;
    this.#writer = new ParquetWriter({
      writer: this.#bytes,
      schema: declared.map(encoded) as EncoderSchema,
      codec: CODECS[settings.codec ?? 'snappy'],
      compressors: { GZIP: (bytes) => gzipSync(bytes) },
      createdBy: 'toolwise',
      ...(notes.length > 0 && { kvMetadata: [...notes] }),
    });
  }

  write(values: Readonly<Record<string, unknown>>): void | Promise<void> {
    this.#count++;
    try {
      this.#rows.push(storedStruct(values, this.#tree));
    } catch (error) {
      if (error instanceof MisfitValue)
        throw new UserError(`row ${this.#count} for ${this.settings.name}: ${error.message}`, 'Mend the row, or leave it out.');
      throw error;
    }
    this.#size += sizeOf(values);
    if (this.#rows.length >= this.#groupRows || this.#size >= GROUP_SIZE) return this.#flush();
  }

  async #flush(): Promise<void> {
    if (this.#rows.length > 0) {
      const columnData = this.#tree.children.map((child) => {
        const { name } = child.element;
        return { name, data: this.#rows.map((row) => row[name]), statistics: !holdsJson(child) };
      });
      this.#rows = [];
      this.#size = 0;
      this.#writer.write({ columnData, rowGroupSize: columnData[0]!.data.length });
    }
    await this.#drain();
  }

  async #drain(): Promise<void> {
    const bytes = this.#bytes as ByteWriter & { index: number };
    await writeAll(this.handle, bytes.getBytes());
    bytes.index = 0;
  }

  async end(): Promise<void> {
    await this.#flush();
    this.#writer.schema = [...this.declared] as EncoderSchema;
    this.#writer.finish();
    await this.#drain();
  }
}

/** JSON is given to the encoder as the bytes it is: it would be written anew otherwise. */
function encoded(element: SchemaElement): SchemaElement {
  if (!isJson(element)) return element;
  const { converted_type: _, logical_type: __, ...rest } = element;
  return rest;
}

const isJson = ({ converted_type: converted, logical_type: logical }: SchemaElement): boolean =>
  converted === 'JSON' || logical?.type === 'JSON';
const holdsJson = (tree: SchemaTree): boolean => isJson(tree.element) || tree.children.some(holdsJson);

/** About the characters of a value. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 8;
  if (value instanceof Uint8Array) return value.length;
  let size = 16;
  if (Array.isArray(value)) for (const inner of value) size += sizeOf(inner);
  else for (const name in value) size += sizeOf((value as Record<string, unknown>)[name]);
  return size;
}

/**
 * Rows whose columns are not known before the last one was seen. They wait in memory as long as they fit into one group, then in a file
 * beside the table.
 */
export function inferringRows(handle: FileHandle, spool: string, settings: ParquetSettings): RowSink {
  const inference = new ColumnInference();
  const groupRows = settings.rowGroupRows ?? GROUP_ROWS;
  let waiting: Readonly<Record<string, unknown>>[] = [];
  let size = 0;
  let spooled: FileHandle | undefined;
  const spoolOut = async (): Promise<void> => {
    spooled ??= await open(spool, 'wx');
    const parts = waiting.flatMap((row) => {
      const bytes = serialize(row);
      const length = Buffer.alloc(4);
      length.writeUInt32LE(bytes.length);
      return [length, bytes];
    });
    waiting = [];
    size = 0;
    await writeAll(spooled, Buffer.concat(parts));
  };
  const discard = async (): Promise<void> => {
    await spooled?.close();
    spooled = undefined;
    await rm(spool, { force: true });
  };
  return {
    write(values) {
      inference.add(values);
      waiting.push(values);
      size += sizeOf(values);
      return waiting.length > groupRows || size >= GROUP_SIZE ? spoolOut() : undefined;
    },
    async end() {
      const columns = inference.columns();
      if (Object.keys(columns).length === 0)
        throw new UserError(`${settings.name}: there is no row to find its columns from`, 'Write JSON Lines, or name the columns.');
      const rows = parquetRows(handle, { columns }, settings);
      if (spooled !== undefined) for await (const values of spooledRows(spool)) await rows.write(values);
      for (const values of waiting) await rows.write(values);
      await rows.end();
      await discard();
    },
    discard,
  };
}

async function* spooledRows(spool: string): AsyncGenerator<Record<string, unknown>, void, void> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of createReadStream(spool, { highWaterMark: 2 ** 20 })) {
    rest = rest.length === 0 ? (chunk as Buffer) : Buffer.concat([rest, chunk as Buffer]);
    let at = 0;
    while (rest.length - at >= 4) {
      const end = at + 4 + rest.readUInt32LE(at);
      if (end > rest.length) break;
      yield deserialize(rest.subarray(at + 4, end)) as Record<string, unknown>;
      at = end;
    }
    rest = rest.subarray(at);
  }
}
