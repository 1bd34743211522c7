/** JSON in which equal values have equal texts: the keys of objects are in order. */

/** @throws TypeError for what has no such text: functions, symbols, circles, objects of a class that says nothing of itself as JSON */
export function canonicalJson(value: unknown): string {
  return write(value, 0);
}

const DEEPEST = 1000;

function write(value: unknown, depth: number): string {
  if (depth > DEEPEST) throw new TypeError('it is nested too deeply');
  if (typeof value === 'bigint') return `${value}n`;
  if (value === undefined) return 'undefined';
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  if (typeof value !== 'object' || value === null) {
    const text = JSON.stringify(value) as string | undefined;
    if (text === undefined) throw new TypeError(`a ${typeof value} has no JSON`);
    return text;
  }
  if (Array.isArray(value)) return `[${value.map((item) => write(item, depth + 1)).join(',')}]`;
  if ('toJSON' in value && typeof value.toJSON === 'function') return write(value.toJSON() as unknown, depth + 1);
  const kind = Object.getPrototypeOf(value) as unknown;
  if (kind !== Object.prototype && kind !== null) throw new TypeError('it is no plain object');
  const fields = Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `{${fields.map(([key, inner]) => `${JSON.stringify(key)}:${write(inner, depth + 1)}`).join(',')}}`;
}
