/**
 * Reads a value from JSON text, or from Python's way of writing the same (single quotes, True, None, tuples), keeping each number as it was
 * written: integers of any size stay exact. Writes it back as JSON. Evaluates nothing.
 */

/** A number by its digits. `decimal`: it has a point or an exponent, or is NaN or infinite. */
export interface NumberText {
  readonly digits: string;
  readonly decimal: boolean;
}

export type ExactValue = null | boolean | string | NumberText | readonly ExactValue[] | ExactObject;

/** An object's members in order; keys are texts, as in JSON. */
export interface ExactObject {
  readonly members: ReadonlyMap<string, ExactValue>;
}

export type ReadResult = { readonly ok: true; readonly value: ExactValue } | { readonly ok: false; readonly error: string };

export const isNumber = (value: ExactValue): value is NumberText => typeof value === 'object' && value !== null && 'digits' in value;
export const isList = (value: ExactValue): value is readonly ExactValue[] => Array.isArray(value);
export const isObject = (value: ExactValue): value is ExactObject => typeof value === 'object' && value !== null && 'members' in value;

/** Deeper nesting is refused. */
const MAX_DEPTH = 2000;

/** @param python also accept Python's literals */
export function readValue(text: string, { python = false }: { python?: boolean } = {}): ReadResult {
  const reader = new Reader(text, python);
  try {
    return { ok: true, value: reader.whole() };
  } catch (error) {
    if (error instanceof Fault) return { ok: false, error: error.message };
    throw error;
  }
}

/** As JSON text; NaN and infinities as Python's `json` writes and reads them. */
export function writeValue(value: ExactValue): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return JSON.stringify(value);
  if (isNumber(value)) return value.digits;
  if (isList(value)) return `[${value.map(writeValue).join(', ')}]`;
  return `{${[...value.members].map(([key, inner]) => `${JSON.stringify(key)}: ${writeValue(inner)}`).join(', ')}}`;
}

/** From a value as `JSON.parse` gives it; undefined where it holds something that JSON does not know. */
export function fromPlain(value: unknown): ExactValue | undefined {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'bigint') return { digits: String(value), decimal: false };
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) return { digits: Number.isNaN(value) ? 'NaN' : value > 0 ? 'Infinity' : '-Infinity', decimal: true };
    return Number.isInteger(value) ? { digits: String(BigInt(value)), decimal: false } : { digits: String(value), decimal: true };
  }
  if (Array.isArray(value)) {
    const items = value.map(fromPlain);
    return items.includes(undefined) ? undefined : (items as ExactValue[]);
  }
  if (typeof value !== 'object') return undefined;
  const members = new Map<string, ExactValue>();
  for (const [key, inner] of Object.entries(value)) {
    const exact = fromPlain(inner);
    if (exact === undefined) return undefined;
    members.set(key, exact);
  }
  return { members };
}

class Fault extends Error {}

