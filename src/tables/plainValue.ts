/** Values as JSON knows them, from what a Parquet reader gives. */

/** BigInt becomes a number where that is exact, else its digits; a date its ISO text; an array of numbers a plain one. */
export function plainValue(value: unknown): unknown {
  if (typeof value === 'bigint') return value >= MIN && value <= MAX ? Number(value) : String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof Uint8Array) return value;
  if (ArrayBuffer.isView(value)) return Array.from(value as unknown as ArrayLike<number | bigint>, plainValue);
  if (Array.isArray(value)) return value.map(plainValue);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plainValue(inner)]));
}

const MIN = BigInt(Number.MIN_SAFE_INTEGER);
const MAX = BigInt(Number.MAX_SAFE_INTEGER);
