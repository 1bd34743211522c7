import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wordsOf } from './words.js';

const text = (source: string): string => wordsOf(source).join(' ');

describe('the words of a problem', () => {
  it.each([
    ['case and punctuation', 'How many APPLES, are left?', 'how many apples are left'],
    ['blanks and line ends', '  two\n\n pears\t', '2 pears'],
    ['thousands', 'He pays $1,250.50 or 1{,}000.', 'he pays 1250.5 or 1000'],
    ['leading and trailing zeros', '007 and 2.50 and 3.0', '7 and 2.5 and 3'],
    ['small numbers in words', 'twelve of thirty cards, one by one', '12 of 30 cards one by one'],
    ['parts and multiples in words', 'half of a dozen, twice a third', '0.5 of a 12 2 a 3th'],
    ['LaTeX', '$\\dfrac{3}{4} \\cdot x \\leq \\left(5\\right)$', '3 / 4 * x <= 5'],
    ['the other delimiters', '\\(x \\neq 2\\)', 'x != 2'],
    ['signs of their own', '3 × 4 ÷ 2 ≥ 1 ≠ 0', '3 * 4 / 2 >= 1 != 0'],
    ['a minus, a hyphen, a dash', 'x - 3, well-known -5 – and 7−2', 'x - 3 well known - 5 and 7 - 2'],
    ['apostrophes', "Tim's ducks don’t", 'tims ducks dont'],
    ['Markdown', '**Find** the value', 'find the value'],
    ['a counter before it', 'Problem 12. Find x', 'find x'],
    ['another counter', '7) Find x', 'find x'],
    ['marks', 'Find x. (5 points)', 'find x'],
    ['a number that is no counter', '12 apples', '12 apples'],
    ['full-width digits', '４２ 個', '42 個'],
    ['letters of other scripts', 'Сколько яблок', 'сколько яблок'],
  ])('%s make no difference or are kept', (_, source, words) => expect(text(source)).toBe(words));

  it('tell decimals, signs and numbers apart', () => {
    expect(text('0.49')).not.toBe(text('49'));
    expect(text('x + 3')).not.toBe(text('x - 3'));
    expect(text('a < 3')).not.toBe(text('a <= 3'));
  });

  it('are read from any text, in time that grows with it alone', () => {
    fc.assert(fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (source) => wordsOf(source).every((word) => word.length > 0)));
    for (const piece of ['\\frac{', '\\frac{1}{', '1,', '- ', '((', '9', 'a-', "x'"])
      expect(wordsOf(piece.repeat(20_000)).length).toBeGreaterThanOrEqual(0);
  });
});
