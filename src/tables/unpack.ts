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

/** Unpacked bytes that are kept, of one row group. */
const KEPT_BYTES = 64 * 2 ** 20;

interface KeptPage {
  readonly packed: Uint8Array;
  readonly page: Uint8Array;
}

/** A page is unpacked to be checked, and again to be decoded: up to a bound `checking` keeps what `decoding` then takes. */
export function sharedUnpackers(): { readonly checking: Compressors; readonly decoding: Compressors } {
  const kept = new Map<string, KeptPage[]>();
  let room = KEPT_BYTES;
  const keyOf = (packed: Uint8Array, length: number): string => `${packed.length} ${length}`;
  const keeping =
    (unpack: Unpack): Unpack =>
    (packed, length) => {
      const page = unpack(packed, length);
      if (page.length <= room) {
        room -= page.length;
        const key = keyOf(packed, length);
        kept.set(key, [...(kept.get(key) ?? []), { packed: packed.slice(), page }]);
      }
      return page;
    };
  const taking =
    (unpack: Unpack): Unpack =>
    (packed, length) => {
      const pages = kept.get(keyOf(packed, length)) ?? [];
      const at = pages.findIndex((one) => Buffer.compare(one.packed, packed) === 0);
      return at === -1 ? unpack(packed, length) : pages.splice(at, 1)[0]!.page;
    };
  return { checking: mapped(keeping), decoding: mapped(taking) };
}

type Unpack = NonNullable<Compressors[keyof Compressors]>;

const mapped = (wrap: (unpack: Unpack) => Unpack): Compressors =>
  Object.fromEntries(Object.entries(unpackers).map(([codec, unpack]) => [codec, wrap(unpack)]));
