/** A golden vector, and reading the numbers in it. Does not know any function: see `functions.ts`. */
import { readFileSync } from 'node:fs';
import { UserError } from '../userError.js';

/** `"NaN"`, `"Infinity"` and `"-Infinity"` stand for those numbers, `{ "throws": name }` for an error. */
export interface Vector {
  readonly name: string;
  readonly fn: string;
  readonly inputs: Inputs;
  readonly expected: unknown;
  /** Why a good system would differ from `expected`. */
  readonly reference_quirk?: string;
  /** What it should give instead: of objects only these keys. */
  readonly correct?: unknown;
}

export type Inputs = Readonly<Record<string, unknown>>;

/** @throws UserError where the file is missing or is no array of vectors */
export function readVectors(path: string): Vector[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new UserError(`${path}: ${(error as Error).message}`, 'Give files that hold a JSON array of {name, fn, inputs, expected}.');
  }
  if (!Array.isArray(parsed))
    throw new UserError(`${path} holds no JSON array`, 'Give files that hold an array of {name, fn, inputs, expected}.');
  return parsed.map((item, i) => {
    if (!isRecord(item) || typeof item.name !== 'string' || typeof item.fn !== 'string' || !isRecord(item.inputs)) {
      throw new UserError(`${path}: item ${i} is no vector`, 'A vector is an object with name, fn, inputs and expected.');
    }
    return item as unknown as Vector;
  });
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const NAMED: Readonly<Record<string, number>> = {
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  '-Infinity': Number.NEGATIVE_INFINITY,
};

/** A number, or the name of one that JSON cannot hold; undefined for anything else. */
export function asNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && Object.hasOwn(NAMED, value) ? NAMED[value] : undefined;
}

/** @throws RangeError where an input is not of the kind asked for: the vector, not the code, is then at fault */
export function number(inputs: Inputs, name: string): number {
  const value = asNumber(inputs[name]);
  if (value === undefined) throw new VectorError(`input "${name}" is no number`);
  return value;
}

export function text(inputs: Inputs, name: string): string {
  const value = inputs[name];
  if (typeof value !== 'string') throw new VectorError(`input "${name}" is no text`);
  return value;
}

export function list(inputs: Inputs, name: string): readonly unknown[] {
  const value = inputs[name];
  if (!Array.isArray(value)) throw new VectorError(`input "${name}" is no list`);
  return value;
}

/** [rows][tokens]; rows may differ in length. */
export function matrix(inputs: Inputs, name: string): Float64Array[] {
  return list(inputs, name).map((row) => {
    if (!Array.isArray(row)) throw new VectorError(`input "${name}" is no table of numbers`);
    return Float64Array.from(row, (value) => {
      const read = asNumber(value);
      if (read === undefined) throw new VectorError(`input "${name}" holds ${JSON.stringify(value)}, which is no number`);
      return read;
    });
  });
}

/** The name of the one input that matches, where vectors spell it in more than one way. */
export function inputLike(inputs: Inputs, pattern: RegExp): string | undefined {
  return Object.keys(inputs).find((name) => pattern.test(name));
}

/** An input that this runner cannot read. */
export class VectorError extends Error {
  override readonly name = 'VectorError';
}
