/** Python's ways with text, where they differ from JavaScript's: positions count code points, and its own idea of space and digits. */

/** What `str.isspace` and `\s` match there, for use in a character class under the `u` flag. */
export const SPACE = '\\t-\\r\\x1c-\\x20\\x85\\p{Zs}\\u2028\\u2029';

const EDGES = new RegExp(`^[${SPACE}]+|[${SPACE}]+$`, 'gu');
/** Decimal digits of any script, and digits that are raised, lowered or in a ring. */
const DIGITS = /^[\p{Nd}\u00b2\u00b3\u00b9\u2070\u2074-\u2079\u2080-\u2089\u2460-\u2468\u2474-\u247c\u2488-\u2490\u24ea]+$/u;

/** `text.strip()` */
export const strip = (text: string): string => text.replace(EDGES, '');

/** `text.isdigit()` */
export const isDigit = (text: string): boolean => DIGITS.test(text);

/** `text[-count:]`, count above 0. Takes time in `count`, not in the text. */
export function tail(text: string, count: number): string {
  let at = text.length;
  for (let taken = 0; taken < count && at > 0; taken++) {
    at--;
    const low = text.charCodeAt(at);
    if (low >= 0xdc00 && low <= 0xdfff && at > 0) {
      const high = text.charCodeAt(at - 1);
      if (high >= 0xd800 && high <= 0xdbff) at--;
    }
  }
  return text.slice(at);
}

/** `str(value)` of a value as JSON gives it. */
export function pythonString(value: unknown): string {
  return typeof value === 'string' ? value : representation(value);
}

function representation(value: unknown): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'string') return quoted(value);
  if (Array.isArray(value)) return `[${value.map(representation).join(', ')}]`;
  if (typeof value === 'object') {
    return `{${Object.entries(value)
      .map(([key, item]) => `${quoted(key)}: ${representation(item)}`)
      .join(', ')}}`;
  }
  return String(value);
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const inner = text.replace(/[\\\n\r\t]/g, (char) => ESCAPES[char]!);
  return `${quote}${quote === "'" ? inner.replaceAll("'", "\\'") : inner}${quote}`;
}
