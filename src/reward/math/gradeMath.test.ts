import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CodeRequest, CodeResult, CodeRunner } from '../../sandbox/codeRunner.js';
import { openCodeRunner } from '../../sandbox/open.js';
import { hasBubblewrap } from '../../sandbox/testSupport.js';
import { UserError } from '../../userError.js';
import { compareAnswers } from './gradeAnswer.js';
import { gradeMath } from './gradeMath.js';

/** An answer that only a second opinion can settle. */
const INTEGRAL = '\\int_0^1 x^2 dx';

function scripted(result: Partial<Extract<CodeResult, { kind: 'ran' }>> | { readonly kind: 'infra'; readonly error: string }) {
  const requests: CodeRequest[] = [];
  const runner: CodeRunner = {
    name: 'scripted',
    run: async (request) => {
      requests.push(request);
      return 'error' in result
        ? result
        : { kind: 'ran', ending: 'finished', exitCode: 0, stdout: '', stderr: '', seconds: 0, queuedSeconds: 0, ...result };
    },
    close: async () => {},
  };
  return { runner, requests };
}

describe('gradeMath', () => {
  it('asks no one where the exact comparison decides, or where one side is text', async () => {
    const { runner, requests } = scripted({ stdout: 'toolwise: equal\n' });
    expect(await gradeMath('0.5', '1/2', { runner })).toMatchObject({ correct: true });
    expect(await gradeMath('0.6', '1/2', { runner })).toMatchObject({ correct: false });
    expect(await gradeMath('print("toolwise: equal")', '1/2', { runner })).toMatchObject({ correct: false });
    expect(await gradeMath(undefined, '1/2', { runner })).toMatchObject({ reason: 'noAnswer' });
    expect(requests).toEqual([]);
  });

  it('asks about what both sides say, and sends none of their text', async () => {
    expect(compareAnswers(INTEGRAL, '1/3').kind).toBe('undecided');
    const { runner, requests } = scripted({ stdout: 'toolwise: equal\n' });
    expect(await gradeMath('\\int_0^1 \\vec{exec}_{hello} dt', '1/3', { runner })).toMatchObject({ kind: 'graded', correct: true });
    expect(requests).toHaveLength(1);
    expect(requests[0]!.code).not.toMatch(/exec|hello/);
  });

  it.each([
    ['an equation', `y - ${INTEGRAL} = 0`, 'y = 1/3'],
    ['an equation with a factor', `3x^2 ${INTEGRAL} + y^2 = 4`, '2x^2 + 2y^2 = 8'],
    ['a list', `2, ${INTEGRAL}`, '\\frac{1}{3}, 2'],
    ['a set', `\\{2, ${INTEGRAL}\\}`, '\\{\\frac{1}{3}, 2\\}'],
    ['a union', `(0, ${INTEGRAL}) \\cup (1, 2)`, '(0, 1/3) \\cup (1, 2)'],
    ['a matrix', `\\begin{pmatrix} ${INTEGRAL} & 2 \\end{pmatrix}`, '\\begin{pmatrix} 1/3 & 2 \\end{pmatrix}'],
  ])('asks once about %s that is open in one place', async (_, answer, gold) => {
    const { runner, requests } = scripted({ stdout: 'toolwise: equal\n' });
    expect(await gradeMath(answer, gold, { runner })).toMatchObject({ correct: true });
    expect(requests).toHaveLength(1);
    expect(await gradeMath(answer, gold, { runner: scripted({ stdout: 'toolwise: different\n' }).runner })).toMatchObject({
      correct: false,
    });
  });

  it('does not ask where another part differs anyway, or about more than a few elements', async () => {
    const { runner, requests } = scripted({ stdout: 'toolwise: equal\n' });
    const many = Array.from({ length: 9 }, (_, i) => `\\int_0^1 x^${i} y dx`).join(', ');
    const others = Array.from({ length: 9 }, (_, i) => `\\int_0^1 z^${i} t dz`).join(', ');
    for (const [answer, gold] of [
      [`3, ${INTEGRAL}`, '1/3, 2'],
      [`(3, ${INTEGRAL})`, '(2, 1/3)'],
      [`\\{3, ${INTEGRAL}\\}`, '\\{1/3, 2\\}'],
      [many, others],
    ] as const) {
      expect(await gradeMath(answer, gold, { runner })).toMatchObject({ kind: 'graded', correct: false });
    }
    expect(requests).toEqual([]);
  });

  it.each([
    ['a time-out', { ending: 'timeout', stdout: 'toolwise: started\n' }],
    ['the end of its time on the processor', { exitCode: 128 + 27, stdout: 'toolwise: started\n' }],
    ['too much memory', { ending: 'memoryLimit', stdout: '' }],
    ['a crash', { exitCode: 1, stdout: 'toolwise: equal' }],
    ['"different"', { stdout: 'toolwise: different' }],
    ['silence', {}],
  ] as const)('takes %s for not equal', async (_, result) => {
    expect(await gradeMath(INTEGRAL, '1/3', { runner: scripted(result).runner })).toMatchObject({ kind: 'graded', correct: false });
  });

  it('passes on what the sandbox failed to do', async () => {
    const down = { kind: 'infra', error: 'no namespaces' } as const;
    expect(await gradeMath(INTEGRAL, '1/3', { runner: scripted(down).runner })).toEqual(down);
    const bare = scripted({ stdout: 'toolwise: no sympy\n' });
    expect(await gradeMath(INTEGRAL, '1/3', { runner: bare.runner })).toMatchObject({
      kind: 'infra',
      error: expect.stringContaining('sympy'),
    });
    const busy = scripted({ ending: 'timeout', stdout: '' });
    expect(await gradeMath(INTEGRAL, '1/3', { runner: busy.runner })).toMatchObject({
      kind: 'infra',
      error: expect.stringContaining('start'),
    });
  });

  it('refuses a right answer that cannot be used, by name', async () => {
    await expect(gradeMath('5', '\\frac{1}{', {})).rejects.toThrow(UserError);
    await expect(gradeMath('5', '\\frac{1}{', {})).rejects.toThrow(/frac.*braces do not balance/);
  });
});

