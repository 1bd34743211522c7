/** How values of Parquet are decoded so that none is lost: what the usual decoding would round or drop stays as finer text, or as bytes. */
import { isUtf8 } from 'node:buffer';
import type { ParquetParsers } from 'hyparquet';

export const parsers: Partial<ParquetParsers> = {
  stringFromBytes: textOf,
  jsonFromBytes,
  timestampFromMilliseconds: (millis: bigint) => timeText(millis, 3),
  timestampFromMicroseconds: (micros: bigint) => timeText(micros, 6),
  timestampFromNanoseconds: (nanos: bigint) => timeText(nanos, 9),
  dateFromDays: (days: number | undefined) => (days === undefined || days === null ? days : timeText(BigInt(days) * 86_400_000n, 3)),
};

/** A byte order mark is kept; bytes that are no text stay bytes. */
function textOf(bytes: Uint8Array | undefined): unknown {
  if (bytes === undefined || bytes === null || !isUtf8(bytes)) return bytes;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

/** An object or a list, where its text can be written again from it; else the text as it stands. */
function jsonFromBytes(bytes: Uint8Array | undefined): unknown {
  const text = textOf(bytes);
  if (typeof text !== 'string') return text;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && JSON.stringify(value) === text ? value : text;
  } catch {
    return text;
  }
}

const FARTHEST_SECONDS = 8_640_000_000_000n;

/** ISO text with as many decimals as are needed, at least three; a time that no calendar holds is its number. */
function timeText(units: bigint | undefined, decimals: number): unknown {
  if (units === undefined || units === null) return units;
  const scale = 10n ** BigInt(decimals);
  let seconds = BigInt(units) / scale;
  let rest = BigInt(units) % scale;
  if (rest < 0n) {
    seconds -= 1n;
    rest += scale;
  }
  if (seconds < -FARTHEST_SECONDS || seconds > FARTHEST_SECONDS) return String(units);
  const fraction = String(rest).padStart(decimals, '0').replace(/0+$/, '').padEnd(3, '0');
  return new Date(Number(seconds) * 1000).toISOString().replace(/\.000Z$/, `.${fraction}Z`);
}
