/** AIME 2024 and 2025: thirty problems each, whose answers are whole numbers from 0 to 999. */
import { lastBoxed } from '../reward/extract.js';
import { UserError } from '../userError.js';
import type { Benchmark, Layout } from './benchmark.js';
import { answerOf, idOf, textOf } from './fields.js';
import { publishedScores } from './published.js';

const QUESTION = ['problem', 'Problem', 'question', 'Question'];
const ID = ['id', 'ID', 'problem_idx'];

const withAnswer: Layout = {
  name: 'problem and answer',
  fields: { question: QUESTION, answer: ['answer', 'Answer'], id: ID },
  optional: ['id'],
  read: (values, context) => ({
    ...idOf(values),
    question: textOf(values, 'question', context),
    answer: wholeNumber(answerOf(values, 'answer', context), context.where),
  }),
};

/** Some copies have the worked solution alone. */
const withSolution: Layout = {
  name: 'problem and boxed solution',
  fields: { question: QUESTION, solution: ['solution', 'Solution'], id: ID },
  optional: ['id'],
  read: (values, context) => ({
    ...idOf(values),
    question: textOf(values, 'question', context),
    answer: wholeNumber(lastBoxed(textOf(values, 'solution', context)) ?? '', context.where),
  }),
};

/** Leading zeros are written in some files. @throws UserError where it is no answer that AIME can have */
function wholeNumber(text: string, where: string): string {
  const digits = text.replaceAll(/[\s$]|\^?\{?\\circ\}?/g, '');
  if (!/^0*\d{1,3}$/.test(digits)) throw new UserError(`${where}: the answer ${JSON.stringify(text)} is no whole number from 0 to 999`);
  return String(Number(digits));
}

export const aime24: Benchmark = {
  id: 'aime24',
  title: 'AIME 2024',
  source: 'hf:Gen-Verse/Open-AgentRL-Eval/aime2024/aime_2024_problems.parquet',
  kind: 'math',
  layouts: [withAnswer, withSolution],
  published: publishedScores('aime24'),
};

export const aime25: Benchmark = {
  id: 'aime25',
  title: 'AIME 2025',
  source: 'hf:Gen-Verse/Open-AgentRL-Eval/aime2025/aime_2025_problems.parquet',
  kind: 'math',
  layouts: [withAnswer, withSolution],
  published: publishedScores('aime25'),
};
