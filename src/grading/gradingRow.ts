/**
 * A row to be graded, as a line of JSON gives it, or what is wrong with the line. Does not grade, and does not judge whether a right answer can
 * be used: that belongs to the row's grader.
 *
 *   {"id": "a", "kind": "math", "gold": "1/2", "response": "… \\boxed{0.5}"}
 *   {"id": "b", "kind": "choice", "gold": "B", "options": ["3 m", "4 m"], "answer": "B"}
 *   {"id": "c", "kind": "code", "tests": {"inputs": ["1\n"], "outputs": ["2\n"]}, "response": "```python\n…```"}
 */
import { isObject, readValue, writeValue } from '../reward/code/exactValue.js';
import { textLines } from '../tables/text.js';
import { UserError } from '../userError.js';

export type GradingRow = MathRow | ChoiceRow | CodeRow;

interface RowFacts {
  /** As in the file: a text or a number. Several rows may share one. */
  readonly id: string | number;
  /** For messages: file and line. */
  readonly where: string;
  readonly given: Given;
  /** What was asked; only a judge reads it. */
  readonly question?: string;
  /** For the reference's rule of turns: 2 * answered tool rounds + 2. */
  readonly turns?: number;
}

/** A whole response, or what somebody extracted from one; undefined: nothing was found in it. */
export type Given = { readonly kind: 'response'; readonly text: string } | { readonly kind: 'answer'; readonly text: string | undefined };

export interface MathRow extends RowFacts {
  readonly kind: 'math';
  readonly gold: string;
}

export interface ChoiceRow extends RowFacts {
  readonly kind: 'choice';
  /** The right option's letter. */
  readonly gold: string;
  readonly options?: readonly string[];
}

export interface CodeRow extends RowFacts {
  readonly kind: 'code';
  /** In any form that `readCodeTests` reads; from a line of JSON, its text. */
  readonly tests: unknown;
}

export const KINDS = ['math', 'choice', 'code'] as const;

const LIMITS = { unpackedBytes: 64 * 2 ** 30, textBytes: 256 * 2 ** 20 };
const EXAMPLES: Readonly<Record<(typeof KINDS)[number], string>> = {
  math: 'A row: {"id": "1", "kind": "math", "gold": "42", "response": "… \\\\boxed{42}"}',
  choice: 'A row: {"id": "1", "kind": "choice", "gold": "B", "options": ["3 m", "4 m"], "response": "… \\\\boxed{B}"}',
  code: 'A row: {"id": "1", "kind": "code", "tests": {"inputs": ["1 2\\n"], "outputs": ["3\\n"]}, "response": "print(sum(map(int, input().split())))"}',
};
const ANY_EXAMPLE = `${EXAMPLES.math}\nor of kind "choice" with "options", or of kind "code" with "tests".`;

/** A line that is no row. */
export interface BadRow {
  readonly kind: 'bad';
  /** Where the line has one. */
  readonly id: string | number | null;
  /** Begins with file and line. */
  readonly error: string;
  /** A row as it should be. */
  readonly hint?: string;
}

/** The rows of a file, one at a time, bad ones among them. @throws UserError where the file cannot be read or holds no row */
export async function* gradingRows(file: string): AsyncGenerator<GradingRow | BadRow, void, void> {
  let rows = 0;
  for await (const { text, number } of textLines(file, file, LIMITS)) {
    if (text.trim() === '') continue;
    rows++;
    yield rowOrFault(text, `${file}:${number}`);
  }
  if (rows === 0) throw new UserError(`${file} has no rows`, ANY_EXAMPLE);
}

function rowOrFault(text: string, where: string): GradingRow | BadRow {
  try {
    return parseGradingRow(text, where);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { kind: 'bad', id: idIn(text), error: error.message, ...(error.hint !== undefined && { hint: error.hint }) };
  }
}

function idIn(text: string): string | number | null {
  try {
    const id: unknown = JSON.parse(text)?.id;
    return typeof id === 'string' || typeof id === 'number' ? id : null;
  } catch {
    return null;
  }
}

/** @param where file and line, for messages. @throws UserError for anything that is no row */
export function parseGradingRow(text: string, where: string): GradingRow {
  let values: unknown;
  try {
    values = JSON.parse(text);
  } catch (error) {
    throw new UserError(`${where}: not valid JSON: ${(error as Error).message}`, ANY_EXAMPLE);
  }
  if (typeof values !== 'object' || values === null || Array.isArray(values))
    throw new UserError(`${where}: not a JSON object`, ANY_EXAMPLE);
  const row = withHint(values as Record<string, unknown>, where);
  return row.kind === 'code' && typeof row.tests !== 'string' ? { ...row, tests: exactTests(text, where) } : row;
}

