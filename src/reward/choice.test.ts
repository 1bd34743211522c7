import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UserError } from '../userError.js';
import { gradeChoice, readChoice, shuffleOptions } from './choice.js';

const lengths = ['12 m', '42 m', '7 m', '0.5 m'];
const formulas = ['A = \\pi r^2', 'B^2 - 4AC', 'C \\to D', '\\frac{1}{2}'];
const words = ['Alanine', 'Both A and B', 'Carbon dioxide', 'None of the above'];

describe('the option that an answer names', () => {
  it.each([
    'B',
    ' B ',
    '(B)',
    '[B]',
    'B.',
    '(B).',
    'B)',
    'B:',
    'b',
    '(b)',
    '\\text{B}',
    '\\text{ B }',
    '\\text{(B)}',
    '\\textbf{(B)}',
    '(\\textbf{B})',
    '\\mathrm{B}',
    '\\mathbf{B}',
    '{B}',
    '**B**',
    '$B$',
    '\\(B\\)',
    '\\boxed{B}',
    'B) 42 m',
    'B. 42 m',
    'B: 42 m',
    'B, 42 m',
    'B - 42 m',
    'B – 42 m',
    '(B) 42 m',
    '(B): 42 m',
    '\\text{B) 42 m}',
    '\\textbf{(B) } 42\\text{ m}',
    '\\text{(B)}~42~\\text{m}',
    'Option B',
    'option (B)',
    'Answer: B',
    'The answer is B.',
    'The correct option is (B)',
    'the correct answer is: B',
    'Choice B: 42 m',
    'b) 42 m',
    '(b) 42 m',
    '42 m',
    '42m',
    '42.0 m',
    '42\\text{ m}',
    '42\\ \\mathrm{m}',
    'Ｂ',
    'B</answer>',
    '<answer>B</answer>',
    '<answer> (B) 42 m </answer></response>',
    'B<|im_end|>',
    'B</s>\n',
    '42 m</answer>',
    'B. B',
    'Option B: (B) 42 m',
  ])('%j is B', (answer) => {
    expect(readChoice(answer, lengths)).toBe('B');
    expect(gradeChoice(answer, { options: lengths, gold: 'B' })).toMatchObject({
      correct: true,
      score: 1,
      reason: 'match',
      extracted: 'B',
    });
    expect(gradeChoice(answer, { options: lengths, gold: 'A' })).toMatchObject({ correct: false, score: 0, reason: 'mismatch' });
  });

  it.each([
    'B',
    '(B)',
    'B.',
    '\\text{B}',
    'B) 42 m',
    '\\textbf{(B)}',
    'b',
    'B</answer>',
    'B: 24 m',
    'B. A cell that divides',
    'B) 5 N',
    'B) 20 °C',
    'B) 20^\\circ C',
    'B. E = mc^2',
    'B: T-cells',
    'B. Notable changes',
    'B. The answer is B',
    'B: f(c)',
    'B: (b) the north',
    'B: (B) the north',
  ])('%j is B, whatever the options are', (answer) => {
    expect(readChoice(answer)).toBe('B');
  });

  it.each([
    'B - no, C',
    'B: false',
    "B. it's A",
    "B. It's (a)",
    'B. None of these',
    'B, or c',
    'B: not this one',
    "B. That isn't it",
    'B. That isn\u2019t it',
    'B: wrong',
    'B. A is right',
    'B, wait: the other',
    'B -> C',
    'B: see (C)',
    '(B)(C)',
    '(B) is wrong',
    'B. B or C',
    'B: B is false',
  ])('%j names none where the options are not known', (answer) => {
    expect(readChoice(answer)).toBeUndefined();
  });

  it.each([
    ['B: false', ['True', 'False'], 'B'],
    ['B. None of these', ['3 m', 'None of these'], 'B'],
    ['B. No, C is larger', ['Yes', 'No, C is larger'], 'B'],
    ['B. same', ['x', 'same', 'same'], 'B'],
    ['B. x<y', ['x>y', 'x<y'], 'B'],
    ['B. B. subtilis', ['E. coli', 'B. subtilis'], 'B'],
    ['B. subtilis', ['E. coli', 'B. subtilis'], 'B'],
    ['B. subtilis', ['B. subtilis', 'E. coli'], 'A'],
    ['<x>', ['<y>', '<x>'], 'B'],
  ] as const)('%j is the option that says so', (answer, options, letter) => {
    expect(readChoice(answer, options)).toBe(letter);
  });

  it.each([
    ['A=\\pi r^2', formulas, 'A'],
    ['A = \\pi r^{2}', formulas, 'A'],
    ['B^2-4AC', formulas, 'B'],
    ['0.5', formulas, 'D'],
    ['\\dfrac12', formulas, 'D'],
    ['Both A and B', words, 'B'],
    ['both a and b.', words, 'B'],
    ['\\text{Carbon dioxide}', words, 'C'],
    ['none of the  above', words, 'D'],
    ['D) None of the above', words, 'D'],
    ['A. alanine', words, 'A'],
  ] as const)('%j by its text is option %#', (answer, options, letter) => {
    expect(readChoice(answer, options)).toBe(letter);
  });

  it.each([
    ['', lengths],
    ['A=\\pi r^2', lengths],
    ['A = 5', lengths],
    ['A\\cdot B', lengths],
    ['AB', lengths],
    ['A, B', lengths],
    ['A and B', lengths],
    ['A or B', lengths],
    ['A, B and C', lengths],
    ['A; B', lengths],
    ['b, 42 m', lengths],
    ['(A), (B)', lengths],
    ['A/B', lengths],
    ['BC', lengths],
    ['Because', lengths],
    ['a cat', lengths],
    ['A cat', lengths],
    ['A_1', lengths],
    ['A^2', lengths],
    ["B'", lengths],
    ['-B', lengths],
    ['2B', lengths],
    ['not B', lengths],
    ['\\Delta', lengths],
    ['E', lengths],
    ['(E)', lengths],
    ['43 m', lengths],
    ['A) 42 m', lengths],
    ['B - no, C', lengths],
    ['B: false', lengths],
    ["B. it's A", lengths],
    ['B: 24 m', lengths],
    ['B. None of these', lengths],
    ['D. None of these', words],
    ['B, which is right', lengths],
    ['B: about 42 m', lengths],
    ['B. 42 m or 7 m', lengths],
    ['(B) is wrong', lengths],
    ['B. B. 7 m', lengths],
    ['B. A', lengths],
    ['B. the second', lengths],
    ['B. x', ['same', 'same', 'x', 'y']],
    ['2/4', ['0.5', '\\frac{1}{2}', '7', '8']],
    ['same', ['same', 'same', 'x', 'y']],
    ['dioxide', words],
  ] as [string, string[]][])('%j names none', (answer, options) => {
    expect(readChoice(answer, options)).toBeUndefined();
    expect(gradeChoice(answer, { options, gold: 'A' })).toMatchObject({ correct: false, score: 0, reason: 'noAnswer' });
  });

  it.each(['A=\\pi r^2', 'AB', 'A and B', 'A, B', 'A_1', 'S', 'it seems to be A maybe'])(
    '%j names no option of four or says none of them',
    (answer) => {
      expect(['A', 'B', 'C', 'D'].includes(readChoice(answer) ?? '')).toBe(false);
    },
  );

  it('is a letter even where an option holds that letter', () => {
    expect(readChoice('B', ['b', 'x', 'y', 'z'])).toBe('B');
  });
});

