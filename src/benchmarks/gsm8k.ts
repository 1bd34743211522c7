/** GSM8K: word problems whose worked solutions end in `#### 42`. */
import { UserError } from '../userError.js';
import type { Benchmark } from './benchmark.js';
import { textOf } from './fields.js';

export const gsm8k: Benchmark = {
  id: 'gsm8k',
  title: 'GSM8K',
  source: 'hf:openai/gsm8k/main/test-00000-of-00001.parquet',
  kind: 'math',
  layouts: [
    {
      name: 'question and worked answer',
      fields: { question: ['question'], answer: ['answer'] },
      read(values, context) {
        const final = /####[ \t]*(\S[^\n]*)\s*$/.exec(textOf(values, 'answer', context))?.[1];
        if (final === undefined) throw new UserError(`${context.where}: its answer does not end in #### and a number`);
        const answer = final
          .trim()
          .replace(/^\$/, '')
          .replaceAll(/(?<=\d),(?=\d{3})/g, '');
        return { question: textOf(values, 'question', context), answer };
      },
    },
  ],
  // The paper does not evaluate on it.
  published: [],
};
