import { describe, expect, it } from 'vitest';
import { parseTurn } from '../chat/parseTurn.js';
import { calcProblems } from '../problems/calc.js';
import { Random } from '../random.js';
import { finishTrace, planTrace, sharesFor, TRACE_MIXES, type TraceKind, type TracePlan, turnText } from './trace.js';

const problems = calcProblems({ size: 'small', split: 'train', seed: 1, count: 3000 });
const plans = problems.map((problem, i) => planTrace(problem, new Random(i)));
const ofKind = (kind: TraceKind): TracePlan[] => plans.filter((plan) => plan.kind === kind);
const parsed = (plan: TracePlan, i = 0) => parseTurn(turnText(plan.calls[i]!)).find((segment) => segment.kind !== 'text');

describe('planned traces', () => {
  it('mix the kinds as they should', () => {
    for (const [kind, share] of Object.entries(TRACE_MIXES.easy.shares)) {
      expect(Math.abs((100 * ofKind(kind as TraceKind).length) / plans.length - share)).toBeLessThan(3);
    }
    expect(Object.values(TRACE_MIXES.easy.shares).reduce((sum, share) => sum + share, 0)).toBe(100);
  });

  it('of the hard mix are mostly wrong, always by the same mistake, and right by family', () => {
    const { hard } = TRACE_MIXES;
    const families = [...new Set(problems.map(({ tags }) => tags.family))];
    for (const family of families) {
      const shares = Object.values(sharesFor(hard, family));
      expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(100);
      expect(Math.min(...shares)).toBeGreaterThanOrEqual(0);
    }
    expect(new Set(families.map((family) => sharesFor(hard, family).right.toFixed(1))).size).toBeGreaterThan(2);
    for (const [i, problem] of problems.entries()) {
      const plan = planTrace(problem, new Random(i), hard);
      if (plan.kind !== 'wrong') continue;
      const text = turnText(plan.calls[0]!);
      expect(text).toContain(JSON.stringify(problem.wrongPrograms[0]!.split('\n').at(-1)).slice(1, -1));
    }
  });

  it('call the code interpreter with a right program, or a wrong one, as their kind says', () => {
    for (const kind of ['right', 'ignored', 'forgotten', 'error'] as const) {
      for (const plan of ofKind(kind)) {
        const call = parsed(plan);
        expect(call).toMatchObject({ kind: 'call', name: 'code_interpreter', repairs: [] });
        const text = turnText(plan.calls[0]!);
        expect(plan.problem.programs.some((program) => text.includes(JSON.stringify(program.split('\n').at(-1)).slice(1, -1)))).toBe(true);
      }
    }
    for (const plan of ofKind('wrong')) {
      const text = turnText(plan.calls[0]!);
      expect(plan.problem.wrongPrograms.some((program) => text.includes(program.split('\n').at(-1)!))).toBe(true);
    }
  });

  it('break calls so that the loop cannot read or cannot run them', () => {
    const kinds = new Set<string>();
    for (const plan of ofKind('broken')) {
      const call = parsed(plan);
      if (call?.kind === 'call') expect(call.name).toBe('python');
      else expect(call?.kind).toBe('malformedCall');
      kinds.add(call?.kind === 'malformedCall' ? call.problem : 'unknown tool');
    }
    expect(kinds).toEqual(new Set(['unknown tool', 'The tool call is not valid JSON.', 'The tool call has no "arguments" object.']));
  });

  it('guess without a call, rightly in about half of the cases', () => {
    const guesses = ofKind('guess');
    expect(guesses.every((plan) => plan.calls.length === 0)).toBe(true);
    const right = guesses.filter((plan) => plan.answer.kind === 'own' && plan.answer.text === plan.problem.answer).length;
    expect(right / guesses.length).toBeGreaterThan(0.4);
    expect(right / guesses.length).toBeLessThan(0.6);
  });
});

describe('finished traces', () => {
  it('answer with the last reply where it is a number', () => {
    const plan = ofKind('right')[0]!;
    expect(finishTrace(plan, ['123']).turns.at(-1)!.text).toBe(`${plan.answerBefore}\\boxed{123}`);
    expect(finishTrace(plan, ['-0.5']).turns.at(-1)!.text).toContain('\\boxed{-0.5}');
  });

  it('answer with some number where the last reply is none', () => {
    const plan = ofKind('right')[0]!;
    expect(finishTrace(plan, ['(no output)']).turns.at(-1)!.text).toMatch(/\\boxed\{\d{2,4}\}$/);
  });

  it('ignore the reply where their kind says so', () => {
    for (const plan of ofKind('ignored')) {
      const trace = finishTrace(plan, [plan.problem.answer]);
      expect(trace.turns[0]!.reply).toBe(plan.problem.answer);
      expect(plan.answer.kind === 'own' && trace.turns[1]!.text.endsWith(`\\boxed{${plan.answer.text}}`)).toBe(true);
    }
  });
});
