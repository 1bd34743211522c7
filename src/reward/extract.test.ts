import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lastBoxed } from './extract.js';

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
