/** GPQA-Diamond: four options, one right. The original has them in columns of their own, and they are shuffled by the seed. */
import { deriveSeed } from '../random.js';
import { shuffleOptions } from '../reward/choice.js';
import { lastBoxed } from '../reward/extract.js';
import { UserError } from '../userError.js';
import type { Benchmark, Layout } from './benchmark.js';
import { idOf, textOf } from './fields.js';
import { publishedScores } from './published.js';

const original: Layout = {
  name: 'options in columns',
  fields: {
    question: ['Question', 'question'],
    right: ['Correct Answer', 'correct_answer'],
    wrong1: ['Incorrect Answer 1', 'incorrect_answer_1'],
    wrong2: ['Incorrect Answer 2', 'incorrect_answer_2'],
    wrong3: ['Incorrect Answer 3', 'incorrect_answer_3'],
    id: ['Record ID', 'record_id', 'id'],
    domain: ['High-level domain', 'domain'],
  },
  optional: ['id', 'domain'],
  read(values, context) {
    const texts = ['right', 'wrong1', 'wrong2', 'wrong3'].map((field) => textOf(values, field, context).trim());
    const { options, gold } = shuffleOptions(texts, 0, deriveSeed(context.seed, 'gpqa', context.number));
    const listed = options.map((option, i) => `${String.fromCharCode(65 + i)}) ${option}`).join('\n');
    return {
      ...idOf(values),
      question: `${textOf(values, 'question', context).trim()}\n\n${listed}`,
      answer: gold,
      options,
      ...(typeof values.domain === 'string' && { tags: { domain: values.domain } }),
    };
  },
};

/** Options stand in the text, in an order that the file's makers chose. */
const readyMade: Layout = {
  name: 'letter',
  fields: { question: ['problem', 'question'], letter: ['solution', 'answer'], id: ['id'], domain: ['domain'] },
  optional: ['id', 'domain'],
  read(values, context) {
    const text = textOf(values, 'letter', context);
    const letter = (lastBoxed(text) ?? text).trim().replace(/^\((.)\)$/, '$1');
    if (!/^[A-D]$/.test(letter))
      throw new UserError(`${context.where}: the solution ${JSON.stringify(text.slice(0, 80))} is no letter from A to D`);
    return {
      ...idOf(values),
      question: textOf(values, 'question', context),
      answer: letter,
      ...(typeof values.domain === 'string' && { tags: { domain: values.domain } }),
    };
  },
};

export const gpqaDiamond: Benchmark = {
  id: 'gpqa-diamond',
  title: 'GPQA-Diamond',
  source: 'hf:Gen-Verse/Open-AgentRL-Eval/gpqa-diamond/gpqa_diamond.parquet',
  kind: 'choice',
  layouts: [original, readyMade],
  published: publishedScores('gpqa'),
};