/** A fault is told with an example of the row's own kind. */
function withHint(values: Readonly<Record<string, unknown>>, where: string): GradingRow {
  try {
    return toGradingRow(values, where);
  } catch (error) {
    if (!(error instanceof UserError) || error.hint !== undefined) throw error;
    const kind = KINDS.find((name) => name === values.kind);
    throw new UserError(error.message, kind === undefined ? ANY_EXAMPLE : EXAMPLES[kind]);
  }
}

function toGradingRow(values: Readonly<Record<string, unknown>>, where: string): GradingRow {
  const { id, kind, question, options } = values;
  if (!(typeof id === 'string' && id !== '') && typeof id !== 'number') throw refuse(where, 'id', id, 'a text or a number');
  if (question !== undefined && question !== null && typeof question !== 'string') throw refuse(where, 'question', question, 'a text');
  const facts: RowFacts = {
    id,
    where,
    given: givenOf(values, where),
    ...(typeof question === 'string' && { question }),
    ...turnsOf(values, where),
  };
  switch (kind) {
    case 'math':
      return { ...facts, kind, gold: goldOf(values, where) };
    case 'choice':
      return { ...facts, kind, gold: goldOf(values, where), ...optionsOf(options, where) };
    case 'code': {
      const tests = values.tests ?? values.gold;
      if (tests === undefined || tests === null) throw new UserError(`${where}: a row of code has no "tests"`);
      return { ...facts, kind, tests };
    }
    default:
      throw refuse(where, 'kind', kind, KINDS.map((name) => `"${name}"`).join(', '));
  }
}

/** The tests as JSON text, numbers as the row writes them: `JSON.parse` would make 3.0 an integer and round large ones. */
function exactTests(text: string, where: string): string {
  const read = readValue(text);
  if (!read.ok || !isObject(read.value)) throw new UserError(`${where}: its tests cannot be read: ${read.ok ? 'no object' : read.error}`);
  const { members } = read.value;
  return writeValue(members.get('tests') ?? members.get('gold')!);
}

function givenOf(values: Readonly<Record<string, unknown>>, where: string): Given {
  const { response, answer } = values;
  const present = (value: unknown): boolean => value !== undefined && value !== null;
  if (present(response) && present(answer))
    throw new UserError(`${where}: there are both "response" and "answer"`, 'Give the whole response, or the answer extracted from it.');
  if (present(response)) {
    if (typeof response !== 'string') throw refuse(where, 'response', response, 'a text');
    return { kind: 'response', text: response };
  }
  if (!('answer' in values)) throw new UserError(`${where}: there is neither "response" nor "answer"`);
  if (answer === null || answer === undefined) return { kind: 'answer', text: undefined };
  return { kind: 'answer', text: textOf(values, 'answer', where) };
}

const goldOf = (values: Readonly<Record<string, unknown>>, where: string): string => textOf(values, 'gold', where);

/** A text, or a number that JSON did not round. */
function textOf(values: Readonly<Record<string, unknown>>, name: string, where: string): string {
  const value = values[name];
  if (typeof value === 'string') return value;
  if (typeof value !== 'number') throw refuse(where, name, value, 'a text');
  if (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER)
    throw new UserError(`${where}: the number in "${name}" is too large to be read exactly`, 'Write it in quotes.');
  return String(value);
}

function optionsOf(options: unknown, where: string): { options?: readonly string[] } {
  if (options === undefined || options === null) return {};
  const texts =
    Array.isArray(options) && options.length > 0 ? options.map((option) => (typeof option === 'number' ? String(option) : option)) : [];
  if (texts.length === 0 || !texts.every((option) => typeof option === 'string'))
    throw refuse(where, 'options', options, 'a list of texts, the first is A');
  if (texts.length > 26) throw new UserError(`${where}: there are ${texts.length} options; letters end at 26`);
  return { options: texts };
}

function turnsOf(values: Readonly<Record<string, unknown>>, where: string): { turns?: number } {
  const turns = values.turns ?? values.num_turns;
  if (turns === undefined || turns === null) return {};
  if (typeof turns !== 'number' || !Number.isInteger(turns)) throw refuse(where, 'turns', turns, 'a whole number');
  return { turns };
}

function refuse(where: string, name: string, value: unknown, wanted: string): UserError {
  const found = value === undefined ? 'is missing' : `is ${shorten(JSON.stringify(value))}`;
  return new UserError(`${where}: "${name}" ${found}; expected ${wanted}`);
}

const shorten = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}…` : text);
