import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseTurn } from '../chat/parseTurn.js';
import { Tokenizer } from '../chat/tokenizer.js';
import { type CalcProblem, calcProblems } from '../problems/calc.js';
import { Random } from '../random.js';
import { packageRoot } from '../setup/paths.js';
import { planThinkingTrace, stepsOf } from './thinkingTrace.js';
import { finishTrace } from './trace.js';

const problems = calcProblems({ size: 'tiny', split: 'train', seed: 2, count: 600, levels: [1, 2] });
const ofLevel = (level: number): CalcProblem[] => problems.filter(({ tags }) => tags.level === level);

/** Value of a step's left side: from the left, products and quotients before sums and differences. */
function leftValue(expression: string): number {
  let sum = 0;
  for (const [, sign, term] of expression.matchAll(/([+-]?)(\d+(?:[*/]\d+)*)/g)) {
    let value = 1;
    for (const [, operation, number] of term!.matchAll(/([*/]?)(\d+)/g))
      value = operation === '/' ? value / Number(number) : value * Number(number);
    sum += sign === '-' ? -value : value;
  }
  return sum;
}

describe('the steps of a thought', () => {
  it('are true, every one of them', () => {
    for (const problem of problems) {
      for (const step of stepsOf(problem)) {
        const [left, right] = step.split('=');
        if (right !== undefined) expect({ step, value: leftValue(left!) }).toEqual({ step, value: Number(right) });
      }
    }
  });

  it('end with the answer', () => {
    for (const problem of problems) {
      if (problem.tags.family === 'gcd') continue; // the divisor with which nothing is left
      expect(stepsOf(problem).at(-1)!.split('=').at(-1)).toBe(problem.answer);
    }
  });

  it('go digit by digit in level 1: no calculation has a factor above 9 or a sum above 99', () => {
    for (const problem of ofLevel(1)) {
      for (const step of stepsOf(problem)) {
        if (step.includes('=')) expect(Math.max(...step.match(/\d+/g)!.map(Number))).toBeLessThan(100);
      }
    }
  });

  it('state the value of each sum, difference and product of level 1', () => {
    const problem = problems.find(({ programs }) => /^\d+\*\d\+\d+$/.test(programs[0]!))!;
    const [a, b, c] = problem.programs[0]!.split(/[*+]/).map(Number) as [number, number, number];
    const steps = stepsOf(problem);
    expect(steps).toContain(`${a}*${b}`);
    expect(steps).toContain(String(a * b));
    expect(steps).toContain(`${a * b}+${c}`);
  });

  it('are whole calculations in level 2', () => {
    const problem = problems.find(({ tags }) => tags.family === 'remainder')!;
    const [a, b] = problem.programs[0]!.split('%').map(Number) as [number, number];
    const times = Math.floor(a / b);
    expect(stepsOf(problem)).toEqual([`${times}*${b}=${times * b}`, `${a}-${times * b}=${a % b}`]);
  });
});

describe('planned conversations', () => {
  const plans = problems.map((problem, i) => planThinkingTrace(problem, new Random(i)));
  const thinking = plans.filter(({ calls }) => calls.length === 0);

  it('mostly think and answer rightly; the others call at once', () => {
    expect(thinking.length / plans.length).toBeGreaterThan(0.6);
    expect(plans.length - thinking.length).toBeGreaterThan(plans.length / 20);
    for (const plan of thinking) {
      const [turn] = finishTrace(plan, []).turns;
      const segments = parseTurn(turn!.text);
      expect(segments.map(({ kind }) => kind)).toEqual(['thinking', 'text']);
      expect(segments[1]).toMatchObject({ text: `\\boxed{${plan.problem.answer}}` });
    }
    for (const { calls } of plans) if (calls.length > 0) expect(calls[0]!.before).not.toContain('<think>');
  });

  it('take few tokens of the vocabulary of nano', async () => {
    const tokenizer = await Tokenizer.load(join(packageRoot(), 'models', 'nano'));
    for (const plan of thinking) expect(tokenizer.encode(finishTrace(plan, []).turns[0]!.text).length).toBeLessThan(150);
  });
});
