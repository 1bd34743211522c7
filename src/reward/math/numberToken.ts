/** Numbers as they are written: digits, thousands, decimals, repeating ones, exponents. Exact, whatever their size. */
import { fromDigits, multiply, type Rational } from './rational.js';
import type { Token } from './tokens.js';

export const isDigit = (char: string): boolean => char >= '0' && char <= '9';

const NUMBER = /(\d*)(?:\.(\d*))?/y;
const GROUP = /(?:,|\{,\}|\u2009)(\d{3})(?!\d)/y;
const REPEATED = /(?:\\(?:overline|bar|dot)\s*\{(\d+)\}|\((\d+)\))/y;
const EXPONENT = /[eE]([+-]?\d{1,9})(?![\d.])/y;
const MAX_PLAIN_EXPONENT = 5000n;

/** The number at `from`, and the index after it. */
export function readNumber(text: string, from: number, thousands: boolean): { readonly token: Token; readonly end: number } {
  let at = from;
  while (isDigit(text[at] ?? '')) at++;
  let before = text.slice(from, at);
  if (before.length >= 1 && before.length <= 3 && before[0] !== '0') {
    const parts = [before];
    for (;;) {
      GROUP.lastIndex = at;
      const group = GROUP.exec(text);
      if (group === null || (text[at] === ',' && !thousands)) break;
      parts.push(group[1]!);
      at = GROUP.lastIndex;
    }
    if (parts.length > 1) before = parts.join('');
  }
  let after = '';
  let decimal = false;
  if (text[at] === '.' && text[at + 1] !== '.') {
    NUMBER.lastIndex = at;
    after = NUMBER.exec(text)?.[2] ?? '';
    decimal = true;
    at += 1 + after.length;
  }
  REPEATED.lastIndex = at;
  const repeating = decimal ? REPEATED.exec(text) : null;
  const repeated = repeating?.[1] ?? repeating?.[2];
  if (repeated !== undefined) at = REPEATED.lastIndex;
  EXPONENT.lastIndex = at;
  const exponentText = repeated === undefined ? EXPONENT.exec(text)?.[1] : undefined;
  if (exponentText !== undefined) at = EXPONENT.lastIndex;
  const exponent = BigInt((exponentText ?? '0').replace('+', ''));
  const small = exponent <= MAX_PLAIN_EXPONENT && exponent >= -MAX_PLAIN_EXPONENT;
  const mantissa = fromDigits(before, after, repeated);
  const value = small && exponent !== 0n ? multiply(mantissa, powerOfTen(Number(exponent))) : mantissa;
  const digits = decimal || exponentText !== undefined ? '' : before;
  return { token: { type: 'number', value, digits, spaceBefore: false, ...(!small && { exponent }) }, end: at };
}

const powerOfTen = (exponent: number): Rational =>
  exponent >= 0 ? { numerator: 10n ** BigInt(exponent), denominator: 1n } : { numerator: 1n, denominator: 10n ** BigInt(-exponent) };
