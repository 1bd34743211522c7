import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Problem } from '../domain/problem.js';
import type { Trajectory } from '../domain/trajectory.js';
import { type OpenedRunner, openCodeRunner } from '../sandbox/open.js';
import { UserError } from '../userError.js';
import { openProblemGrader, problemGrader } from './problemGrader.js';

const context = { signal: new AbortController().signal };
const saying = (problem: Omit<Problem, 'question'>, finalText: string): Trajectory => {
  const whole: Problem = { question: 'Q?', ...problem };
  return {
    groupId: 'g',
    trajectoryId: 't',
    problem: whole,
    tokens: [],
    mask: [],
    samplerLogProbs: [],
    turns: [],
    promptLength: 0,
    stopReason: 'final',
    finalText,
  } as unknown as Trajectory;
};

const program = (code: string): string => `Here it is.\n\`\`\`python\n${code}\n\`\`\``;
const doubling = { id: 'code', kind: 'code', tests: JSON.stringify({ inputs: ['2\n', '5\n'], outputs: ['4\n', '10\n'] }) } as const;
const calling = { id: 'call', kind: 'code', tests: { fn_name: 'twice', inputs: [[2], [5]], outputs: [4, 10] } } as const;
const asserting = {
  id: 'assert',
  kind: 'code',
  tests: JSON.stringify({
    entry_point: 'Solution().twice',
    import_prefix: 'import math\n',
    test_code: 'def check(candidate):\n    assert candidate(2) == 4\n    assert candidate(5) == 10\n',
  }),
} as const;
const choice = { id: 'choice', kind: 'choice', answer: 'B', options: ['3 m', '4 m', '5 m'] } as const;

describe('a rollout is graded by the kind of its problem', () => {
  let runner: OpenedRunner;
  beforeAll(async () => {
    runner = await openCodeRunner({ kind: 'auto', workers: 2 });
  });
  afterAll(() => runner.close());

  it.each([
    ['mathematics', { id: 'm', answer: '1/2' }, 'So \\boxed{0.5}', { correct: true, reason: 'match' }],
    ['mathematics, by name', { id: 'm', kind: 'math', answer: '7' }, '\\boxed{8}', { correct: false, reason: 'mismatch' }],
    ['mathematics that needs SymPy', { id: 'm', answer: '\\int_0^1 x^2 dx' }, '\\boxed{\\frac{1}{3}}', { correct: true }],
    ['one of several right answers', { id: 'm', answer: '1', alternatives: ['1', '3'] }, '\\boxed{3}', { correct: true }],
    ['a choice by its letter', choice, '\\boxed{\\text{B}}', { correct: true, extracted: 'B' }],
    ['a choice by its text', choice, '\\boxed{4 m}', { correct: true, extracted: 'B' }],
    ['another choice', choice, '\\boxed{A}', { correct: false, reason: 'mismatch' }],
    ['no answer', choice, 'B', { correct: false, reason: 'noAnswer' }],
    ['a program by input and output', doubling, program('print(2 * int(input()))'), { correct: true, passed: 2 }],
    ['a wrong program', doubling, program('print(4)'), { correct: false, reason: 'wrongOutput' }],
    ['no program', doubling, 'I cannot.', { correct: false, reason: 'noProgram' }],
    ['a function', calling, program('def twice(x):\n    return x + x'), { correct: true, passed: 2 }],
    ['a class, by assertions', asserting, program('class Solution:\n    def twice(self, x):\n        return x * 2'), { correct: true }],
    ['a wrong class', asserting, program('class Solution:\n    def twice(self, x):\n        return 4'), { correct: false }],
  ] as const)('%s', async (_, problem, finalText, expected) => {
    const verdict = await problemGrader({ runner })(saying(problem, finalText), context);
    expect(verdict).toMatchObject({ kind: 'graded', ...expected });
  });

  it('or refused where the problem has nothing to grade by', async () => {
    const grade = (problem: Omit<Problem, 'question'>): unknown => problemGrader({ runner })(saying(problem, program('print(1)')), context);
    await expect(grade({ id: 'a' })).rejects.toThrow(/problem "a" has no answer/);
    await expect(grade({ id: 'b', kind: 'choice', answer: '4 m' })).rejects.toThrow(/names no option/);
    await expect(grade({ id: 'c', kind: 'code' })).rejects.toThrow(/problem "c" is code and has no "tests"/);
    await expect(grade({ id: 'd', kind: 'code', tests: { inputs: [], outputs: [] } })).rejects.toThrow(/problem "d": .*cannot be read/);
    await expect(problemGrader()(saying(doubling, program('print(1)')), context)).rejects.toThrow(UserError);
  });

  it('in a sandbox that is opened for the first program, and closed with the grader', async () => {
    const opened = openProblemGrader();
    try {
      expect(await opened.grader(saying({ id: 'm', answer: '7' }, '\\boxed{7}'), context)).toMatchObject({ correct: true });
      expect(await opened.grader(saying(doubling, program('print(2 * int(input()))')), context)).toMatchObject({ correct: true });
    } finally {
      await opened.close();
    }
    expect(await opened.grader(saying(doubling, program('print(1)')), context)).toMatchObject({ kind: 'infra' });
  });
});
