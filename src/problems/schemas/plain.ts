/**
 * The project's own form: `question` (or `problem`, or `prompt`), and where there are such `id`, `answer`, `kind`, `options`, `tests`,
 * `source`, `tags`. Further fields stay on the problem. Of a choice, options that the question does not show are added to it.
 */
import type { Problem } from '../../domain/problem.js';
import type { TableRow } from '../../tables/table.js';
import { UserError } from '../../userError.js';
import { isKind, isRecord, parsed, sourceOf } from './fields.js';
import { finalAnswer } from './finalAnswer.js';
import type { RowValues, Schema } from './schema.js';

const QUESTION_FIELDS = ['question', 'problem', 'prompt'] as const;
export const EXAMPLE = 'A line is for example {"question": "What is 6 * 7?", "answer": "42"}.';

export const plain: Schema = {
  name: 'plain',
  title: 'question and answer, with kind, options and tests where there are such',
  columns: {
    id: 'text',
    question: 'text',
    answer: 'text',
    kind: 'text',
    options: { list: 'text' },
    tests: 'json',
    source: 'text',
    tags: 'json',
  },
  matches: (columns) => QUESTION_FIELDS.some((name) => columns.includes(name)),
  read: readPlain,
  write: writePlain,
};

function readPlain({ values, where, number }: TableRow): Problem {
  const { id, answer, ...others } = givenFields(values);
  const field = QUESTION_FIELDS.find((name) => others[name] !== undefined);
  const question = field === undefined ? undefined : others[field];
  if (typeof question !== 'string' || question.trim() === '') {
    const what = field === undefined ? `no ${QUESTION_FIELDS.join(', ')}` : `"${field}" is not a text or is empty`;
    throw new UserError(`${where}: ${what}`, EXAMPLE);
  }
  if (id !== undefined && typeof id !== 'string' && typeof id !== 'number')
    throw new UserError(`${where}: "id" is neither text nor number`);
  if (field !== undefined) delete others[field];
  const { source, tags, kind, options, ...rest } = others;
  if (source !== undefined && typeof source !== 'string') throw new UserError(`${where}: "source" is not a text`);
  const text = readAnswer(answer, where);
  const graded = kindOf(kind, options, others.tests, text, where);
  return {
    ...rest,
    source: source ?? sourceOf(where),
    ...(tags !== undefined && { tags: readTags(tags, where) }),
    ...graded,
    id: id === undefined || id === '' ? `${sourceOf(where)}:${number}` : String(id),
    question: graded.kind === 'choice' ? withOptions(question, graded.options ?? []) : question,
    ...(text !== undefined && { answer: text }),
  };
}

/** The question as the model must read it: options that it does not show are listed below it. */
function withOptions(question: string, options: readonly string[]): string {
  if (options.every((option) => question.includes(option.trim()))) return question;
  return `${question}\n\n${options.map((option, i) => `${String.fromCharCode(65 + i)}) ${option}`).join('\n')}`;
}

/** Parquet and CSV have no way to leave a field out; CSV's empty field is one. A question, or an answer that is needed, must not be empty. */
function givenFields(values: RowValues): Record<string, unknown> {
  const given = Object.entries(values).filter(([name, value]) => {
    if (value === null || value === undefined) return false;
    return value !== '' || name === 'answer' || QUESTION_FIELDS.some((field) => field === name);
  });
  const fields: Record<string, unknown> = Object.fromEntries(given);
  if (fields.answer === '' && (fields.tests !== undefined || fields.kind === 'code')) delete fields.answer;
  return fields;
}

function kindOf(
  kind: unknown,
  options: unknown,
  tests: unknown,
  answer: string | undefined,
  where: string,
): Pick<Problem, 'kind' | 'options'> {
  if (kind !== undefined && kind !== '' && !isKind(kind)) {
    throw new UserError(`${where}: "kind" is ${JSON.stringify(kind).slice(0, 60)}, not math, choice or code`);
  }
  const texts = options === undefined || options === '' ? undefined : readOptions(options, where);
  const letter = answer !== undefined && /^[A-Z]$/.test(answer) && texts !== undefined && answer.charCodeAt(0) - 65 < texts.length;
  const told = tests !== undefined && answer === undefined ? 'code' : letter ? 'choice' : undefined;
  const read = isKind(kind) ? kind : told;
  if (read === 'code' && tests === undefined) throw new UserError(`${where}: it is code and has no "tests"`);
  if (read === 'choice' && (answer === undefined || !/^[A-Z]$/i.test(answer.trim())))
    throw new UserError(`${where}: it is a choice, and its "answer" is no letter`, 'Give the letter of the right option, A for the first.');
  return { ...(read && { kind: read }), ...(texts && { options: texts }) };
}

function readOptions(options: unknown, where: string): string[] {
  const read = typeof options === 'string' ? parsed(options) : options;
  if (Array.isArray(read) && read.length > 0 && read.every((option) => typeof option === 'string')) return read;
  throw new UserError(`${where}: "options" is not a list of texts`);
}

/** Fields that every room reads must be what it takes them for. */
function readTags(tags: unknown, where: string): Record<string, string | number> {
  const read = givenFields(isRecord(tags) ? tags : isRecord(parsed(String(tags))) ? (parsed(String(tags)) as RowValues) : { tags });
  if (
    (!isRecord(tags) && typeof tags !== 'string') ||
    !Object.values(read).every((value) => typeof value === 'string' || typeof value === 'number')
  )
    throw new UserError(`${where}: "tags" is not an object of texts and numbers`);
  return read as Record<string, string | number>;
}

function readAnswer(answer: unknown, where: string): string | undefined {
  if (answer === undefined || answer === null) return undefined;
  if (typeof answer === 'number') {
    if (Number.isInteger(answer) && !Number.isSafeInteger(answer)) {
      throw new UserError(`${where}: the number "answer" is too large to be read exactly`, 'Write it as a text, in quotes.');
    }
    return String(answer);
  }
  if (typeof answer !== 'string' || answer.trim() === '')
    throw new UserError(`${where}: "answer" is neither text nor number, or it is empty`);
  return finalAnswer(answer) ?? answer;
}

function writePlain(problem: Problem, original?: RowValues): Record<string, unknown> {
  if (original === undefined) return { ...problem };
  const was = readPlain({ number: 0, where: 'the original row', values: original });
  const field = QUESTION_FIELDS.find((name) => original[name] !== undefined && original[name] !== null) ?? 'question';
  return {
    ...original,
    ...(problem.question !== was.question && { [field]: problem.question }),
    ...(problem.answer !== undefined && problem.answer !== was.answer && { answer: problem.answer }),
  };
}
