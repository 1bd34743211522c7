/**
 * Problems as a recipe names them: a generator, or a file that `tables/` can read. Fields that the file has beyond `id`, `question` and `answer` stay on
 * the problem. Does not write prompts and does not grade.
 */
import { basename } from 'node:path';
import type { Problem } from '../domain/problem.js';
import type { ProblemSource } from '../recipe/schema.js';
import { isHubSource } from '../tables/hub.js';
import { parseJsonLines } from '../tables/json.js';
import { readTable } from '../tables/openTable.js';
import type { TableRow } from '../tables/table.js';
import { UserError } from '../userError.js';
import { type CalcLevel, type CalcSplit, calcProblems } from './calc.js';

export interface LoadOptions {
  /** Which half of a generator's problems; a file has only one. */
  readonly split: CalcSplit;
  /** Of the generator, where the source names none. */
  readonly seed: number;
  /** How many, where the source does not say; a file gives all that it has when neither does. */
  readonly count?: number;
}

const GENERATORS = ['calc', 'calc-small'] as const;
type Generator = (typeof GENERATORS)[number];

/** @throws UserError for a file that cannot be read (with the line), a duplicate id, or more problems than there are. */
export async function loadProblems(source: ProblemSource, options: LoadOptions): Promise<Problem[]> {
  const named = typeof source === 'string' ? fromName(source) : source;
  if (named.kind === 'jsonl') {
    return fileProblems(named.file, named.count ?? options.count);
  }
  const count = named.count ?? options.count;
  if (count === undefined) throw new UserError(`problems: ${named.kind} is endless; how many are wanted?`, 'Set count.');
  return calcProblems({
    size: named.kind === 'calc' ? 'standard' : 'small',
    split: options.split,
    seed: named.seed ?? options.seed,
    count,
    ...(named.levels === undefined ? {} : { levels: named.levels as CalcLevel[] }),
  });
}

type NamedSource = Exclude<ProblemSource, string>;

const fromName = (name: string): NamedSource => (isGenerator(name) ? { kind: name } : { kind: 'jsonl', file: name });

/** Whether a source's name is that of a generator, not of a file. */
export const isGenerator = (name: string): name is Generator => (GENERATORS as readonly string[]).includes(name);

/** Rows of a file of any format as problems. @throws UserError naming file and line or row */
async function fileProblems(file: string, limit: number | undefined): Promise<Problem[]> {
  const rows = await readTable(file, limit === undefined ? {} : { limit });
  return problemsFrom(rows, basename(isHubSource(file) ? file.replace(/@[^@/]*$/, '') : file), file);
}

/** JSON Lines in memory. @param file stands in error messages and in ids of rows that have none. @throws UserError naming file and line. */
export const parseProblems = (text: string, file: string): Problem[] =>
  problemsFrom(parseJsonLines(text, file, EXAMPLE), basename(file), file);

function problemsFrom(rows: readonly TableRow[], source: string, file: string): Problem[] {
  const problems: Problem[] = [];
  const places = new Map<string, string>();
  for (const row of rows) {
    const problem = readRow(row, `${source}:${row.number}`);
    const earlier = places.get(problem.id);
    if (earlier !== undefined) {
      throw new UserError(`${row.where}: the id ${JSON.stringify(problem.id)} stands in ${earlier} already`, 'Ids must be unique.');
    }
    places.set(problem.id, row.where.startsWith(`${file}:`) && !row.where.includes(': row') ? `line ${row.number}` : `row ${row.number}`);
    problems.push({ source, ...problem });
  }
  if (problems.length === 0) throw new UserError(`${file} has no problems`, EXAMPLE);
  return problems;
}

const QUESTION_FIELDS = ['question', 'problem', 'prompt'] as const;
const EXAMPLE = 'A line is for example {"question": "What is 6 * 7?", "answer": "42"}.';

function readRow({ values, where }: TableRow, ownId: string): Problem {
  const { id, answer, ...others } = values as Record<string, unknown>;
  const field = QUESTION_FIELDS.find((name) => others[name] !== undefined);
  const question = field === undefined ? undefined : others[field];
  if (typeof question !== 'string' || question.trim() === '') {
    const what = field === undefined ? `no ${QUESTION_FIELDS.join(', ')}` : `"${field}" is not a text or is empty`;
    throw new UserError(`${where}: ${what}`, EXAMPLE);
  }
  if (id !== undefined && typeof id !== 'string' && typeof id !== 'number')
    throw new UserError(`${where}: "id" is neither text nor number`);
  if (field !== undefined) delete others[field];
  checkCommonFields(others, where);
  const text = readAnswer(answer, where);
  return { ...others, id: id === undefined ? ownId : String(id), question, ...(text === undefined ? {} : { answer: text }) };
}

/** Fields that every room reads must be what it takes them for. */
function checkCommonFields(others: Readonly<Record<string, unknown>>, where: string): void {
  const { source, tags } = others;
  if (source !== undefined && typeof source !== 'string') throw new UserError(`${where}: "source" is not a text`);
  if (tags === undefined) return;
  const flat =
    typeof tags === 'object' &&
    tags !== null &&
    !Array.isArray(tags) &&
    Object.values(tags).every((value) => typeof value === 'string' || typeof value === 'number');
  if (!flat) throw new UserError(`${where}: "tags" is not an object of texts and numbers`);
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
  return finalOfSolution(answer);
}

/** GSM8K writes the solution and then `#### 1,234`. */
function finalOfSolution(answer: string): string {
  const match = /(?:^|\n)####[ \t]*(\S[^\n]*)\s*$/.exec(answer);
  return match === null
    ? answer
    : match[1]!
        .trim()
        .replace(/^\$/, '')
        .replaceAll(/(?<=\d),(?=\d{3})/g, '');
}
