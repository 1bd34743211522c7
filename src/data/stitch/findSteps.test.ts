import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { calcProblems } from '../../problems/calc.js';
import { findSteps } from './findSteps.js';
import { agreement, readStated } from './statedValue.js';

const found = (text: string) => {
  const { texts, steps, unreadable } = findSteps(text);
  return { texts, steps: steps.map(({ python, stated }) => `${python} => ${stated.text}`), unreadable };
};

describe('steps of a solution', () => {
  it('are its marks, with the formula in front of each', () => {
    expect(found('Ann sold 48/2 = <<48/2=24>>24 clips.\nAt $2 each that is 24 x 2 = $<<24*2=48>>48 in all.')).toEqual({
      texts: ['Ann sold ', '24 clips.\nAt $2 each that is ', '$48 in all.'],
      steps: ['48 / 2 => 24', '24 * 2 => 48'],
      unreadable: [],
    });
  });

  it('leave words in a formula standing, and give the value where the text does not repeat it', () => {
    expect(found('That is 12 dogs * 3 legs = <<12*3=36>> legs.')).toEqual({
      texts: ['That is 12 dogs * 3 legs = ', '36 legs.'],
      steps: ['12 * 3 => 36'],
      unreadable: [],
    });
  });

  it('are no marks that compute nothing or cannot be read; those go out of the text', () => {
    expect(found('So <<60=60>>60, <<x+2=4>>4 and <<import os=1>>1.')).toEqual({
      texts: ['So 60, 4 and 1.'],
      steps: [],
      unreadable: ['x+2=4', 'import os=1'],
    });
  });

  it.each([
    ['Then 2*3+4 = 6+4 = 10 people.', ['2 * 3 + 4 => 10'], ['Then ', '10 people.']],
    ['It costs $12 * 3 = $36.', ['12 * 3 => $36'], ['It costs ', '$36.']],
    ['10/3 ≈ 3.33.', ['10 / 3 => 3.33'], ['', '3.33.']],
    ['In 2010, 48/2 = 24. In all 1/4 + 1/2 = 3/4.', ['48 / 2 => 24', '1 / 4 + 1 / 2 => 3/4'], ['In 2010, ', '24. In all ', '3/4.']],
    ['- 3 * 4 = 12\n2) 5 * 6 = 30\n1. 7 - 9 = -2', ['3 * 4 => 12', '5 * 6 => 30', '7 - 9 => -2'], ['- ', '12\n2) ', '30\n1. ', '-2']],
    ['We get $6 \\times 7 = 42$ and $x = 2 \\cdot 3 = 6$.', ['6 * 7 => 42', '2 * 3 => 6'], ['We get ', '$42$ and ', '$x = 6$.']],
    ['\\[\\frac{1}{2} \\cdot 10 = 5.\\]', ['(1 / 2) * 10 => 5'], ['', '\\[5.\\]']],
    ['18 * 18 mod 167 = 157.', ['18 * 18 % 167 => 157'], ['', '157.']],
  ])('are the formulae of %s', (text, steps, texts) => {
    expect(found(text)).toEqual({ texts, steps, unreadable: [] });
  });

  it.each([
    'y + 3*4 = 12',
    'f(3*4) = 12',
    'x 3*4 = 12',
    '5+6 = 11x',
    '2*3 = 6y + 1',
    '2*3 = 6 * z',
    '3 = 3',
    '3*4 == 12',
    '3*4 <= 12',
    '3*4 = twelve',
    '$2+3=5, 4+4=8$',
    'a^2+2*3 = 15',
    '3.5.2 * 2 = 7',
  ])('are not taken out of %s', (text) => {
    expect(found(text)).toEqual({ texts: [text], steps: [], unreadable: [] });
  });

  it('are one text more than steps, and lose no word of a text without mathematics', () => {
    const words = fc.array(
      fc.constantFrom('Ann', 'has', '48/2', '=', '24', '$', '\\(', '\\)', '<<', '>>', '(', ')', '3*4', ',', '.', '\n', 'x', '-'),
    );
    fc.assert(
      fc.property(words, (parts) => {
        const text = parts.join(' ');
        const { texts, steps } = findSteps(text);
        expect(texts.length).toBe(steps.length + 1);
        const names = (all: string) => all.split('Ann').length;
        expect(names(texts.join(''))).toBe(names(text.replaceAll(/<<[^<>\n]*>>/g, '')));
      }),
      { numRuns: 2000 },
    );
  });

  it('take little time in hostile text', () => {
    for (const piece of ['<<1=', '=  ', '$', '\\(', '1+', '3*4 = ', '(1', '<<1+1=2>>', ' ']) {
      const { texts, steps } = findSteps(`${piece.repeat(20_000)}x`);
      expect(texts.length).toBe(steps.length + 1);
    }
  });

  it('are found in solutions of nearly all calc problems', () => {
    const problems = calcProblems({ size: 'standard', split: 'train', seed: 5, count: 280 });
    const without = problems.filter(({ solution }) => findSteps(solution).steps.length === 0);
    expect(without.every(({ tags }) => tags.family === 'primes')).toBe(true);
    expect(without.length).toBeLessThan(10);
  });
});

describe('an output', () => {
  it.each([
    ['24.0', '24', 'equal'],
    ['0.30000000000000004', '0.3', 'equal'],
    ['2305843009213693953', '2305843009213693953', 'equal'],
    ['2305843009213693953', '2305843009213693952', 'different'],
    ['1000', '$1,000', 'equal'],
    ['0.75', '3/4', 'equal'],
    ['0.5', '50%', 'equal'],
    ['50', '50%', 'equal'],
    ['3.3333333333333335', '3.33', 'rounded'],
    ['6.666666666666667', '6.66', 'cut'],
    ['3.5', '3', 'wholeNumber'],
    ['75.0', '0.75', 'scaled'],
    ['2.0', '.5', 'different'],
    ['(no output)', '5', 'noNumber'],
    ['-2', '-2', 'equal'],
    ['1e+20', '100000000000000000000', 'equal'],
  ])('of %s for a stated %s is %s', (output, text, expected) => {
    expect(agreement(output, readStated(text, 0)!)).toBe(expected);
  });
});
