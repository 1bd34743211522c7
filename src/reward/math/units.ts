/** Units behind a number: their names in one spelling, and the words that are no unit but a factor. Does not convert between units. */

import { isDegree } from './degrees.js';
import { type Rational, rational, whole } from './rational.js';
import type { Token } from './tokens.js';
import { ALIASES, CURRENCIES, FACTORS, MULTIPLIERS, NO_UNITS, UNIT_LETTERS, UNIT_PAIRS } from './unitNames.js';

export interface Unit {
  /** In one spelling, for example `cm^2` or `km/h`; empty where only a factor stands there. */
  readonly name: string;
  /** What words such as `percent` and `million` multiply by. */
  readonly factor: Rational;
}

const MAX_WORDS = 5;

/**
 * What stands from `from` to `to` as a unit, as a whole; undefined where it is none. What may multiply and is not understood
 * (`K dollars`, `mil`) is none.
 * @param currency the mark before the number, if any
 */
export function readUnit(tokens: readonly Token[], from: number, to: number, currency: string): Unit | undefined {
  const parts: string[] = [];
  let factor = whole(1);
  let words = 0;
  let at = from;
  while (at < to) {
    const token = tokens[at]!;
    const degree = isDegree(tokens, at, to);
    if (degree !== undefined) {
      parts.push('°');
      at = degree;
      const next = tokens[at];
      if (at < to && next?.type === 'name' && /^[CF]$/.test(next.name)) {
        parts.push(next.name);
        at++;
      }
    } else if (token.type === 'currency') {
      parts.push(token.name);
      at++;
    } else if (token.type === 'word') {
      for (const word of token.text.split(/\s+/)) {
        const read = readWord(word);
        if (read === undefined || ++words > MAX_WORDS) return undefined;
        if (parts.at(-1) === '/' && /^cents?$/i.test(word)) return undefined;
        if (typeof read === 'string') parts.push(read);
        else factor = rational(factor.numerator * read.numerator, factor.denominator * read.denominator);
      }
      at++;
    } else if (token.type === 'sign' && token.sign === '^' && parts.length > 0) {
      const exponent = smallExponent(tokens, at + 1, to);
      if (exponent === undefined) return undefined;
      parts.push(`^${exponent.value}`);
      at = exponent.end;
    } else if (token.type === 'sign' && (token.sign === '/' || token.sign === '*') && parts.length > 0 && at + 1 < to) {
      parts.push(token.sign);
      at++;
      const next = tokens[at];
      if (next?.type === 'name' && /^[a-zA-Z]$/.test(next.name)) {
        parts.push(next.name);
        at++;
      }
    } else if (token.type === 'sign' && token.sign === '\\frac' && parts.length === 0) {
      const fraction = readFractionUnit(tokens, at, to);
      if (fraction === undefined) return undefined;
      parts.push(fraction.name);
      at = fraction.end;
    } else return undefined;
  }
  if (parts.length === 0 && words === 0) return undefined;
  const kelvin = parts.indexOf('K');
  const money = currency !== '' || parts.some((part) => CURRENCIES.has(part));
  if (kelvin !== -1 && (money || /^\p{L}{3}/u.test(parts[kelvin + 1] ?? ''))) return undefined;
  return { name: spelled(parts), factor };
}

/** One unit's name, or a factor; undefined for a word that is no unit. */
function readWord(word: string): string | Rational | undefined {
  const bare = word.replace(/[.,;]+$/, '');
  if (bare === '') return '';
  const lower = bare.toLowerCase();
  const factor = FACTORS.get(lower) ?? FACTORS.get(lower.replace(/s$/, ''));
  if (factor !== undefined) return factor;
  if (lower === 'per') return '/';
  if (lower === 'square' || lower === 'sq') return '²';
  if (lower === 'cubic' || lower === 'cu') return '³';
  if (bare.length === 1 && !UNIT_LETTERS.has(bare)) return undefined;
  if (/^[A-Za-z]{2}$/.test(bare) && !UNIT_PAIRS.has(bare)) return undefined;
  if (NO_UNITS.has(bare) || (bare.length > 1 && NO_UNITS.has(lower))) return undefined;
  if (/(?:fold|illionths?|illiards?)$|^(?:k|kilo|mega|giga)-?(?:dollar|buck|euro|pound|yen|cent|people|person)/.test(lower))
    return undefined;
  if (!/^[\p{L}°%][\p{L}°/^*·²³'-]*\d?$/u.test(bare)) return undefined;
  const parts = bare
    .replace(/²/g, '^2')
    .replace(/³/g, '^3')
    .split(/([/*·^-])/);
  const multiplies = (part: string): boolean => MULTIPLIERS.has(part) || FACTORS.has(part.toLowerCase());
  if (parts.includes('-') && parts.some(multiplies)) return undefined;
  return parts.map((part) => oneName(part)).join('');
}

function oneName(word: string): string {
  const direct = ALIASES.get(word) ?? ALIASES.get(word.toLowerCase());
  if (direct !== undefined) return direct;
  if (word.length <= 3) return word;
  const lower = word.toLowerCase();
  const singular = lower.endsWith('ies')
    ? `${lower.slice(0, -3)}y`
    : /(?:[sxz]|ch|sh)es$/.test(lower)
      ? lower.slice(0, -2)
      : /[^s]s$/.test(lower)
        ? lower.slice(0, -1)
        : lower;
  return ALIASES.get(singular) ?? singular;
}

/** `square cm` as `cm^2`, one slash for `per`. */
function spelled(parts: readonly string[]): string {
  const result: string[] = [];
  let pending = '';
  for (const part of parts) {
    if (part === '²' || part === '³') pending = part === '²' ? '^2' : '^3';
    else if (part !== '') {
      result.push(part + pending);
      pending = '';
    }
  }
  return result
    .join(' ')
    .replace(/ ?([/*^°]) ?/g, '$1')
    .replace(/ \^/g, '^');
}

function smallExponent(tokens: readonly Token[], at: number, to: number): { readonly value: string; readonly end: number } | undefined {
  const braced = isSign(tokens[at], '{');
  const start = braced ? at + 1 : at;
  const minus = isSign(tokens[start], '-');
  const digit = tokens[minus ? start + 1 : start];
  const end = start + (minus ? 2 : 1);
  if (digit?.type !== 'number' || digit.digits.length !== 1 || end > to || (braced && !isSign(tokens[end], '}'))) return undefined;
  return { value: `${minus ? '-' : ''}${digit.digits}`, end: braced ? end + 1 : end };
}

/** `\frac{\text{m}}{\text{s}}`. */
function readFractionUnit(tokens: readonly Token[], at: number, to: number): { readonly name: string; readonly end: number } | undefined {
  const [open, top, close, open2, bottom] = tokens.slice(at + 1, at + 6);
  if (!isSign(open, '{') || top?.type !== 'word' || !isSign(close, '}') || !isSign(open2, '{') || bottom?.type !== 'word') return undefined;
  const names = [readWord(top.text), readWord(bottom.text)];
  let end = at + 6;
  let exponent = '';
  if (isSign(tokens[end], '^')) {
    const read = smallExponent(tokens, end + 1, to);
    if (read === undefined) return undefined;
    exponent = `^${read.value}`;
    end = read.end;
  }
  if (!isSign(tokens[end], '}') || end >= to || names.some((name) => typeof name !== 'string')) return undefined;
  return { name: `${names[0]}/${names[1]}${exponent}`, end: end + 1 };
}

const isSign = (token: Token | undefined, sign: string): boolean => token?.type === 'sign' && token.sign === sign;
