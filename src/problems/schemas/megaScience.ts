/** MegaScience: `question`, a worked `answer`, the short `reference_answer`, `subject` and `source`. The worked one stays as `solution`. */
import type { Problem } from '../../domain/problem.js';
import type { TableRow } from '../../tables/table.js';
import { sourceOf, textOf } from './fields.js';
import { answerGold } from './gold.js';
import type { SolvedProblem } from './gsm8k.js';
import type { RowValues, Schema } from './schema.js';

export const megaScience: Schema = {
  name: 'megascience',
  title: 'MegaScience: questions of science with a worked and a short answer',
  columns: { question: 'text', answer: 'text', subject: 'text', reference_answer: 'text', source: 'text' },
  matches: (columns) => ['question', 'answer', 'reference_answer'].every((name) => columns.includes(name)),
  read: readRow,
  write: writeRow,
};

function readRow({ values, where, number }: TableRow): Problem & Partial<SolvedProblem> {
  const question = textOf(values, 'question', where);
  const { answer: solution, subject, source } = values;
  return {
    id: `${sourceOf(where)}:${number}`,
    question,
    ...answerGold(values.reference_answer, 'reference_answer', question, where),
    source: typeof source === 'string' && source !== '' ? source : sourceOf(where),
    ...(typeof subject === 'string' && subject !== '' && { tags: { subject } }),
    ...(typeof solution === 'string' && solution.trim() !== '' && { solution }),
  };
}

function writeRow(problem: Problem & Partial<SolvedProblem>, original?: RowValues): Record<string, unknown> {
  if (original === undefined) {
    return {
      question: problem.question,
      answer: problem.solution ?? problem.answer ?? null,
      subject: problem.tags?.subject ?? null,
      reference_answer: problem.answer ?? null,
      source: problem.source ?? null,
    };
  }
  const was = readRow({ number: 0, where: 'the original row', values: original });
  return {
    ...original,
    ...(problem.question !== was.question && { question: problem.question }),
    ...(problem.answer !== was.answer && { reference_answer: problem.answer ?? null }),
    ...(problem.solution !== undefined && problem.solution !== was.solution && { answer: problem.solution }),
  };
}