const NUMBER = /[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?/y;
const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;
const WORD = /-?[A-Za-z]+/y;
const PLAIN_TEXT = { '"': /[^"\\\n]*/y, "'": /[^'\\\n]*/y } as const;

const WORDS: Readonly<Record<string, ExactValue>> = {
  true: true,
  false: false,
  null: null,
  NaN: { digits: 'NaN', decimal: true },
  Infinity: { digits: 'Infinity', decimal: true },
  '-Infinity': { digits: '-Infinity', decimal: true },
};
const PYTHON_WORDS: Readonly<Record<string, ExactValue>> = { True: true, False: false, None: null };
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', '/': '/', '\\': '\\', '"': '"' };
const PYTHON_ESCAPES: Readonly<Record<string, string>> = { "'": "'", a: '\x07', v: '\v', '0': '\0', '\n': '' };

class Reader {
  #at = 0;

  constructor(
    private readonly text: string,
    private readonly python: boolean,
  ) {}

  whole(): ExactValue {
    const value = this.#value(0);
    this.#space();
    if (this.#at < this.text.length) throw this.#fault('something follows the value');
    return value;
  }

  #value(depth: number): ExactValue {
    if (depth > MAX_DEPTH) throw this.#fault('nested too deeply');
    this.#space();
    const char = this.text[this.#at];
    if (char === '[') return this.#list(']', depth);
    if (char === '(' && this.python) return this.#list(')', depth);
    if (char === '{') return this.#object(depth);
    if (char === '"' || (char === "'" && this.python)) return this.#string(char);
    const word = this.#word();
    return word === undefined ? this.#number() : word;
  }

  #list(close: ']' | ')', depth: number): ExactValue {
    this.#at++;
    const items: ExactValue[] = [];
    let comma = false;
    for (;;) {
      if (this.#skip(close)) {
        if (comma && items.length > 0 && !this.python) throw this.#fault('a comma before the end of a list');
        return close === ')' && items.length === 1 && !comma ? items[0]! : items;
      }
      if (items.length > 0 && !comma) throw this.#fault(`expected , or ${close}`);
      items.push(this.#value(depth + 1));
      comma = this.#skip(',');
    }
  }

  #object(depth: number): ExactValue {
    this.#at++;
    const members = new Map<string, ExactValue>();
    let comma = true;
    for (;;) {
      if (this.#skip('}')) {
        if (comma && members.size > 0 && !this.python) throw this.#fault('a comma before the end of an object');
        return { members };
      }
      if (!comma) throw this.#fault('expected , or }');
      const key = this.#value(depth + 1);
      if (typeof key !== 'string' && !(this.python && (isNumber(key) || key === null || typeof key === 'boolean'))) {
        throw this.#fault('a key is no text');
      }
      if (!this.#skip(':')) throw this.#fault('expected :');
      members.set(typeof key === 'string' ? key : writeValue(key), this.#value(depth + 1));
      comma = this.#skip(',');
    }
  }

  #string(quote: '"' | "'"): string {
    const plain = PLAIN_TEXT[quote];
    let value = '';
    this.#at++;
    for (;;) {
      plain.lastIndex = this.#at;
      value += plain.exec(this.text)![0];
      this.#at = plain.lastIndex;
      const char = this.text[this.#at++];
      if (char === quote) return value;
      if (char === '\\') value += this.#escape();
      else if (char === '\n' && !this.python) value += char;
      else throw this.#fault('a text without an end');
    }
  }

  #escape(): string {
    const char = this.text[this.#at++];
    if (char === undefined) throw this.#fault('a text without an end');
    const known = ESCAPES[char] ?? (this.python ? PYTHON_ESCAPES[char] : undefined);
    if (known !== undefined && !(this.python && char === '0' && /\d/.test(this.text[this.#at] ?? ''))) return known;
    const length = char === 'u' ? 4 : this.python && char === 'x' ? 2 : this.python && char === 'U' ? 8 : 0;
    const digits = this.text.slice(this.#at, this.#at + length);
    if (length === 0 || !new RegExp(`^[0-9a-fA-F]{${length}}$`).test(digits)) throw this.#fault('an unknown escape');
    const code = Number.parseInt(digits, 16);
    if (code > 0x10ffff) throw this.#fault('an unknown escape');
    this.#at += length;
    return length === 8 ? String.fromCodePoint(code) : String.fromCharCode(code);
  }

  #word(): ExactValue | undefined {
    WORD.lastIndex = this.#at;
    const word = WORD.exec(this.text)?.[0];
    if (word === undefined) return undefined;
    const value = Object.hasOwn(WORDS, word)
      ? WORDS[word]
      : this.python && Object.hasOwn(PYTHON_WORDS, word)
        ? PYTHON_WORDS[word]
        : undefined;
    if (value === undefined) throw this.#fault('an unknown word');
    this.#at += word.length;
    return value;
  }

  #number(): NumberText {
    NUMBER.lastIndex = this.#at;
    const digits = NUMBER.exec(this.text)?.[0];
    if (digits === undefined) throw this.#fault(this.#at < this.text.length ? 'not a value' : 'the text ends early');
    if (!JSON_NUMBER.test(digits) && !this.python) throw this.#fault('not a JSON number');
    this.#at += digits.length;
    return { digits: canonical(digits), decimal: /[.eE]/.test(digits) };
  }

  #skip(char: string): boolean {
    this.#space();
    if (this.text[this.#at] !== char) return false;
    this.#at++;
    return true;
  }

  #space(): void {
    while (/\s/.test(this.text[this.#at] ?? '')) this.#at++;
  }

  #fault(what: string): Fault {
    return new Fault(`${what} at character ${this.#at + 1}`);
  }
}

/** Python's spellings that JSON lacks (+5, 007, .5, 5.) in JSON's. */
function canonical(digits: string): string {
  if (JSON_NUMBER.test(digits)) return digits;
  const [, sign, whole, rest] = /^([-+]?)(\d*)(.*)$/.exec(digits)!;
  return `${sign === '-' ? '-' : ''}${whole!.replace(/^0+(?=\d)/, '') || '0'}${rest!.replace(/^\.(?=\D|$)/, '.0')}`;
}