describe('a choice question', () => {
  it('without an answer is not answered', () => {
    expect(gradeChoice(undefined, { gold: 'C' })).toEqual({ kind: 'graded', correct: false, score: 0, reason: 'noAnswer' });
  });

  it.each(['', 'AB', '1', 'E', 'é'])('with the gold letter %j is refused', (gold) => {
    expect(() => gradeChoice('A', { options: lengths, gold })).toThrow(UserError);
  });

  it('is right by the letter and by the text of every option, and by no other', () => {
    const options = fc.uniqueArray(fc.stringMatching(/^[a-z]{3,8} [a-z]{3,8}$/), { minLength: 2, maxLength: 10 });
    fc.assert(
      fc.property(options, fc.nat(), (texts, pick) => {
        const gold = String.fromCharCode(65 + (pick % texts.length));
        texts.forEach((text, index) => {
          const letter = String.fromCharCode(65 + index);
          for (const answer of [letter, `(${letter})`, `${letter}. ${text}`, text]) {
            expect(gradeChoice(answer, { options: texts, gold }).correct).toBe(letter === gold);
          }
        });
      }),
    );
  });

  it('names nothing by a letter with any other text than that of its option', () => {
    const words = fc.stringMatching(/^[a-z]{3,8} [a-z]{3,8}$/);
    const delimiter = fc.constantFrom(') ', '. ', ': ', ', ', ' - ', '; ');
    fc.assert(
      fc.property(fc.uniqueArray(words, { minLength: 2, maxLength: 6 }), words, delimiter, fc.nat(), (texts, other, mark, pick) => {
        const [index, letter] = [pick % texts.length, String.fromCharCode(65 + (pick % texts.length))];
        expect(readChoice(`${letter}${mark}${texts[index]}`, texts)).toBe(letter);
        fc.pre(!texts.includes(other));
        for (const text of [other, `${texts[index]} ${other}`, `${other} ${texts[index]}`, `not ${texts[index]}`])
          expect(readChoice(`${letter}${mark}${text}`, texts)).toBeUndefined();
      }),
    );
  });

  it('is decided for any answer, in bounded time', () => {
    fc.assert(fc.property(fc.string(), (answer) => void gradeChoice(answer, { options: formulas, gold: 'A' })));
    for (const unit of ['(', '{', '\\text{', 'A', 'the ', '$', '*', ' ', '. ']) {
      expect(gradeChoice(unit.repeat(1_000_000 / unit.length), { options: formulas, gold: 'B' }).correct).toBe(false);
    }
  });
});

describe('shuffled options', () => {
  it('are the same options, with the gold letter on the same one, by seed', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string(), { minLength: 1, maxLength: 26 }), fc.nat(), fc.integer(), (options, pick, seed) => {
        const goldIndex = pick % options.length;
        const shuffled = shuffleOptions(options, goldIndex, seed);
        expect([...shuffled.options].sort()).toEqual([...options].sort());
        expect(shuffled.options[shuffled.gold.charCodeAt(0) - 65]).toBe(options[goldIndex]);
        expect(shuffleOptions(options, goldIndex, seed)).toEqual(shuffled);
      }),
    );
  });

  it('put the right one in every place about equally often', () => {
    const counts = { A: 0, B: 0, C: 0, D: 0 };
    for (let seed = 0; seed < 4000; seed++) counts[shuffleOptions(lengths, 3, seed).gold as 'A']++;
    for (const count of Object.values(counts)) expect(Math.abs(count - 1000)).toBeLessThan(150);
  });

  it('need a right one', () => {
    expect(() => shuffleOptions(lengths, 4, 1)).toThrow(RangeError);
  });
});
