/** GSM8K: `question`, and in `answer` a worked solution that ends in `#### 42`. The whole solution stays on the problem as `solution`. */
import type { Problem } from '../../domain/problem.js';
import type { TableRow } from '../../tables/table.js';
import { UserError } from '../../userError.js';
import { sourceOf, textOf } from './fields.js';
import { finalAnswer } from './finalAnswer.js';
import type { RowValues, Schema } from './schema.js';

export interface SolvedProblem extends Problem {
  /** As the data set has it, with its marks. */
  readonly solution: string;
}

export const gsm8k: Schema = {
  name: 'gsm8k',
  title: 'GSM8K: worked solutions that end in #### and the answer',
  columns: { question: 'text', answer: 'text' },
  matches: (columns, { answer }) => {
    const only = columns.every((name) => name === 'question' || name === 'answer');
    return only && columns.length === 2 && typeof answer === 'string' && finalAnswer(answer) !== undefined;
  },
  read: readRow,
  write: writeRow,
};

function readRow({ values, where, number }: TableRow): SolvedProblem {
  const solution = textOf(values, 'answer', where);
  const answer = finalAnswer(solution);
  if (answer === undefined) throw new UserError(`${where}: its answer does not end in #### and a number`);
  const source = sourceOf(where);
  return { id: `${source}:${number}`, question: textOf(values, 'question', where), answer, source, solution };
}

function writeRow(problem: Problem, original?: RowValues): Record<string, unknown> {
  const { solution } = problem as Partial<SolvedProblem>;
  if (original !== undefined) {
    const was = readRow({ number: 0, where: 'the original row', values: original });
    return {
      ...original,
      ...(problem.question !== was.question && { question: problem.question }),
      ...(problem.answer !== was.answer && { answer: withFinal(solution, problem.answer ?? '') }),
    };
  }
  return { question: problem.question, answer: withFinal(solution, problem.answer ?? '') };
}

/** The solution as it is, where it ends in this answer. */
function withFinal(solution: string | undefined, answer: string): string {
  if (solution === undefined) return `#### ${answer}`;
  if (finalAnswer(solution) === answer) return solution;
  return `${solution.replace(/\n?####[^\n]*\s*$/, '')}\n#### ${answer}`;
}
