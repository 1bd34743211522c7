import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answerKey, checkGold, gradeAnswer, sameAnswer } from './gradeAnswer.js';

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
    ['b', 'B'],
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

  it('throws nothing, has a key, and equals itself where it can be used', () => {
    const piece = fc.constantFrom(
      ...'\\frac{1}{2} \\sqrt{2} \\text{ cm} \\pm \\infty \\begin{pmatrix} \\end{pmatrix} \\\\ & \\sum_{k=1}^{3} k \\int_0^1 dx \\{ \\} ( ) [ ] | ! ^ _ , ; = < > \\le \\in \\cup x y e i \\pi sin \\log_2 2 10 1,000 0.5 %'.split(
        ' ',
      ),
      ' ',
    );
    const math = fc.array(piece, { maxLength: 12 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(math, math, (a, b) => {
        if (checkGold(a) === undefined && a.trim() !== '') expect(gradeAnswer(a, a).correct).toBe(true);
        expect(sameAnswer(a, b)).toBe(sameAnswer(b, a));
        expect(typeof answerKey(a)).toBe('string');
      }),
      { numRuns: 2000 },
    );
  });

  it('is not met once a digit of its canonical spelling changes', () => {
    const digits = fc.stringMatching(/^[1-9][0-9]{0,30}$/);
    fc.assert(
      fc.property(digits, digits, fc.nat(), fc.integer({ min: 1, max: 9 }), (a, b, at, by) => {
        for (const form of [
          (n: string) => n,
          (n: string) => `\\frac{${n}}{${b}}`,
          (n: string) => `\\sqrt{${n}}+\\pi`,
          (n: string) => `${n}x^2+1`,
          (n: string) => `(${n}, ${b})`,
        ]) {
          const i = at % a.length;
          const changed = a.slice(0, i) + ((Number(a[i]) + by) % 10) + a.slice(i + 1);
          expect(sameAnswer(form(a), form(changed))).toBe(false);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('is decided by counted work, however long or deep', () => {
    const units = [
      '{',
      ' ',
      '9',
      '\\text{',
      '1,',
      '.',
      '\\frac{',
      '- ',
      '\\boxed{',
      '\\sqrt',
      '\\)',
      '$',
      '((',
      '7!',
      'x^',
      '\\int_',
      '\\left(',
      '1+',
      '\\begin{vmatrix}1',
    ];
    for (const unit of units) {
      for (const length of [200, 9_000, 1_000_000]) {
        const long = unit.repeat(Math.ceil(length / unit.length));
        expect(gradeAnswer(long, '5').correct).toBe(false);
        expect(gradeAnswer('5', long).correct).toBe(false);
      }
    }
    for (const wide of [
      '9^{9^{9}}',
      '100000!',
      '\\sum_{k=1}^{10^9} k',
      `${'\\sqrt{1+'.repeat(90)}x${'}'.repeat(90)}`,
      '(x+y+z+w)^{1000000}',
      '\\sin(10^{9000})',
      '\\pi^{10^{12}}',
    ]) {
      expect(sameAnswer(wide, '5')).toBe(false);
      expect(sameAnswer(wide, `${wide}+1`)).toBe(false);
    }
    expect(sameAnswer(`${'{'.repeat(10_000)}5${'}'.repeat(10_000)}`, '5')).toBe(true);
  });
});
