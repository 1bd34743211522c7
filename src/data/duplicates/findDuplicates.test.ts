import { describe, expect, it } from 'vitest';
import { madePairs } from '../../bench/madePairs.js';
import { findDuplicates } from './findDuplicates.js';
import { fingerprint, sameProblem } from './sameProblem.js';
import { wordsOf } from './words.js';

const compare = (one: string, two: string) => sameProblem(fingerprint(wordsOf(one)), fingerprint(wordsOf(two)));

describe('whether two texts are one problem', () => {
  const SHEEP =
    'A farmer has 312 sheep on a hill. On Monday he sells 45 of them at the market, and each costs 80 dollars. How many sheep are left?';

  it.each([
    ['other punctuation and case', SHEEP.toUpperCase().replaceAll('.', ' ;'), 'exact'],
    ['numbers in words', SHEEP.replace('45', 'forty 45').replace('forty ', ''), 'exact'],
    ['another name for the person', SHEEP.replace('A farmer', 'The shepherd'), 'near'],
    [
      'another order',
      'How many sheep are left? A farmer has 312 sheep on a hill. On Monday he sells 45 of them at the market, and each costs 80 dollars.',
      'near',
    ],
    ['an introduction', `Please solve this: ${SHEEP}`, 'near'],
  ])('%s: yes', (_, other, same) => expect(compare(SHEEP, other).same).toBe(same));

  it.each([
    ['one number is another', SHEEP.replace('45', '46'), 'numbers'],
    ['a decimal point', SHEEP.replace('80', '8.0'), 'numbers'],
    ['a number more', SHEEP.replace('sheep on', 'sheep and 2 dogs on'), 'numbers'],
    ['two numbers changed places', SHEEP.replace('312', '45').replace('sells 45', 'sells 312'), 'numbers exchanged'],
    ['the opposite is asked', SHEEP.replace('left?', 'left at least?'), undefined],
    [
      'other words',
      'In 45 boats sit 312 sailors of 80 towns; find out whether any captain knows a song that nobody else on board can sing.',
      'words',
    ],
  ])('%s: no', (_, other, reason) => {
    const { same, reason: found } = compare(SHEEP, other);
    if (reason === undefined) expect(same).toBe('near');
    else expect([same, found]).toEqual([false, reason]);
  });

  it('a sign or a word that turns it round makes it another', () => {
    const formula = 'Let x be a real number with 3x + 5 = 17 and let y be the double of it. Find the largest value of y.';
    expect(compare(formula, formula.replace('+', '-'))).toMatchObject({ same: false, reason: 'signs' });
    expect(compare(formula, formula.replace('largest', 'smallest'))).toMatchObject({ same: false, reason: 'opposite' });
    expect(compare(formula, formula.replace('largest', 'greatest')).same).toBe('near');
  });

  it('numbers in a row are told apart by their order', () => {
    const list = 'Sort these numbers from the list and print their median: 8 38 81 13 73.';
    expect(compare(list, list.replace('8 38', '38 8'))).toMatchObject({ same: false, reason: 'numbers exchanged' });
  });
});

describe('duplicates in a list', () => {
  it('keep the first, name both, and do not depend on anything but the list', () => {
    const texts = [
      'What is 6 * 7 for the captain of the ship?',
      'A duck walks 5 miles.',
      'what is 6*7 for the captain of the ship',
      'A duck walks 6 miles.',
      'WHAT IS 6 × 7 for the captain of the ship!',
    ];
    const found = findDuplicates(texts);
    expect(found.pairs.map(({ kept, removed, same }) => [kept, removed, same])).toEqual([
      [0, 2, 'exact'],
      [0, 4, 'exact'],
    ]);
    expect(findDuplicates(texts)).toEqual(found);
    expect(findDuplicates([])).toMatchObject({ pairs: [], exact: 0, near: 0 });
  });

  it('a copy of a copy is held against what was kept', () => {
    const base =
      'A gardener plants 40 tulips and 25 roses in the park near the old bridge. How many flowers does the gardener plant in all?';
    const texts = [
      base,
      ...['near the new bridge', 'close to the old bridge', 'beside the old bridge', 'near an old bridge'].map((place) =>
        base.replace('near the old bridge', place),
      ),
    ];
    expect(findDuplicates(texts).pairs.map(({ kept }) => kept)).toEqual([0, 0, 0, 0]);
  });

  it('instructions around every question do not make the questions alike', () => {
    const around = (question: string): string =>
      `Solve the following math problem step by step. Use the tool where it helps you to calculate. ${question} Remember to put the final answer on its own line, after the word answer, and to check it.`;
    const questions = [
      'Is the moon a cheese or rather a stone for every painter?',
      'Why do whales sing under the northern ice in spring?',
      'Which of the green kites flies without any wind at all?',
    ];
    const many = Array.from({ length: 60 }, (_, i) =>
      around(
        `${questions[i % 3]} ${String.fromCharCode(97 + (i % 26)).repeat(3 + (i % 5))} ${i < 3 ? '' : `tower${i} meadow${i * 7} river${i * 3} lantern${i} cellar${i}`}`,
      ),
    );
    const { pairs } = findDuplicates(many);
    expect(pairs.filter(({ kept, removed }) => kept % 3 !== removed % 3)).toEqual([]);
  });

  it('finds at least 95 of 100 edited and reordered copies, and is right about at least 95 of 100 that it finds', () => {
    const made = madePairs(20261130, 2000);
    const { pairs } = findDuplicates(made.flatMap(({ first, second }) => [first, second]));
    const within = pairs.filter(({ kept, removed }) => kept >> 1 === removed >> 1);
    const right = within.filter(({ kept }) => made[kept >> 1]!.same).length;
    const positives = made.filter(({ same }) => same).length;
    expect(positives).toBe(1000);
    expect(right / positives).toBeGreaterThanOrEqual(0.95);
    // A finding across two pairs counts as wrong.
    expect(right / pairs.length).toBeGreaterThanOrEqual(0.95);
    const numbers = made.map(({ how }, index) => ({ how, index })).filter(({ how }) => ['number', 'numbers'].includes(how));
    expect(numbers.length).toBeGreaterThan(400);
    const found = new Set(within.map(({ kept }) => kept >> 1));
    expect(numbers.filter(({ index }) => found.has(index))).toEqual([]);
  });

  it('exact alone, where that is asked for', () => {
    const texts = [
      'A baker sells 12 loaves in the old town today.',
      'The baker sells 12 loaves in the old town today.',
      'A baker sells 12 loaves in the old town today',
    ];
    expect(findDuplicates(texts, { exactOnly: true }).pairs.map(({ removed }) => removed)).toEqual([2]);
    expect(findDuplicates(texts).pairs.map(({ removed }) => removed)).toEqual([1, 2]);
  });
});
