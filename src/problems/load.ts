/**
 * Problems as a recipe names them: a generator, or a file of any format and schema that `readProblems.ts` reads, whole. Does not write prompts
 * and does not grade.
 */
import type { Problem } from '../domain/problem.js';
import type { ProblemSource } from '../recipe/schema.js';
import { parseJsonLines } from '../tables/json.js';
import type { TableRow } from '../tables/table.js';
import { UserError } from '../userError.js';
import { variedAnswer } from './answerForms.js';
import { type CalcLevel, type CalcSize, type CalcSplit, calcProblems } from './calc.js';
import { openProblems } from './readProblems.js';
import { EXAMPLE, plain } from './schemas/plain.js';

export interface LoadOptions {
  /** Which half of a generator's problems; a file has only one. */
  readonly split: CalcSplit;
  /** Of the generator, where the source names none. */
  readonly seed: number;
  /** How many, where the source does not say; a file gives all that it has when neither does. */
  readonly count?: number;
}

const SIZES = { calc: 'standard', 'calc-small': 'small', 'calc-tiny': 'tiny' } as const satisfies Record<string, CalcSize>;
type Generator = keyof typeof SIZES;

/** @throws UserError for a file that cannot be read (with the line), a duplicate id, or more problems than there are. */
export async function loadProblems(source: ProblemSource, options: LoadOptions): Promise<Problem[]> {
  const named = typeof source === 'string' ? fromName(source) : source;
  if (named.kind === 'file' || named.kind === 'jsonl') {
    return fileProblems(named.file, named.kind === 'file' ? named.schema : undefined, named.count ?? options.count);
  }
  const count = named.count ?? options.count;
  if (count === undefined) throw new UserError(`problems: ${named.kind} is endless; how many are wanted?`, 'Set count.');
  const problems = calcProblems({
    size: SIZES[named.kind],
    split: options.split,
    seed: named.seed ?? options.seed,
    count,
    ...(named.levels === undefined ? {} : { levels: named.levels as CalcLevel[] }),
  });
  if (named.answers === undefined) return problems;
  return problems.map((problem) => ({ ...problem, answer: variedAnswer(problem.answer, problem.id) }));
}

type NamedSource = Exclude<ProblemSource, string>;

const fromName = (name: string): NamedSource => (isGenerator(name) ? { kind: name } : { kind: 'file', file: name });

/** Whether a source's name is that of a generator, not of a file. */
export const isGenerator = (name: string): name is Generator => Object.hasOwn(SIZES, name);

/** Whether a source is a file or a data set, which ends by itself. */
export const isFileSource = (source: ProblemSource): boolean => !isGenerator(typeof source === 'string' ? source : source.kind);

/** @throws UserError naming file and row of the first that is bad */
async function fileProblems(file: string, schema: string | undefined, limit: number | undefined): Promise<Problem[]> {
  const opened = await openProblems(file, { strict: true, ...(schema !== undefined && { schema }), ...(limit !== undefined && { limit }) });
  const problems: Problem[] = [];
  const ids = new OwnIds();
  let renamed = 0;
  for await (const { problem, row } of opened.rows()) {
    // Where data sets number their rows by source, one number comes often; ids that somebody chose must not.
    if (opened.schema === plain) ids.check(opened.renamed > renamed ? problem.id.replace(/#\d+$/, '') : problem.id, row);
    renamed = opened.renamed;
    problems.push(problem);
  }
  if (problems.length === 0) throw new UserError(`${file} has no problems`, EXAMPLE);
  return problems;
}

/** JSON Lines in memory. @param file stands in error messages and in ids of rows that have none. @throws UserError naming file and line. */
export function parseProblems(text: string, file: string): Problem[] {
  const ids = new OwnIds();
  const problems = parseJsonLines(text, file, EXAMPLE).map((row) => {
    const problem = plain.read(row);
    ids.check(problem.id, row);
    return problem;
  });
  if (problems.length === 0) throw new UserError(`${file} has no problems`, EXAMPLE);
  return problems;
}

class OwnIds {
  readonly #places = new Map<string, string>();

  /** @throws UserError naming the row, and the earlier one of the same id */
  check(id: string, { where, number }: TableRow): void {
    const earlier = this.#places.get(id);
    if (earlier !== undefined)
      throw new UserError(`${where}: the id ${JSON.stringify(id)} stands in ${earlier} already`, 'Ids must be unique.');
    this.#places.set(id, `${where.endsWith(`: row ${number}`) ? 'row' : 'line'} ${number}`);
  }
}
