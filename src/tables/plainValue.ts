/** Values as JSON knows them, from what a Parquet reader gives. */

/** BigInt becomes a number where that is exact, else its digits; a date its ISO text; an array of numbers a plain one. */
export const plainValue = (value: unknown): unknown => convert(value, digits);

/** The same, but an integer that no number holds stays a BigInt. */
export const exactValue = (value: unknown): unknown => convert(value, (long) => long);

/** Whether the two differ. */
export function holdsLong(value: unknown): boolean {
  if (typeof value === 'bigint') return !isShort(value);
  if (typeof value !== 'object' || value === null || value instanceof Date || value instanceof Uint8Array) return false;
  if (value instanceof BigInt64Array || value instanceof BigUint64Array) return value.some((one) => !isShort(one));
  if (ArrayBuffer.isView(value)) return false;
  if (Array.isArray(value)) return value.some(holdsLong);
  for (const name in value) if (holdsLong((value as Record<string, unknown>)[name])) return true;
  return false;
}

const digits = (long: bigint): unknown => String(long);

function convert(value: unknown, ofLong: (long: bigint) => unknown): unknown {
  if (typeof value === 'bigint') return isShort(value) ? Number(value) : ofLong(value);
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof Uint8Array) return value;
  if (ArrayBuffer.isView(value)) return Array.from(value as unknown as ArrayLike<number | bigint>, (one) => convert(one, ofLong));
  if (Array.isArray(value)) return value.map((inner) => convert(inner, ofLong));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, convert(inner, ofLong)]));
}

const MIN = BigInt(Number.MIN_SAFE_INTEGER);
const MAX = BigInt(Number.MAX_SAFE_INTEGER);
const isShort = (value: bigint): boolean => value >= MIN && value <= MAX;
