import { describe, expect, it } from 'vitest';
import { madeProblem, templatedText, textOf } from '../../bench/madeProblems.js';
import { wordsOf } from '../duplicates/words.js';
import { EvaluationIndex, type EvaluationText } from './evaluationIndex.js';

const evaluation = (texts: readonly string[]): EvaluationText[] =>
  texts.map((text, i) => ({ set: 'evaluation', where: `evaluation:${i + 1}`, text }));
const TRAIN =
  'A train leaves the harbour at noon with 214 passengers and reaches the old bridge after 35 minutes. How many passengers are on board if 19 get off there?';

describe('a problem of an evaluation set', () => {
  const index = new EvaluationIndex(evaluation([TRAIN, 'What is 6 * 7?', 'Prove that there is no largest prime number.', 'Why?']));
  const kindOf = (text: string): string | undefined => index.find(wordsOf(text))?.kind;

  it.each([
    ['word by word', TRAIN, 'exact'],
    ['in capitals, without punctuation', TRAIN.toUpperCase().replaceAll(/[.,?]/g, ''), 'exact'],
    ['inside of a longer text', `Read carefully. ${TRAIN} Give 3 reasons, then answer 12 questions about it.`, 'ngram'],
    ['without its end', TRAIN.slice(0, TRAIN.indexOf('How')), undefined],
    [
      'with its sentences the other way round',
      'How many passengers are on board if 19 get off there? A train leaves the harbour at noon with 214 passengers and reaches the old bridge after 35 minutes.',
      'ngram',
    ],
    [
      'with words exchanged all over',
      TRAIN.replace('leaves', 'left').replace('reaches', 'gets to').replace('passengers are', 'people are').replace('noon', 'midday'),
      'near',
    ],
    ['a short one inside', 'Tell me: what is 6 * 7? Quickly.', 'ngram'],
    ['one of a word, inside', 'Why? Because the sea is blue.', undefined],
    ['one of a word, alone', 'why', 'exact'],
    ['a part of a short one', 'What is 6 * 8?', undefined],
    ['other numbers', TRAIN.replace('214', '215').replace('19', '18'), 'template'],
    ['nothing', '', undefined],
    ['another problem', textOf(madeProblem(3, 4)), undefined],
  ])('%s', (_, text, kind) => expect(kindOf(text)).toBe(kind));

  it('is named with the share that was found', () => {
    expect(index.find(wordsOf(`First: ${TRAIN}`))).toMatchObject({ share: 1, evaluation: { where: 'evaluation:1', text: TRAIN } });
  });

  it('is not found by what the problems of a set have in common', () => {
    const form = 'where m and n are relatively prime positive integers. Find the remainder when m + n is divided by 1000.';
    const few = new EvaluationIndex(
      evaluation(
        ['The area of a circle is m/n', 'A duck swims m/n miles', 'The chance of rain is m/n', 'A sum equals m/n'].map(
          (text) => `${text}, ${form}`,
        ),
      ),
    );
    expect(few.find(wordsOf(`The volume of the cone is m/n, ${form}`))?.kind).not.toBe('ngram');
    expect(few.find(wordsOf(`Solve it. A duck swims m/n miles, ${form} Explain.`))?.kind).toBe('ngram');
  });
});

describe('among many training texts', () => {
  const SETS = 400;
  const problems = Array.from({ length: SETS }, (_, i) => textOf(madeProblem(901, i)));
  const index = new EvaluationIndex(evaluation([...problems, ...Array.from({ length: 100 }, (_, i) => templatedText(901, i))]));
  const kinds = (texts: Iterable<string>): Record<string, number> => {
    const counts: Record<string, number> = {};
    for (const text of texts) {
      const kind = index.find(wordsOf(text))?.kind ?? 'clean';
      counts[kind] = (counts[kind] ?? 0) + 1;
    }
    return counts;
  };
  const removed = ({ exact = 0, ngram = 0, near = 0 }: Record<string, number>): number => exact + ngram + near;

  it('all of 100 planted copies are found: as they are, reformatted, and inside of longer texts', () => {
    const ways: ((text: string, i: number) => string)[] = [
      (text) => text,
      (text) =>
        text
          .toUpperCase()
          .replaceAll(/[.,;:?]/g, ' ')
          .replaceAll('$', ''),
      (text) => `**Question 4.** ${text.replaceAll(' ', '  ').replaceAll(/\$([^$]+)\$/g, '\\($1\\)')}\n`,
      (text, i) => `${textOf(madeProblem(902, i))}\n\n${text}\n\nThen: ${textOf(madeProblem(903, i))}`,
      (text, i) => `Here are 2 tasks for ${i} students. ${text} Show all steps and round to 2 decimals.`,
    ];
    const planted = problems.slice(0, 100).map((text, i) => ways[i % ways.length]!(text, i));
    expect(planted.map((text) => index.find(wordsOf(text))?.evaluation.where)).toEqual(planted.map((_, i) => `evaluation:${i + 1}`));
    expect(removed(kinds(planted))).toBe(100);
  });

  it('of 10,000 clean rows of varied wording at most 1 in 100 is taken for one', () => {
    const found = kinds(Array.from({ length: 10_000 }, (_, i) => textOf(madeProblem(904, i))));
    expect(removed(found)).toBeLessThanOrEqual(100);
    expect((found.template ?? 0) + removed(found)).toBeLessThanOrEqual(200);
  });

  it('of 10,000 rows in the wording of an evaluation problem, with other numbers, none is taken for one, and nearly all are told', () => {
    const found = kinds(Array.from({ length: 10_000 }, (_, i) => templatedText(904, i)));
    expect(removed(found)).toBe(0);
    expect(found.template).toBeGreaterThanOrEqual(9900);
  });
});
