import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { extractAnswer, lastBoxed } from './extract.js';

describe('lastBoxed', () => {
  it.each([
    ['a \\boxed{5} b', '5'],
    ['\\boxed{1} \\boxed{2}', '2'],
    ['\\boxed{\\frac{1}{\\sqrt{2}}} end', '\\frac{1}{\\sqrt{2}}'],
    ['\\boxed{\\boxed{7}}', '7'],
    ['\\boxed{\n3\n}', '\n3\n'],
    ['\\boxed{\\{1,2\\}}', '\\{1,2\\}'],
    ['\\boxed{a \\} b}', 'a \\} b'],
    ['\\boxed{}', ''],
    ['so **\\boxed{70}**\\).</answer>', '70'],
  ])('reads %j', (text, content) => {
    expect(lastBoxed(text)).toBe(content);
  });

  it.each(['', 'The answer is 204.', '\\boxed 12', '\\fbox{12}', '\\boxed{12', '\\boxed{5} so \\boxed{6', '\\boxed{\\}'])(
    'finds no answer in %j',
    (text) => {
      expect(lastBoxed(text)).toBeUndefined();
    },
  );

  it('finds a box however far from the end', () => {
    expect(lastBoxed(`\\boxed{8}${'z'.repeat(100_000)}`)).toBe('8');
  });

  it('gives back whatever balanced text was boxed last', () => {
    const content = fc.string().map((text) => text.replace(/[\\{}]/g, ''));
    fc.assert(
      fc.property(fc.string(), content, content, (before, inside, after) => {
        expect(lastBoxed(`${before}\\boxed{${inside}}${after}`)).toBe(inside);
      }),
    );
  });
});

describe('extractAnswer', () => {
  it.each([
    ['so \\boxed{7}.', '7'],
    ['\\boxed {7}', '7'],
    ['<think>\\boxed{8}</think> \\boxed{7}', '7'],
    ['no tag opened: \\boxed{8}</think> \\boxed{7}', '7'],
    ['<think>a</think>\\boxed{6}<think>b</think>\\boxed{7}', '7'],
    ['\\boxed{7} <think>but \\boxed{8}', '7'],
    ['\\boxed{7} <tool_call>{"code": "\\\\boxed{8}"}</tool_call>', '7'],
    ['\\boxed{7} <tool_response>\\boxed{8}</tool_response>', '7'],
  ])('takes from %j the box %j', (text, answer) => {
    expect(extractAnswer(text)).toMatchObject({ answer, from: 'box', note: expect.stringContaining('box') });
  });

  it.each([
    ['', /empty/],
    ['The answer is 7.', /no \\boxed/],
    ['\\boxed{5} so \\boxed{6', /never closes/],
    ['<think>\\boxed{8}</think> seven', /no \\boxed/],
    ['<think>\\boxed{8}', /no text after/],
    ['<tool_response>\\boxed{8}</tool_response> seven', /no \\boxed/],
    ['Answer: 7', /no \\boxed/],
  ])('takes nothing from %j, and says why', (text, note) => {
    expect(extractAnswer(text)).toEqual({ from: 'none', note: expect.stringMatching(note) });
  });

  it.each([
    ['Thus the final answer is $7$.', '$7$'],
    ['Answer: 6\n**Answer:** 7', '7'],
    ['ANSWER : **7**', '7'],
    ['the final answer is: x = 7.\nDone', 'x = 7'],
  ])('takes from %j the phrase %j where phrases are allowed', (text, answer) => {
    expect(extractAnswer(text, { phrase: true })).toMatchObject({ answer, from: 'phrase' });
    expect(extractAnswer(text)).toMatchObject({ from: 'none' });
  });

  it('lets a box go before a phrase, and an open box void both', () => {
    expect(extractAnswer('\\boxed{7} Answer: 8', { phrase: true })).toMatchObject({ answer: '7', from: 'box' });
    expect(extractAnswer('\\boxed{7 Answer: 8', { phrase: true })).toMatchObject({ from: 'none' });
  });

  it('reads a megabyte of boxes, tags or phrases', () => {
    for (const unit of [
      '\\boxed{',
      '\\boxed',
      '<think>',
      '</think>',
      '<tool_call>',
      '<tool_response></tool_response>',
      'answer:',
      'final answer is ',
      'a ',
    ]) {
      const text = unit.repeat(Math.ceil(1_000_000 / unit.length));
      expect(extractAnswer(`${text}\\boxed{7}`, { phrase: true }).from).toMatch(/box|none/);
    }
  });
});
