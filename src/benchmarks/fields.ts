/** Reads single fields of rows, with errors that name the row. */
import { UserError } from '../userError.js';
import type { RowContext } from './benchmark.js';

type Values = Readonly<Record<string, unknown>>;

/** @throws UserError where it is no text, or an empty one */
export function textOf(values: Values, field: string, { where }: RowContext): string {
  const value = values[field];
  if (typeof value === 'string' && value.trim() !== '') return value;
  throw new UserError(`${where}: its ${field} is ${value === undefined || value === null ? 'missing' : 'no text, or empty'}`);
}

/** A text, or a number written out. @throws UserError where it is neither */
export function answerOf(values: Values, field: string, context: RowContext): string {
  const value = values[field];
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : textOf(values, field, context).trim();
}

/** An id, where the row has one. */
export function idOf(values: Values, field = 'id'): { id?: string } {
  const value = values[field];
  const id = typeof value === 'string' ? value.trim() : typeof value === 'number' ? String(value) : '';
  return id === '' ? {} : { id };
}
