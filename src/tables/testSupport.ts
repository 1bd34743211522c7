/** A temporary folder for tests of tables, and Parquet files made in them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterAll, beforeAll } from 'vitest';

/** Made before the tests of a file, removed after them. */
export function temporaryFolder(): { readonly path: string; write(name: string, content: string | Uint8Array): string } {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'toolwise-tables-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return {
    get path() {
      return folder;
    },
    write(name, content) {
      const file = join(folder, name);
      writeFileSync(file, content);
      return file;
    },
  };
}

type WriteOptions = Parameters<typeof parquetWriteBuffer>[0];

export const parquetBytes = (columnData: WriteOptions['columnData'], options: Omit<WriteOptions, 'columnData'> = {}): Uint8Array =>
  new Uint8Array(parquetWriteBuffer({ columnData, ...options }));

/** An independent reader and writer of Parquet. */
export interface Oracle {
  /** Rows as JSON knows them; 64-bit integers are texts. */
  query(sql: string): Promise<Record<string, unknown>[]>;
}

/** DuckDB in memory, open for the tests of a file. */
export function duckDb(): Oracle {
  let connection: DuckDBConnection;
  let instance: DuckDBInstance;
  beforeAll(async () => {
    instance = await DuckDBInstance.create(':memory:');
    connection = await instance.connect();
  });
  afterAll(() => {
    connection.closeSync();
    instance.closeSync();
  });
  return {
    async query(sql) {
      return (await connection.runAndReadAll(sql)).getRowObjectsJson() as Record<string, unknown>[];
    },
  };
}
