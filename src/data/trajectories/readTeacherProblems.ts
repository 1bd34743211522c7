/** The problems that a teacher is given: from a generator or a file, without bad rows, repetitions and answers that nothing can be graded by. */
import { basename } from 'node:path';
import type { Problem } from '../../domain/problem.js';
import { isGenerator, loadProblems } from '../../problems/load.js';
import { openProblems } from '../../problems/readProblems.js';
import { readCodeTests } from '../../reward/code/readCodeTests.js';
import { checkGold } from '../../reward/math/gradeAnswer.js';
import { UserError } from '../../userError.js';
import { problemKey } from './journal.js';

export interface TeacherProblem {
  readonly problem: Problem;
  /** Of its content. */
  readonly key: string;
  /** Where it comes from: the row's own word, else the file's name. */
  readonly source: string;
}

export interface TeacherProblems {
  readonly name: string;
  readonly problems: readonly TeacherProblem[];
  /** Rows that cannot be read or graded by; rows that say the same as an earlier one. */
  readonly bad: number;
  readonly repeated: number;
}

export interface ReadOptions {
  /** At most so many; of a generator 128 where it is absent. */
  readonly count?: number | undefined;
  readonly seed: number;
  readonly strict: boolean;
  readonly onBad: (where: string, error: string) => void;
  readonly signal: AbortSignal;
}

/** @throws UserError for a source that cannot be read or has no usable problem; for the first bad row where `strict` */
export async function readTeacherProblems(source: string, options: ReadOptions): Promise<TeacherProblems> {
  const { count, seed, strict, onBad, signal } = options;
  const name = isGenerator(source) ? source : basename(source);
  const problems: TeacherProblem[] = [];
  const seen = new Set<string>();
  let bad = 0;
  let repeated = 0;
  const tell = (where: string, error: string): void => {
    bad++;
    onBad(where, error);
  };
  for await (const { problem, where } of rowsOf(source, { count, seed, strict, onBad: tell, signal })) {
    const fault = ungradeable(problem);
    if (fault !== undefined) {
      if (strict) throw new UserError(`${where}: ${fault}`);
      tell(where, fault);
      continue;
    }
    const key = problemKey(problem);
    if (seen.has(key)) repeated++;
    else problems.push({ problem, key, source: problem.source ?? name });
    seen.add(key);
  }
  if (problems.length === 0) throw new UserError(`${name} has no problem that a teacher can be given`);
  return { name, problems, bad, repeated };
}

interface Row {
  readonly problem: Problem;
  readonly where: string;
}

async function* rowsOf(source: string, options: ReadOptions): AsyncGenerator<Row, void, void> {
  const { count, seed, strict, onBad, signal } = options;
  if (isGenerator(source)) {
    for (const problem of await loadProblems(source, { split: 'train', seed, count: count ?? 128 })) yield { problem, where: problem.id };
    return;
  }
  const file = await openProblems(source, {
    strict,
    ...(count !== undefined && { limit: count }),
    onBad: ({ where, error }) => onBad(where, error),
    signal,
  });
  for await (const { problem, row } of file.rows()) yield { problem, where: row.where };
}

/** Found before a teacher is paid for an answer. Undefined where the problem can be graded by. */
function ungradeable({ kind, answer, tests }: Problem): string | undefined {
  if (kind === 'code') {
    if (tests === undefined || tests === null) return 'it is code and has no tests';
    try {
      readCodeTests(tests);
      return undefined;
    } catch (error) {
      if (error instanceof UserError) return error.message;
      throw error;
    }
  }
  if (answer === undefined) return 'it has no answer';
  const fault = kind === 'choice' ? undefined : checkGold(answer);
  return fault === undefined ? undefined : `its answer ${JSON.stringify(answer.slice(0, 60))} cannot be used: ${fault}`;
}
