import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { gradeAnswer, sameAnswer } from './gradeAnswer.js';

describe('equal answers', () => {
  it.each([
    ['204', '204'],
    [' 70 ', '70'],
    ['070', '70'],
    ['-0', '0'],
    ['+5', '5'],
    ['−5', '-5'],
    ['- 5', '-5'],
    ['204.0', '204'],
    ['.5', '0.50'],
    ['42.', '42'],
    ['1,000', '1000'],
    ['1{,}000', '1000'],
    ['1,\\!000', '1000'],
    ['1\\,000\\,000', '1000000'],
    ['12,345.60', '12345.6'],
    ['1e3', '1000'],
    ['1.5 \\times 10^{3}', '1500'],
    ['2\\cdot 10^{-2}', '0.02'],
    ['\\dfrac{1}{2}', '\\frac{1}{2}'],
    ['\\frac12', '\\frac{1}{2}'],
    ['\\frac 1 2', '0.5'],
    ['1/2', '\\tfrac{2}{4}'],
    ['-1/2', '\\frac{-1}{2}'],
    ['-\\frac{1}{2}', '\\frac{1}{-2}'],
    ['\\frac{1{,}000}{3}', '1000/3'],
    ['2\\frac{1}{2}', '5/2'],
    ['11 5/6', '71/6'],
    ['-2 2/3', '-8/3'],
    ['50%', '0.5'],
    ['50\\%', '1/2'],
    ['7.41\\%', '7.41%'],
    ['$42$', '42'],
    ['\\$42', '42'],
    ['$42', '42.00'],
    ['-\\$3.50', '-3.5'],
    ['42€', '42'],
    ['\\(42\\)', '42'],
    ['42\\)', '42'],
    ['**73**', '73'],
    ['{73}', '73'],
    ['\\text{13}', '13'],
    ['\\mathbf{13}', '13'],
    ['10\\text{ cm}', '10'],
    ['10\\text{ cm}', '10\\mathrm{cm}'],
    ['90^\\circ', '90'],
    ['90^{\\circ}', '90°'],
    ['\\text{B}', 'B'],
    ['b', 'B'],
    ['New  York.', 'new york'],
    ['(1, 2)', '(1,2)'],
    ['\\left( 1, 2 \\right)', '(1,2)'],
    ['\\{ 1, 2 \\}', '\\{1,2\\}'],
    ['\\sqrt{17}', '\\sqrt{ 17 }'],
    ['[0,\\infty)', '[0, \\infty)'],
    ['π/2', 'π / 2'],
    ['123456789012345678901234567890', '+0123456789012345678901234567890.0'],
    ['\\text{yes}', 'Yes'],
  ])('%s is %s', (a, b) => {
    expect(sameAnswer(a, b)).toBe(true);
    expect(sameAnswer(b, a)).toBe(true);
  });
});

describe('different answers', () => {
  it.each([
    ['205', '204'],
    ['2040', '204'],
    ['1,2,3', '123'],
    ['1,00', '100'],
    ['2\\,3', '23'],
    ['2 3', '23'],
    ['2 2/3', '2'],
    ['2 2/3', '4/3'],
    ['4 10/3', '4'],
    ['4 10/3', '22/3'],
    ['2/3', '2'],
    ['\\frac{1}{3}', '\\frac{2}{3}'],
    ['1/0', '2/0'],
    ['1/0', '0'],
    ['50%', '50'],
    ['±2021', '2021'],
    ['12:00', '1:00'],
    ['n=2,3,4', 'n=1,2,3'],
    ['n=3k', '3'],
    ['x=5y', '5'],
    ['1/2^{99}', '1/2^{98}'],
    ['1 - 1/\\mathrm{e}', '1 + 1/\\mathrm{e}'],
    ['f(x)=0', 'x>0, f(x)=0'],
    ['the answer is 5', '5'],
    ['5 or 6', '5'],
    ['10\\text{ cm}', '10\\text{ m}'],
    ['123456789012345678901234567890', '123456789012345678901234567891'],
    ['0.333333', '1/3'],
    ['--5', '5'],
    ['1e999999', '1e999998'],
    ['\\Delta', '\\delta'],
    ['', '0'],
  ])('%s is not %s', (a, b) => {
    expect(sameAnswer(a, b)).toBe(false);
    expect(sameAnswer(b, a)).toBe(false);
  });
});

describe('verdicts', () => {
  it('says why an answer got its score', () => {
    expect(gradeAnswer('0.5', '1/2')).toEqual({ kind: 'graded', correct: true, score: 1, reason: 'match', extracted: '0.5' });
    expect(gradeAnswer(' 8 ', '7')).toEqual({ kind: 'graded', correct: false, score: 0, reason: 'mismatch', extracted: ' 8 ' });
    expect(gradeAnswer(undefined, '7')).toEqual({ kind: 'graded', correct: false, score: 0, reason: 'noAnswer' });
    expect(gradeAnswer(' ', '7')).toEqual({ kind: 'graded', correct: false, score: 0, reason: 'noAnswer', extracted: ' ' });
  });
});

describe('any answer', () => {
  const token = fc.constantFrom(
    '\\frac',
    '{',
    '}',
    '1',
    '2',
    '/',
    '.',
    ',',
    '\\text',
    '$',
    '\\',
    '%',
    '-',
    ' ',
    'e',
    '**',
    '(',
    ')',
    '^\\circ',
    '\\,',
  );
  const text = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.array(token, { maxLength: 14 }).map((parts) => parts.join('')),
  );

  it('equals itself, symmetrically and without throwing', () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(sameAnswer(a, a)).toBe(true);
        expect(sameAnswer(a, b)).toBe(sameAnswer(b, a));
      }),
      { numRuns: 2000 },
    );
  });

  it('is compared exactly where both are fractions of any size', () => {
    const big = fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n });
    const positive = fc.bigInt({ min: 1n, max: 10n ** 20n });
    fc.assert(
      fc.property(big, positive, positive, (n, d, k) => {
        expect(sameAnswer(`${n}/${d}`, `\\frac{${n * k}}{${d * k}}`)).toBe(true);
        expect(sameAnswer(`${n}/${d}`, `${n * k + 1n}/${d * k}`)).toBe(false);
      }),
    );
  });

  it('is decided in bounded time, however long', () => {
    for (const unit of ['{', ' ', '9', '\\text{', '1,', '.', '\\frac{', '- ']) {
      const long = unit.repeat(9_000 / unit.length);
      expect(sameAnswer(long, '5')).toBe(false);
      expect(sameAnswer(long.repeat(100), '5')).toBe(false);
    }
  });
});