describe.skipIf(!hasBubblewrap)('gradeMath with SymPy in the sandbox', () => {
  let runner: CodeRunner;
  beforeAll(async () => {
    runner = await openCodeRunner({ kind: 'auto', workers: 1 });
  });
  afterAll(() => runner.close());

  it.each([
    [INTEGRAL, '\\frac{1}{3}', true],
    [INTEGRAL, '\\frac{1}{4}', false],
    ['\\int_0^{\\pi} \\sin t dt', '2', true],
    ['(\\int_0^1 x dx, 2)', '(0.5, 2)', true],
    ['9^{9^{9}}', '3^{774840977}', false],
    [`2, ${INTEGRAL}`, '\\frac{1}{3}, 2', true],
    [`2, ${INTEGRAL}`, '\\frac{1}{4}, 2', false],
    ['\\int_0^1 t dt, \\int_0^1 t^2 dt', '\\frac{1}{3}, \\frac{1}{2}', true],
    ['\\int_0^1 t dt, \\int_0^1 t dt', '\\frac{1}{3}, \\frac{1}{2}', false],
    ['\\{\\int_0^1 t dt, \\frac12\\}', '\\{\\frac12\\}', true],
    [`3x^2 ${INTEGRAL} + y^2 = 4`, '2x^2 + 2y^2 = 8', true],
    [`3x^2 ${INTEGRAL} + y^2 = 4`, '2x^2 + 2y^2 = 9', false],
    [`x^2 ${INTEGRAL} + y^2 > 4`, '-x^2 - 3y^2 > -12', false],
    [`x^2 ${INTEGRAL} + y^2 < 4`, '-x^2 - 3y^2 > -12', true],
    [`(0, ${INTEGRAL}) \\cup (1, 2)`, '(0, 1/3) \\cup (1, 2)', true],
    ['\\int_0^1 \\frac{x^{97} \\sin^{31} x}{1+x^{89}\\cos^{17} x} dx', '1', false],
  ])('%s against %s: %s', { timeout: 60_000 }, async (answer, gold, correct) => {
    expect(await gradeMath(answer, gold, { runner, timeoutSeconds: 3 })).toMatchObject({ kind: 'graded', correct });
  });
});
