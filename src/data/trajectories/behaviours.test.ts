import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bareProgram } from './bareProgram.js';
import { analysesFirst, behavioursOf, checksResult, guardsExecution, recovers } from './behaviours.js';
import { call, trajectoryOf, type Written } from './testRollouts.js';

const PLAN = 'The product of the two numbers is what is asked for, so I multiply 6 by 7.';
const shows = (rule: (trajectory: ReturnType<typeof trajectoryOf>) => boolean, ...turns: Written[]): boolean => rule(trajectoryOf(turns));

describe('analysis before the call', () => {
  it.each([
    ['text of ten words', `${PLAN}\n${call('print(6*7)')}`, true],
    ['thinking', `<think>${PLAN}</think>${call('print(6*7)')}`, true],
    ['an announcement', `Let me calculate this.\n${call('print(6*7)')}`, false],
    ['words behind the call', `${call('print(6*7)')}\n${PLAN}`, false],
  ])('is %s', (_, text, expected) => {
    expect(shows(analysesFirst, [text, '42'], ['So \\boxed{42}.'])).toBe(expected);
  });

  it('is asked of the first call alone, and of a rollout with calls', () => {
    expect(shows(analysesFirst, [call('print(1)'), '1'], [`${PLAN}\n${call('print(6*7)')}`, '42'], ['\\boxed{42}'])).toBe(false);
    expect(shows(analysesFirst, [`${PLAN} \\boxed{42}`])).toBe(false);
  });
});

describe('guarded execution', () => {
  it.each([
    ['assert', 'x = 6*7\nassert x % 6 == 0\nprint(x)', true],
    ['try with except', 'try:\n    print(6*7)\nexcept ValueError:\n    pass', true],
    ['raise', 'if x > 3:\n    raise ValueError(x)', true],
    ['two prints', 'a = 6\nprint(a)\nprint(a * 7)', true],
    ['one print', 'print(6*7)', false],
    ['try without except', 'try: print(1)\nfinally: pass', false],
    ['assert in a comment', '# assert nothing\nprint(6*7)', false],
    ['assert and print in a string', "print('assert print(1)')", false],
    ['names that contain the words', 'pretty.print(1)\nmy_print(2)\nassertion = 3', false],
  ])('%s: %s', (_, code, expected) => {
    expect(shows(guardsExecution, [call(code), '42'], ['\\boxed{42}'])).toBe(expected);
  });

  it('needs that the program ran with success', () => {
    expect(shows(guardsExecution, [call('assert False'), '!AssertionError'], ['\\boxed{42}'])).toBe(false);
    expect(shows(guardsExecution, [call('assert True'), '?no such tool'], ['\\boxed{42}'])).toBe(false);
  });
});

describe('recovery', () => {
  it.each([
    ['an error and another program', [[call('print(6*x)'), '!NameError'], [call('print(6*7)'), '42'], ['\\boxed{42}']], true],
    ['a call that could not be read', [['<tool_call>{"name": </tool_call>', '?not JSON'], [call('print(6*7)'), '42'], ['42']], true],
    ['a refused call', [[call('x', 'calc'), '?no such tool'], [call('print(6*7)'), '42'], ['42']], true],
    ['the same program again', [[call('print(6*7)'), '!timeout'], [call('print(6*7)  # again'), '42'], ['42']], false],
    ['an error that nothing followed', [[call('print(6*x)'), '!NameError'], ['\\boxed{42}']], false],
    ['an error behind a success', [[call('print(6*7)'), '42'], [call('print(x)'), '!NameError'], ['\\boxed{42}']], false],
  ] as [string, Written[], boolean][])('%s: %s', (_, turns, expected) => {
    expect(shows(recovers, ...turns)).toBe(expected);
  });
});

describe('checking', () => {
  const first: Written = [call('print(6*7)'), '42'];
  it.each([
    ['says so after a result', [first, ['Let me verify: 42 / 7 is 6. \\boxed{42}']], true],
    ['doubts', [first, ['Wait, that is too large.'], ['\\boxed{42}']], true],
    ['a comparing program', [first, [call('print(42 // 7 == 6)'), 'True'], ['\\boxed{42}']], true],
    ['a comparing program that fails', [first, [call('assert 42 == 43'), '!AssertionError'], ['\\boxed{42}']], false],
    ['says so before any result', [[`I check this.\n${first[0]}`, '42'], ['\\boxed{42}']], false],
    ['says that it need not', [first, ['There is no need to check. \\boxed{42}']], false],
    ['says that it does without', [first, ['Without verifying: \\boxed{42}']], false],
    ['compares in the first program', [[call('print(6 == 6)'), 'True'], ['\\boxed{42}']], false],
    ['a checkerboard', [first, ['The checkerboard has 42 squares. \\boxed{42}']], false],
  ] as [string, Written[], boolean][])('%s: %s', (_, turns, expected) => {
    expect(shows(checksResult, ...turns)).toBe(expected);
  });
});

it('lists the behaviours of a rollout in their order', () => {
  const turns: Written[] = [
    [`${PLAN}\n${call('print(6*x)')}`, '!NameError'],
    [call('a = 6*7\nassert a > 0\nprint(a)'), '42'],
    ['Double-check: 42 / 6 = 7. \\boxed{42}'],
  ];
  expect(behavioursOf(trajectoryOf(turns))).toEqual(['analysis', 'guarded', 'recovery', 'checking']);
  expect(behavioursOf(trajectoryOf([['\\boxed{42}']]))).toEqual([]);
});

describe('a program without what does not run', () => {
  it.each([
    ["x = 'a # b'  # c", "x = 'a # b'  "],
    ['"""doc\n# no comment\n"""\ny = 1', '"""doc\n# no comment\n"""\ny = 1'],
    ["s = 'it\\'s # in'#out", "s = 'it\\'s # in'"],
    ["open = 'never closed # x\nz = 1 # y", "open = 'never closed # x\nz = 1 "],
    ['C# and F#', 'C# and F#'],
  ])('%j', (code, expected) => {
    expect(bareProgram(code, 'keep')).toBe(expected);
  });

  it('empties strings where asked to, never lengthens, and changes nothing the second time', () => {
    expect(bareProgram("print(\"assert\", '''x\ny''')", 'empty')).toBe('print("", "")');
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'a\'"#\\\n ') }), (code) => {
        expect(bareProgram(code, 'keep').length).toBeLessThanOrEqual(code.length);
        expect(bareProgram(bareProgram(code, 'keep'), 'keep')).toBe(bareProgram(code, 'keep'));
      }),
    );
  });
});
