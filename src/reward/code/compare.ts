/**
 * Whether what a program wrote or returned is what was expected. Pure.
 *
 * Text: line by line; space at the end of a line and empty lines at the end do not count. Tokens (what stands between spaces, commas and
 * brackets) are equal as text, except where the expected one is a decimal: then any number within 1e-6 of it, absolutely or relative to it.
 *
 * Values: truth values, integers and decimals are told apart. An expected integer is only that integer (not 3.0, not True), exact at any
 * size; an expected decimal is any number, but no truth value, within the same 1e-6; an expected truth value is only itself. JSON has no
 * tuples: by the time a value is here, they are lists.
 */
import { type ExactValue, isList, isNumber, isObject, type NumberText } from './exactValue.js';

export const decimalTolerance = 1e-6;

/** @param actual what the program printed */
export function sameOutput(actual: string, expected: string): boolean {
  const [left, right] = [linesOf(actual), linesOf(expected)];
  return left.length === right.length && right.every((line, index) => sameLine(left[index]!, line));
}

function linesOf(text: string): string[] {
  const lines = text.split('\n').map((line) => line.trimEnd());
  let end = lines.length;
  while (end > 0 && lines[end - 1] === '') end--;
  return lines.slice(0, end);
}

const SEPARATORS = /([\s,()[\]{}]+)/;
const DECIMAL = /^[-+]?(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][-+]?\d+)?$/;
const ANY_NUMBER = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/;

function sameLine(actual: string, expected: string): boolean {
  if (actual === expected) return true;
  const [left, right] = [actual.split(SEPARATORS), expected.split(SEPARATORS)];
  return left.length === right.length && right.every((token, index) => token === left[index] || close(left[index]!, token));
}

function close(actual: string, expected: string): boolean {
  return DECIMAL.test(expected) && ANY_NUMBER.test(actual) && within(Number(actual), Number(expected));
}

function within(actual: number, expected: number): boolean {
  return Math.abs(actual - expected) <= decimalTolerance * Math.max(1, Math.abs(expected));
}

/** @param actual what the function returned */
export function sameValue(actual: ExactValue, expected: ExactValue): boolean {
  if (isNumber(expected)) return isNumber(actual) && sameNumber(actual, expected);
  if (isList(expected)) {
    return isList(actual) && actual.length === expected.length && expected.every((item, index) => sameValue(actual[index]!, item));
  }
  if (isObject(expected)) {
    if (!isObject(actual) || actual.members.size !== expected.members.size) return false;
    return [...expected.members].every(([key, item]) => {
      const other = actual.members.get(key);
      return other !== undefined && sameValue(other, item);
    });
  }
  return actual === expected;
}

function sameNumber(actual: NumberText, expected: NumberText): boolean {
  if (!expected.decimal) return !actual.decimal && BigInt(actual.digits) === BigInt(expected.digits);
  const [x, y] = [Number(actual.digits), Number(expected.digits)];
  return Number.isFinite(y) ? within(x, y) : Object.is(x, y);
}
