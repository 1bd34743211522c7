import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { UserError } from '../userError.js';
import { CALC_FAMILIES, type CalcProblem, type CalcSize, calcProblems, calcStream, splitOf } from './calc.js';

const SIZES: readonly CalcSize[] = ['standard', 'small', 'tiny'];

/** Values of programs, as Python sees them, as text; `error` for those that fail. */
function inPython(programs: readonly string[]): string[] {
  const script = `
import json, sys
values = []
for program in json.load(sys.stdin):
    *setup, expression = program.split('\\n')
    scope = {}
    try:
        exec('\\n'.join(setup), scope)
        values.append(str(int(eval(expression, scope))))
    except Exception as error:
        values.append('error')
print(json.dumps(values))`;
  const out = execFileSync('python3', ['-c', script], { input: JSON.stringify(programs), encoding: 'utf8', maxBuffer: 1 << 26 });
  return JSON.parse(out) as string[];
}

const take = (count: number, size: CalcSize, seed: number): CalcProblem[] => calcProblems({ size, split: 'train', seed, count });

describe('calc problems', () => {
  it.each(SIZES)('of size %s have the answers that Python gives for each of their programs', (size) => {
    const problems = take(14 * 25, size, 11);
    expect(new Set(problems.map((problem) => problem.tags.family)).size).toBe(CALC_FAMILIES.length);
    const asked = problems.flatMap((problem) => problem.programs.map((program) => ({ problem, program })));
    const values = inPython(asked.map(({ program }) => program));
    for (const [i, { problem, program }] of asked.entries()) {
      expect({ question: problem.question, program, value: values[i] }).toEqual({
        question: problem.question,
        program,
        value: problem.answer,
      });
    }
  });

  it.each(SIZES)('of size %s have wrong programs that are wrong nearly always', (size) => {
    const problems = take(14 * 15, size, 12);
    const asked = problems.flatMap((problem) => problem.wrongPrograms.map((program) => ({ problem, program })));
    const values = inPython(asked.map(({ program }) => program));
    const right = asked.filter(({ problem }, i) => values[i] === problem.answer).length;
    expect(right / asked.length).toBeLessThan(0.05);
  });

  it.each(SIZES)('of size %s have solutions in which every calculation is true and the last number is the answer', (size) => {
    const problems = take(14 * 40, size, 21);
    const stated = problems.flatMap((problem) => {
      expect(problem.solution.match(/-?\d+/g)!.at(-1)).toBe(problem.answer);
      return [...problem.solution.matchAll(/((?:\d|mod|[-+*/^()! ])*\d[\d)!]*) = (-?\d+)/g)].map(([text, left, right]) => ({
        text,
        // Fractions in place of floats, and what is no whole number fails.
        program: `import math\nfrom fractions import Fraction\n(lambda v: v if v == int(v) else None)(${left!
          .trim()
          .replace(/(\d+)!/g, 'math.factorial($1)')
          .replaceAll('^', '**')
          .replaceAll('mod', '%')
          .replace(/ \/ (\d+)$/, ' * Fraction(1, $1)')})`,
        right,
        family: problem.tags.family,
      }));
    });
    expect(new Set(stated.map(({ family }) => family)).size).toBe(CALC_FAMILIES.length);
    expect(stated.length).toBeGreaterThan(problems.length);
    const values = inPython(stated.map(({ program }) => program));
    expect(stated.filter(({ right }, i) => values[i] !== right)).toEqual([]);
  });

  it('name their numbers in the question', () => {
    for (const problem of take(280, 'standard', 13)) {
      const inQuestion = new Set(problem.question.match(/\d+/g));
      const inId = problem.id.slice(problem.id.indexOf(':')).match(/\d+/g)!;
      const missing = inId.filter((number) => !inQuestion.has(number) && problem.tags.family !== 'sumsq');
      expect(missing).toEqual([]);
    }
  });

  it.each(SIZES)('of size %s share none between training and evaluation, whatever the seeds', (size) => {
    const train = new Set([1, 2, 3].flatMap((seed) => calcProblems({ size, split: 'train', seed, count: 600 })).map(({ id }) => id));
    const evaluation = [1, 7].flatMap((seed) => calcProblems({ size, split: 'evaluation', seed, count: 512 }));
    expect(evaluation.filter(({ id }) => train.has(id))).toEqual([]);
    expect(evaluation.every(({ id }) => splitOf(id) === 'evaluation')).toBe(true);
  });

  it('are the same whatever the order of the numbers and the wording, and then have one id', () => {
    const byId = new Map<string, Set<string>>();
    const stream = calcStream({ size: 'standard', split: 'train', seed: 4, levels: [2] });
    for (let i = 0; i < 20_000; i++) {
      const { id, answer } = stream.next().value;
      byId.set(id, (byId.get(id) ?? new Set()).add(answer));
    }
    expect([...byId.values()].every((answers) => answers.size === 1)).toBe(true);
    expect(byId.size).toBeLessThan(20_000);
  });

  it('have no duplicates, none of the excluded ones, and repeat with the seed', () => {
    const first = take(700, 'small', 5);
    expect(new Set(first.map(({ id }) => id)).size).toBe(700);
    expect(take(700, 'small', 5)).toEqual(first);
    const others = calcProblems({ size: 'small', split: 'train', seed: 5, count: 700, exclude: first.map(({ id }) => id) });
    const known = new Set(first.map(({ id }) => id));
    expect(others.filter(({ id }) => known.has(id))).toEqual([]);
    expect(take(10, 'small', 6)).not.toEqual(first.slice(0, 10));
  });

  it('keep to the levels asked for, families in equal parts', () => {
    const problems = calcProblems({ size: 'standard', split: 'train', seed: 1, count: 400, levels: [2] });
    const counts = new Map<string, number>();
    for (const { tags } of problems) {
      expect(tags.level).toBe(2);
      counts.set(tags.family, (counts.get(tags.family) ?? 0) + 1);
    }
    expect([...counts.values()]).toEqual([100, 100, 100, 100]);
  });

  it('are refused in sets that are too large, and are many enough for the largest', () => {
    const ask = (count: number) => calcProblems({ size: 'small', split: 'evaluation', seed: 1, count, levels: [3] });
    expect(() => ask(100_001)).toThrow(UserError);
    expect(new Set(ask(4000).map(({ id }) => id)).size).toBe(4000);
    const askTiny = (count: number) => calcProblems({ size: 'tiny', split: 'evaluation', seed: 1, count, levels: [1] });
    expect(() => askTiny(601)).toThrow(UserError);
    expect(new Set(askTiny(600).map(({ id }) => id)).size).toBe(600);
  });

  it('stream from any position as if those before had been drawn', () => {
    const options = { size: 'small', split: 'train', seed: 9 } as const;
    const whole = calcStream(options);
    const drawn = Array.from({ length: 60 }, () => whole.next().value);
    const later = calcStream({ ...options, start: 37 });
    expect(Array.from({ length: 23 }, () => later.next().value)).toEqual(drawn.slice(37));
    expect(new Set(drawn.slice(0, 14).map(({ tags }) => tags.family)).size).toBe(14);
  });
});
