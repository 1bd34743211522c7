/**
 * Unpacks the pages of Parquet files, each into exactly the bytes that its header declares: a page that would unfold to more fails instead
 * of growing. Declared sizes are checked before (`parquetGuard.ts`).
 */
import { brotliDecompressSync, unzipSync } from 'node:zlib';
import { decompress as zstd } from 'fzstd';
import type { Compressors } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';

export const unpackers: Compressors = {
  ...compressors,
  GZIP: (input, length) => unzipSync(input, { maxOutputLength: Math.max(1, length) }),
  BROTLI: (input, length) => brotliDecompressSync(input, { maxOutputLength: Math.max(1, length) }),
  ZSTD: (input, length) => zstd(input, new Uint8Array(length)),
};
