import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { calcProblems } from '../problems/calc.js';
import { Random } from '../random.js';
import type { CodeRunner } from '../sandbox/codeRunner.js';
import { openCodeRunner } from '../sandbox/open.js';
import { replyTo, runPrograms } from './replies.js';
import { planTrace } from './trace.js';

describe('replies to planned traces', () => {
  let runner: CodeRunner;
  beforeAll(async () => {
    runner = await openCodeRunner({ kind: 'auto', workers: 2, outputBytes: 2 ** 24 });
  });
  afterAll(() => runner.close());

  it('are, run in bulk, what each program gives on its own', async () => {
    const problems = calcProblems({ size: 'small', split: 'train', seed: 4, count: 28 });
    const codes = [
      ...problems.flatMap(({ programs, wrongPrograms }) => [programs[0]!, `print(${programs[0]!.split('\n').at(-1)}`, wrongPrograms[0]!]),
      'x = 5',
      'print(1)\n1/0',
      'def f():\n    return [g()]\ndef g():\n    raise ValueError("no")\nf()',
      'import math\nmath.gcd(4, 6)\nNone',
      '  print(1)',
      "print('a\\n\\nb ')\n'text'",
      'x = (1 for i in range(3))\nlist(x)\nx.y',
    ];
    const bulk = await runPrograms(codes, runner);
    for (const code of codes) {
      const alone = await runner.run({ code, timeoutSeconds: 30, memoryMb: 512, echoLast: true });
      if (alone.kind === 'infra') throw new Error(alone.error);
      expect({ code, ...bulk.get(code) }).toMatchObject({ code, stdout: alone.stdout, stderr: alone.stderr, exitCode: alone.exitCode });
    }
  });

  it('are what the agent loop says', async () => {
    const problems = calcProblems({ size: 'small', split: 'train', seed: 5, count: 400 });
    const plans = problems.map((problem, i) => planTrace(problem, new Random(i)));
    const replies = await replyTo(plans, runner);
    const firstOf = (kind: string): string[] => plans.flatMap((plan, i) => (plan.kind === kind ? [replies[i]![0]!] : []));
    for (const [i, plan] of plans.entries()) {
      expect(replies[i]).toHaveLength(plan.calls.length);
      if (plan.kind === 'right' || plan.kind === 'ignored') expect(replies[i]).toEqual([plan.problem.answer]);
    }
    expect(new Set(firstOf('forgotten'))).toEqual(new Set(['(no output)']));
    expect(firstOf('error').every((text) => text.endsWith("SyntaxError: '(' was never closed"))).toBe(true);
    expect(new Set(firstOf('broken').map((text) => text.slice(0, 24)))).toEqual(
      new Set(['Error: the call could no', 'Error: there is no tool ']),
    );
  });

  it('are never invented: a failing sandbox ends the making', async () => {
    const broken: CodeRunner = { name: 'broken', run: async () => ({ kind: 'infra', error: 'no worker' }), close: async () => {} };
    await expect(runPrograms(['1+1'], broken)).rejects.toThrow(/no worker/);
  });
});
