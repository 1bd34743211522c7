import { afterAll, describe, expect, it } from 'vitest';
import type { Problem } from '../domain/problem.js';
import type { Trajectory } from '../domain/trajectory.js';
import { problemGrader } from '../reward/problemGrader.js';
import { UserError } from '../userError.js';
import { openReferenceGrader } from './referenceGrader.js';

const context = { signal: new AbortController().signal };
const saying = (problem: Omit<Problem, 'question' | 'id'>, finalText: string): Trajectory =>
  ({ trajectoryId: 't', problem: { id: 'p', question: 'Q?', ...problem }, finalText, turns: [] }) as unknown as Trajectory;

describe('training rollouts graded as released', () => {
  const { grader, close } = openReferenceGrader({ sandbox: 'auto' });
  afterAll(close);
  const ours = problemGrader();

  it('are right only where the box holds the right answer letter by letter', async () => {
    const said = saying({ answer: '1,240' }, 'So it is \\boxed{1240}.');
    expect(await ours(said, context)).toMatchObject({ correct: true, score: 1 });
    expect(await grader(said, context)).toMatchObject({ correct: false, score: 0, reason: 'mismatch', extracted: '1240' });
    expect(await grader(saying({ answer: '1240' }, '\\boxed{1240}'), context)).toMatchObject({ correct: true, score: 1, reason: 'match' });
    expect(await grader(saying({ answer: '1240' }, '1240'), context)).toMatchObject({ correct: false, score: 0, reason: 'noAnswer' });
  });

  it('are right in choices by the bare letter only', async () => {
    const choice = { kind: 'choice', answer: 'B', options: ['3 m', '4 m'] } as const;
    const said = saying(choice, '\\boxed{\\text{B}}');
    expect(await ours(said, context)).toMatchObject({ correct: true });
    expect(await grader(said, context)).toMatchObject({ correct: false });
    expect(await grader(saying(choice, '\\boxed{B}'), context)).toMatchObject({ correct: true });
  });

  it('run programs by its rules, with scores from 0 to 1', { timeout: 60_000 }, async () => {
    const doubling = { kind: 'code', tests: JSON.stringify({ inputs: ['2\n', '5\n'], outputs: ['4\n', '10\n'] }) } as const;
    const program = (code: string): Trajectory => saying(doubling, `\`\`\`python\n${code}\n\`\`\``);
    expect(await grader(program('print(2 * int(input()))'), context)).toMatchObject({ correct: true, score: 1 });
    expect(await grader(program('print(4)'), context)).toMatchObject({ correct: false, score: 0.5 });
    expect(await grader(saying(doubling, 'I cannot.'), context)).toMatchObject({ correct: false, score: 0, reason: 'noProgram' });
  });

  it('need something to compare with', async () => {
    await expect(async () => grader(saying({}, '\\boxed{1}'), context)).rejects.toThrow(UserError);
    await expect(async () => grader(saying({ kind: 'code', tests: { cases: [] } }, 'x'), context)).rejects.toThrow('knows no tests');
  });
});
