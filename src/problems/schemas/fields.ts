/** Reads and checks single fields of rows; errors name the row. */
import type { ProblemKind } from '../../domain/problem.js';
import { UserError } from '../../userError.js';
import type { RowValues } from './schema.js';

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);

/** @throws UserError where it is no text, or an empty one */
export function textOf(values: RowValues, field: string, where: string): string {
  const value = values[field];
  if (typeof value === 'string' && value.trim() !== '') return value;
  const what = value === undefined || value === null ? 'is missing' : typeof value === 'string' ? 'is empty' : 'is not a text';
  throw new UserError(`${where}: "${field}" ${what}`);
}

/** The object itself, or JSON text of one. @throws UserError where it is neither */
export function objectOf(value: unknown, field: string, where: string): Readonly<Record<string, unknown>> {
  const read = typeof value === 'string' ? parsed(value) : value;
  if (isRecord(read)) return read;
  const what = value === undefined || value === null ? 'is missing' : 'is neither an object nor the JSON text of one';
  throw new UserError(`${where}: "${field}" ${what}`);
}

/** Undefined where it is no JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** An id, where there is one. */
export function idOf(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

const KINDS: readonly ProblemKind[] = ['math', 'choice', 'code'];
export const isKind = (value: unknown): value is ProblemKind => KINDS.some((kind) => kind === value);

/** The file's name without its folder, for ids and sources. */
export const sourceOf = (where: string): string =>
  where
    .replace(/: row \d+$|:\d+$/, '')
    .replace(/@[^@/]*$/, '')
    .replace(/^.*[/\\]/, '');
