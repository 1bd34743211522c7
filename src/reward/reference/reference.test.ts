import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openUnsafeRunner } from '../../sandbox/unsafeRunner.js';
import { boxContent, lastBox } from './boxed.js';
import type { ReferenceVerdict } from './codeScore.js';
import { computeScore, ReferenceFailure } from './computeScore.js';
import { strictBoxScore } from './mathScore.js';
import { mathVerifyScore } from './mathVerifyScore.js';
import { answerLineScore, normalizeFinalAnswer } from './normalizeFinalAnswer.js';
import { preparedProgram } from './preparedProgram.js';
import { pythonString, strip, tail } from './pythonText.js';
import { withTurns } from './referenceScore.js';

describe('texts as Python has them', () => {
  it('takes the end by code points', () => {
    expect(tail('a😀bc', 3)).toBe('😀bc');
    expect(tail('a😀', 1)).toBe('😀');
    expect(tail('ab', 5)).toBe('ab');
  });

  it('writes values as str() does', () => {
    expect(pythonString(['a', 1, null, true, "it's", { k: 'v\n' }])).toBe(`['a', 1, None, True, "it's", {'k': 'v\\n'}]`);
    expect(pythonString('plain')).toBe('plain');
  });

  it('strips its own kinds of space', () => {
    expect(strip('\u0085 x\u00a0\x1c')).toBe('x');
    expect(strip('\ufeffx')).toBe('\ufeffx');
  });
});

describe('the released box', () => {
  it('counts escaped braces too, unlike ours', () => {
    expect(boxContent('\\boxed{\\}')).toBe('\\');
    expect(lastBox('\\boxed{\\{}')).toBeUndefined();
  });

  it('is looked for in the last 100 characters, and compared letter by letter', () => {
    const box = '\\boxed{5}';
    expect(strictBoxScore(box + 'x'.repeat(100 - box.length), '5').acc).toBe(true);
    expect(strictBoxScore(box + 'x'.repeat(101 - box.length), '5')).toEqual({ score: -1, acc: false, pred: '' });
    expect(strictBoxScore(box + '😀'.repeat(100 - box.length), '5').acc).toBe(true);
    expect(strictBoxScore('\\boxed{ 5}', '5').acc).toBe(false);
    expect(strictBoxScore(box, 5).acc).toBe(false);
    expect(strictBoxScore('no box', null).acc).toBe(true);
  });
});

describe('the released normal form', () => {
  it.each([
    ['y = 3 = 12 square feet', '12'],
    ['a line\nan answer', 'line\nanswer'],
    ['\\frac12\\sqrt3', '\\frac{1}{2}\\sqrt{3}'],
    ['\\text{7}\n$x$ tail\n$y$', '7\nx\ny'],
    ['1,2,3', '123'],
    ['1,2,x', '1,2,x'],
    ['٣,٤', '٣٤'],
    ['\\boxed{1}+\\boxed{2}', '1}+\\boxed{2'],
  ])('of %j', (text, form) => {
    expect(normalizeFinalAnswer(text)).toBe(form);
  });

  it('reads the last answer line of the last 300 characters', () => {
    expect(answerLineScore(`Answer: 5${'x'.repeat(300)}`, '5').pred).toBe('[INVALID]');
    expect(answerLineScore('ANſWER :\n\n 5 \nmore', '5')).toEqual({ score: 1, acc: true, pred: '5' });
  });
});

describe('the released rule of turns', () => {
  it('pays what is below 0, up to -0.6', () => {
    expect([0, 2, 3, 10, 40].map((turns) => withTurns(-1, turns))).toEqual([-1.1, -1, -0.95, -0.6, -0.6]);
    expect(withTurns(0, 40)).toBe(0);
    expect(withTurns(1, 2)).toBe(1);
  });
});

describe('a plain answer under the grader of code', () => {
  it('is compared by value, and spelled as Math-Verify does', () => {
    expect(mathVerifyScore('\\boxed{0.5}', '\\frac{1}{2}')).toEqual({ score: 1, acc: true, pred: '\\frac{1}{2}' });
    expect(mathVerifyScore('\\boxed{\\dfrac12}', '1')).toEqual({ score: -1, acc: false, pred: '\\frac{1}{2}' });
    expect(mathVerifyScore('\\boxed{10\\text{ cm}}', '10').pred).toBe('10');
    expect(mathVerifyScore('\\boxed{}', '10')).toEqual({ score: -1, acc: false, pred: '' });
  });
});

describe('the released reward as a whole', () => {
  const runner = openUnsafeRunner({ workers: 1 });
  beforeAll(async () => void (await preparedProgram({ source: '' }, runner)), 30_000);
  afterAll(() => runner.close());
  const score = (
    solution: string,
    gold: unknown,
    verdicts: readonly ReferenceVerdict[] = [],
    extraInfo: object | null = { num_turns: 2 },
  ) =>
    computeScore(
      { dataSource: 'My-CODE-set', solution, gold, extraInfo: extraInfo as Record<string, unknown> | null },
      { runner, verdicts: () => verdicts },
    );
  const block = (source: string) => `\`\`\`python\n${source}\n\`\`\``;

  it('grades what stands between the first two </think>', async () => {
    const gold = '{"inputs": ["1"], "outputs": ["1"]}';
    expect((await score(`${block('a')}</think>${block('b')}</think>${block('c')}`, gold, [true])).pred).toBe('b\n');
    expect((await score(`${block('a')}</think>none`, gold, [true])).score).toBe(-1);
  });

  it('makes a function a method, where the tests name it', async () => {
    const gold = JSON.stringify({ fn_name: 'f', inputs: ['1'], outputs: ['1'] });
    expect(await score(block('import os\ndef f(x): return x'), gold, [true])).toEqual({
      score: 1,
      acc: true,
      pred: 'import os\n\nclass Solution:\n\n    def f(self, x):\n        return x',
    });
    expect(await score(block('def g(x): return x'), gold, [true])).toEqual({ score: -1, acc: false, pred: '' });
    expect((await score(block('class Solution:\n  f = 1'), gold, [true])).pred).toBe('class Solution:\n  f = 1\n');
  });

  it('counts -1 as failed, tests without any as nothing, and unreadable tests as nothing', async () => {
    const gold = '{"inputs": ["1", "2"], "outputs": ["1", "2"]}';
    expect(await score(block('x'), gold, [-1, true])).toMatchObject({ score: 0.5, acc: false });
    expect(await score(block('x'), gold, [])).toEqual({ score: -1, acc: false, pred: 'x\n' });
    expect(await score(block('x'), "{'inputs': ['1'], 'outputs': ['1']}", [true])).toMatchObject({ score: 1, acc: true });
    expect(await score(block('x'), "{'inputs': [nope]}", [true])).toEqual({ score: -1, acc: false, pred: 'x\n' });
    expect(await score(block('x'), '{"import_prefix": "", "test_code": "def check(f):", "entry_point": "f"}', [true])).toEqual({
      score: -1,
      acc: false,
      pred: '',
    });
  });

  it('fails where the reference fails', async () => {
    for (const extraInfo of [null, { num_turns: null }, { num_turns: 'two' }, { num_turns: [2] }])
      await expect(score('x', 'y', [], extraInfo)).rejects.toThrow(ReferenceFailure);
    expect((await score('x', 'y', [], { num_turns: ' 1_0 ' })).score).toBe(-0.6);
    expect((await score('x', 'y', [], { num_turns: 4.9 })).score).toBe(-0.9);
  });
});
