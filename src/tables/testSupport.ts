/** A temporary folder for tests of tables, and Parquet files made in them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
