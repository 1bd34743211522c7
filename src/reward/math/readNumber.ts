/**
 * Reads a whole text as one number, exactly: whole numbers, decimals, fractions, mixed numbers, powers of ten, percents, with currency marks
 * and units. A text that is not a number as a whole is none: no number is ever picked out of it. Total and bounded on any input.
 */
import { add, divide, negate, type Rational, scale } from './rational.js';

export interface Quantity {
  readonly value: Rational;
  /** As written, for example `cm`; empty where there is none. */
  readonly unit: string;
}

/** Longer texts are no numbers to us. */
const MAX_LENGTH = 10_000;
const MAX_EXPONENT = 5_000;

/** Thin space (LaTeX `\,`): the only space that may group digits. */
export const THIN_SPACE = '\u2009';

/** @param text as `plainForm` of `gradeAnswer.ts` leaves it: no surrounding marks, spaces single */
export function readNumber(text: string): Quantity | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const { body: withoutUnit, unit } = splitUnit(text);
  let body = withoutUnit;
  const percent = /\\?%$/.exec(body);
  if (percent) body = body.slice(0, percent.index).trim();
  const sign = /^[+-]/.exec(body)?.[0] ?? '';
  const unsigned = dropCurrency(body.slice(sign.length).trim());
  // -$5 and $-5 are both written.
  const inner = sign === '' ? (/^[+-]/.exec(unsigned)?.[0] ?? '') : '';
  const magnitude = readMagnitude(unsigned.slice(inner.length).trim());
  if (magnitude === undefined) return undefined;
  const signed = sign === '-' || inner === '-' ? negate(magnitude) : magnitude;
  return { value: percent ? scale(signed, -2) : signed, unit };
}

/** A trailing `\text{ cm}` or degree sign. */
function splitUnit(text: string): { readonly body: string; readonly unit: string } {
  const degrees = /\s*(?:°|\^\\circ|\^\{\s*\\circ\s*\})$/.exec(text);
  if (degrees) return { body: text.slice(0, degrees.index), unit: '°' };
  const named = /\s*\\(?:text|mathrm|textrm|mbox)\s*\{([^{}]*)\}$/.exec(text);
  if (named) return { body: text.slice(0, named.index), unit: named[1]!.trim() };
  return { body: text, unit: '' };
}

const dropCurrency = (text: string): string => text.replace(/^(?:\\?\$|[€£¥])\s*/, '').replace(/\s*(?:\\?\$|[€£¥])$/, '');

function readMagnitude(text: string): Rational | undefined {
  return readDecimal(text) ?? readFraction(text) ?? readMixed(text) ?? readPowerOfTen(text);
}

/** 12, 007, 1,234,567.80, 1{,}000, .5, 5., 1.5e-3; no sign. */
function readDecimal(text: string): Rational | undefined {
  const match = /^(\d*|\d{1,3}(?:(?:,|\{,\}|\u2009)\d{3})+)(?:\.(\d*))?(?:[eE]([+-]?\d{1,5}))?$/.exec(text);
  if (!match) return undefined;
  const whole = match[1]!.replace(/[^\d]/g, '');
  const decimals = match[2] ?? '';
  const digits = whole + decimals;
  const exponent = Number(match[3] ?? 0);
  if (digits === '' || Math.abs(exponent) > MAX_EXPONENT) return undefined;
  return scale({ numerator: BigInt(digits), denominator: 1n }, exponent - decimals.length);
}

function readSignedDecimal(text: string): Rational | undefined {
  const trimmed = text.trim();
  if (/^[+-]/.test(trimmed)) {
    const value = readDecimal(trimmed.slice(1).trim());
    return value !== undefined && trimmed.startsWith('-') ? negate(value) : value;
  }
  return readDecimal(trimmed);
}

const FRAC = /^\\frac\s*(?:\{([^{}]*(?:\{,\}[^{}]*)*)\}|(\d))\s*(?:\{([^{}]*(?:\{,\}[^{}]*)*)\}|(\d))$/;

/** \frac{a}{b}, \frac12 and a/b of decimals. */
function readFraction(text: string): Rational | undefined {
  const parts = fractionParts(text);
  if (parts === undefined) return undefined;
  const numerator = readSignedDecimal(parts[0]);
  const denominator = readSignedDecimal(parts[1]);
  return numerator === undefined || denominator === undefined ? undefined : divide(numerator, denominator);
}

function fractionParts(text: string): readonly [string, string] | undefined {
  const frac = FRAC.exec(text);
  if (frac) return [frac[1] ?? frac[2]!, frac[3] ?? frac[4]!];
  const slash = text.indexOf('/');
  if (slash === -1 || slash !== text.lastIndexOf('/')) return undefined;
  return [text.slice(0, slash), text.slice(slash + 1)];
}

/** 2\frac{1}{2} and 11 5/6: a whole number and a proper fraction. An improper one makes it no number. */
function readMixed(text: string): Rational | undefined {
  const match = /^(\d+)(?:\s*(?=\\frac)|\s+(?=\d))(.*)$/.exec(text);
  if (!match) return undefined;
  const parts = fractionParts(match[2]!)?.map((part) => part.trim());
  if (!parts?.every((part) => /^\d+$/.test(part))) return undefined;
  const [numerator, denominator] = [BigInt(parts[0]!), BigInt(parts[1]!)];
  if (numerator >= denominator) return undefined;
  return add({ numerator: BigInt(match[1]!), denominator: 1n }, { numerator, denominator });
}

/** 1.5 \times 10^{3}. */
function readPowerOfTen(text: string): Rational | undefined {
  const match = /^(\S+?)\s*(?:\\times|\\cdot|×)\s*10\s*\^\s*(?:\{\s*([+-]?\d{1,5})\s*\}|(\d))$/.exec(text);
  if (!match) return undefined;
  const exponent = Number(match[2] ?? match[3]);
  const value = readDecimal(match[1]!);
  return value === undefined || Math.abs(exponent) > MAX_EXPONENT ? undefined : scale(value, exponent);
}
