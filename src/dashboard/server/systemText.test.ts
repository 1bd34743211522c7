import { describe, expect, it } from 'vitest';
import { beforeQuestion } from './systemText.js';

/** Each part of the prompt is one token. */
const ask = (prompt: readonly string[], question: string): string | undefined =>
  beforeQuestion(
    prompt.map((_, i) => i),
    question,
    { decode: (ids) => ids.map((id) => prompt[id]).join(''), isSpecial: (id) => /^<\|.*\|>$/.test(prompt[id]!) },
  );

describe('what a prompt says before the question', () => {
  it('is the system message without headers, in the forms that templates have', () => {
    const chatml = [
      '<|im_start|>',
      'system\n',
      'Be brief.',
      '\nUse tools.',
      '<|im_end|>',
      '\n',
      '<|im_start|>',
      'user\n',
      'Why?',
      '<|im_end|>',
    ];
    expect(ask(chatml, 'Why?')).toBe('Be brief.\nUse tools.');
    const headers = ['<|start|>', 'system', '<|end|>', '\n\nBe brief.', '<|eot|>', '<|start|>', 'user', '<|end|>', '\n\nWhy?', '<|eot|>'];
    expect(ask(headers, ' Why?\n')).toBe('Be brief.');
  });

  it('is nothing where there is no system message, and unknown where the question is not found', () => {
    expect(ask(['<|user|>', 'Why?', '<|assistant|>'], 'Why?')).toBe('');
    expect(ask(['<|user|>', 'Whyever?'], 'How?')).toBeUndefined();
  });
});
