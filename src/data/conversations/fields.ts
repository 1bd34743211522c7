/** What reading a row's nested values takes: kinds of values, JSON text, and errors that say where. */
import { UserError } from '../../userError.js';

/** Deeper lists and objects than any message or tool has. */
const DEEPEST = 64;
/** Numbers of so many digits may be beyond what a number holds exactly. */
const LONG_NUMBER = /(?<![\d.eE+])-?\d{16,}(?![\d.eE])/g;

export const broken = (where: string, what: string, hint?: string): UserError => new UserError(`${where}: ${what}`, hint);

export const isText = (value: unknown): value is string => typeof value === 'string';

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A value as an error shows it. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length <= 60 ? text : `${text.slice(0, 57)}...`;
}

const tooLarge = (number: string, where: string): UserError =>
  broken(where, `the number ${number} is too large to be read exactly`, 'Write it as a text, in quotes.');

/** @throws UserError for what is no JSON, or is nested absurdly */
export function parseJsonText(text: string, where: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw broken(where, `not valid JSON: ${(error as Error).message}`);
  }
  checkDepth(value, where);
  return value;
}

/** The same, but not a whole number that loses digits. @throws UserError */
export function parseExactJson(text: string, where: string): unknown {
  const value = parseJsonText(text, where);
  for (const [number] of text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""').matchAll(LONG_NUMBER)) {
    if (BigInt(number) !== BigInt(Number(number))) throw tooLarge(number, where);
  }
  return value;
}

/** @throws UserError for lists and objects nested absurdly, and for integers that no number holds unless they may be `rounded` */
export function checkDepth(value: unknown, where: string, { rounded = false } = {}): void {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DEEPEST) throw broken(where, `nested more than ${DEEPEST} levels deep`);
    const long = level.find((item) => typeof item === 'bigint');
    if (long !== undefined && !rounded) throw tooLarge(String(long), where);
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []));
  }
}
