/** Integers of a JSON text that no number holds: `JSON.parse` would round them. */

/** The value with those integers as BigInt; undefined where there are none. The text must be valid JSON. */
export function parseExact(text: string): unknown {
  if (!/\d{16}/.test(text)) return undefined;
  const places = longIntegers(text);
  if (places.length === 0) return undefined;
  const mark = unused(text);
  let marked = '';
  let from = 0;
  for (const { start, end } of places) {
    marked += `${text.slice(from, start)}"${mark}${text.slice(start, end)}"`;
    from = end;
  }
  return JSON.parse(marked + text.slice(from), (_, value: unknown) =>
    typeof value === 'string' && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value,
  );
}

interface Place {
  readonly start: number;
  readonly end: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;

function longIntegers(text: string): Place[] {
  const number = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
  const places: Place[] = [];
  for (let i = 0; i < text.length; ) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) {
      i = endOfString(text, i);
    } else if (code === MINUS || (code >= 0x30 && code <= 0x39)) {
      number.lastIndex = i;
      const [found = text[i]!] = number.exec(text) ?? [];
      const end = i + found.length;
      if (found.length >= 16 && /^-?\d+$/.test(found) && !Number.isSafeInteger(Number(found))) places.push({ start: i, end });
      i = end;
    } else i++;
  }
  return places;
}

function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return end + 1;
  }
  return text.length;
}

/** A text that does not occur. */
function unused(text: string): string {
  for (let i = 0; ; i++) {
    const mark = `integer ${i}:`;
    if (!text.includes(mark)) return mark;
  }
}
