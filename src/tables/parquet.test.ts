import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { Random } from '../random.js';
import { UserError } from '../userError.js';
import { openTable, readTable } from './openTable.js';
import { parquetBytes, temporaryFolder } from './testSupport.js';

const folder = temporaryFolder();

const valuesOf = async (bytes: Uint8Array, options = {}) =>
  (await readTable(folder.write('x.parquet', bytes), options)).map((row) => row.values);

const messages = [
  [
    { role: 'user', content: 'Hé' },
    { role: 'assistant', content: 'b' },
  ],
  [],
  null,
];

const nested = (): Uint8Array =>
  parquetBytes(
    [
      { name: 'id', data: [1n, 2n, 9007199254740993n] },
      { name: 'messages', data: messages },
    ],
    {
      schema: [
        { name: 'root', num_children: 2 },
        { name: 'id', type: 'INT64', repetition_type: 'REQUIRED' },
        { name: 'messages', repetition_type: 'OPTIONAL', num_children: 1, converted_type: 'LIST' },
        { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
        { name: 'element', repetition_type: 'OPTIONAL', num_children: 2 },
        { name: 'role', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' },
        { name: 'content', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' },
      ],
    },
  );

describe('a Parquet file', () => {
  it('gives lists of structs and plain numbers', async () => {
    expect(await valuesOf(nested())).toEqual([
      { id: 1, messages: messages[0] },
      { id: 2, messages: [] },
      { id: '9007199254740993', messages: null },
    ]);
    expect(() => JSON.stringify(nested())).not.toThrow();
  });

  it('gives dates as texts, and what is missing as null', async () => {
    const rows = await valuesOf(
      parquetBytes([
        { name: 'when', data: [new Date('2025-02-01T00:00:00Z'), null], type: 'TIMESTAMP' },
        { name: 'real', data: [0.5, 2], type: 'DOUBLE' },
        { name: 'json', data: [{ a: [1] }, null], type: 'JSON' },
      ]),
    );
    expect(rows).toEqual([
      { when: '2025-02-01T00:00:00.000Z', real: 0.5, json: { a: [1] } },
      { when: null, real: 2, json: null },
    ]);
  });

  it.each([
    ['UNCOMPRESSED', undefined],
    ['SNAPPY', undefined],
    ['GZIP', (bytes: Uint8Array) => new Uint8Array(gzipSync(bytes))],
    ['BROTLI', (bytes: Uint8Array) => new Uint8Array(brotliCompressSync(bytes))],
    ['ZSTD', storedZstd],
  ] as const)('may be packed by %s', async (codec, pack) => {
    const data = Array.from({ length: 300 }, (_, i) => `text ${i % 7}`);
    const bytes = parquetBytes([{ name: 'a', data }], { codec, rowGroupSize: 100, ...(pack && { compressors: { [codec]: pack } }) });
    expect(await valuesOf(bytes)).toEqual(data.map((a) => ({ a })));
  });

  it.each(['PLAIN', 'DELTA_BYTE_ARRAY', 'DELTA_LENGTH_BYTE_ARRAY', 'RLE_DICTIONARY'] as const)('may be encoded by %s', async (encoding) => {
    const data = Array.from({ length: 50 }, (_, i) => (i % 5 === 0 ? null : `prefix ${i}`));
    expect(await valuesOf(parquetBytes([{ name: 'a', data, encoding, type: 'STRING' }]))).toEqual(data.map((a) => ({ a })));
  });

  it('says how many rows it has before any is read, and reads only the columns wanted', async () => {
    const bytes = nested();
    const table = await openTable(folder.write('count.parquet', bytes));
    expect(table).toMatchObject({ rowCount: 3, columns: ['id', 'messages'] });
    expect(await valuesOf(bytes, { columns: ['id'], limit: 1 })).toEqual([{ id: 1 }]);
  });

  it('that was cut off anywhere is one sentence', async () => {
    const whole = nested();
    for (let size = 0; size < whole.length; size += 7) {
      await expect(valuesOf(whole.subarray(0, size)), `${size} bytes`).rejects.toThrow(UserError);
    }
    await expect(valuesOf(whole.subarray(0, 100))).rejects.toThrow(/x\.parquet is damaged: its end is missing: was it cut off/);
    await expect(valuesOf(new Uint8Array(0))).rejects.toThrow(/it is not a Parquet file/);
  });

  it('with any bytes changed gives rows or one sentence, never another error', async () => {
    const random = new Random(7);
    const whole = nested();
    let refused = 0;
    for (let round = 0; round < 400; round++) {
      const bytes = Uint8Array.from(whole);
      for (let i = random.int(1, 3); i > 0; i--) bytes[random.int(4, bytes.length - 9)] = random.int(0, 255);
      try {
        await valuesOf(bytes);
      } catch (error) {
        expect(error).toBeInstanceOf(UserError);
        refused++;
      }
    }
    expect(refused).toBeGreaterThan(100);
  });

  it('that stands for far more than it weighs is refused', async () => {
    const zeros = parquetBytes([{ name: 'a', data: ['x'.repeat(4_000_000)] }], {
      codec: 'GZIP',
      compressors: { GZIP: (bytes) => new Uint8Array(gzipSync(bytes)) },
    });
    expect(zeros.length).toBeLessThan(50_000);
    await expect(valuesOf(zeros, { limits: { groupBytes: 1_000_000 } })).rejects.toThrow(/is too large: a row group declares 4 MiB/);
    const same = parquetBytes([{ name: 'a', data: new Array(50_000).fill('y') }], { rowGroupSize: 50_000 });
    await expect(valuesOf(same, { limits: { groupValues: 10_000 } })).rejects.toThrow(/is too large: a row group declares 50000 rows/);
  });

  it('whose page is larger than it declares is refused, not unfolded', async () => {
    const lying = parquetBytes([{ name: 'a', data: ['x'.repeat(1_000_000)] }], {
      codec: 'GZIP',
      compressors: { GZIP: () => new Uint8Array(gzipSync(Buffer.alloc(50_000_000))) },
    });
    await expect(valuesOf(lying)).rejects.toThrow(/x\.parquet is damaged/);
  });
});

/** A Zstandard frame that holds its bytes as they are: magic, a header with the size, one raw block. */
function storedZstd(bytes: Uint8Array): Uint8Array {
  const frame = Buffer.alloc(9 + 3 + bytes.length);
  frame.writeUInt32LE(0xfd2fb528, 0);
  frame[4] = 0b10100000;
  frame.writeUInt32LE(bytes.length, 5);
  frame.writeUIntLE((bytes.length << 3) | 1, 9, 3);
  frame.set(bytes, 12);
  return new Uint8Array(frame);
}
