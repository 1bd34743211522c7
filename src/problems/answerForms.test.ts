import { describe, expect, it } from 'vitest';
import { gradeAnswer } from '../reward/math/gradeAnswer.js';
import { strictBoxScore } from '../reward/reference/mathScore.js';
import { ANSWER_FORMS, variedAnswer } from './answerForms.js';

const written: readonly (readonly [form: string, whole: string, as: string])[] = [
  ['commas', '1240', '1,240'],
  ['commas', '-1234567', '-1,234,567'],
  ['point', '12', '12.0'],
  ['point', '-7', '-7.0'],
  ['plus', '7', '+7'],
  ['dollars', '240', '$240$'],
  ['fraction', '12', '\\frac{24}{2}'],
  ['fraction', '-12', '\\frac{-24}{2}'],
  ['fraction', '99999999999999999999', '\\frac{199999999999999999998}{2}'],
  ['power', '3500', '35 \\times 10^{2}'],
  ['power', '-20000', '-2 \\times 10^{4}'],
  ['text', '240', '\\text{240}'],
  ['named', '0', 'x = 0'],
];

describe('a form of a right answer', () => {
  it.each(written)('%s writes %s as %s', (form, whole, as) => {
    expect(ANSWER_FORMS[form]!(whole)).toBe(as);
  });

  it.each(written)('%s of %s is the same number to our grader and another text to the released one', (_, whole, as) => {
    const next = String(BigInt(whole) + 1n);
    expect(gradeAnswer(whole, as)).toMatchObject({ correct: true, reason: 'match' });
    expect(gradeAnswer(next, as)).toMatchObject({ correct: false, reason: 'mismatch' });
    expect(strictBoxScore(`\\boxed{${whole}}`, as).acc).toBe(false);
    expect(strictBoxScore(`\\boxed{${as}}`, as).acc).toBe(true);
  });

  it('is not there where the number cannot be written so', () => {
    expect(ANSWER_FORMS.commas!('999')).toBeUndefined();
    expect([ANSWER_FORMS.plus!('0'), ANSWER_FORMS.plus!('-3')]).toEqual([undefined, undefined]);
    expect([ANSWER_FORMS.power!('240'), ANSWER_FORMS.power!('0')]).toEqual([undefined, undefined]);
  });

  it('is in this test', () => {
    expect(new Set(written.map(([form]) => form))).toEqual(new Set(Object.keys(ANSWER_FORMS)));
  });
});

describe('varied answers', () => {
  const ids = Array.from({ length: 2000 }, (_, i) => `family:${i}`);

  it('are plain in half of the problems, in every form in the others', () => {
    const answers = ids.map((id) => variedAnswer('3500', id));
    const share = answers.filter((answer) => answer === '3500').length / ids.length;
    expect(share).toBeGreaterThan(0.46);
    expect(share).toBeLessThan(0.54);
    expect(new Set(answers)).toEqual(new Set(['3500', ...Object.values(ANSWER_FORMS).map((write) => write('3500'))]));
  });

  it('follow from the id alone', () => {
    for (const id of ids.slice(0, 50)) expect(variedAnswer('12', id)).toBe(variedAnswer('12', id));
    expect(variedAnswer('12', ids.find((id) => variedAnswer('7', id) === '+7')!)).not.toBe('12');
  });
});
