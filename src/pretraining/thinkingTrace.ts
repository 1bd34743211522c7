/**
 * Conversations that think before they answer, most of them without a call: the start of a policy that could do without the tool, on
 * problems of size `tiny`. Where the numbers are small the steps go digit by digit and can be learned; where they are large the steps are
 * the whole calculations of the worked solution, which a small model can only imitate. Does not run programs.
 */
import type { CalcProblem } from '../problems/calc.js';
import type { Random } from '../random.js';
import { planTrace, type TraceMix, type TracePlan } from './trace.js';

/** Share of conversations that call the tool; they do so at once. */
const CALL_SHARE = 0.2;

/** Of those that call. */
const CALLS: TraceMix = {
  shares: { right: 30, wrong: 70, guess: 0, forgotten: 0, error: 0, broken: 0, ignored: 0 },
  oneMistake: false,
  rightByFamily: [1],
};

export function planThinkingTrace(problem: CalcProblem, random: Random): TracePlan {
  if (random.chance(CALL_SHARE)) return planTrace(problem, random, CALLS);
  return {
    problem,
    kind: 'guess',
    calls: [],
    answer: { kind: 'own', text: problem.answer },
    answerBefore: `<think>${stepsOf(problem).join('\n')}</think>`,
  };
}

/** The steps to the answer, each true. */
export function stepsOf({ programs: [program], solution }: CalcProblem): string[] {
  return workedOut(program!) ?? calculations(solution);
}

/** `expression=value` for each calculation of a worked solution. */
const calculations = (solution: string): string[] =>
  [...solution.matchAll(/[\d(][\d+*/^!() -]*(?:mod \d+ )?= \d+/g)].map(([text]) => text.replaceAll(' ', ''));

/** Digit by digit, where the program is one expression of sums, differences and products with a factor of one digit. */
function workedOut(program: string): string[] | undefined {
  if (!/^[\d+*()-]+$/.test(program)) return undefined;
  const steps: string[] = [];
  let left = program;
  for (;;) {
    const next = /\((\d+)([+-])(\d+)\)/.exec(left) ?? /(\d+)(\*)(\d+)/.exec(left) ?? /(\d+)([+-])(\d+)/.exec(left);
    if (next === null) return steps;
    const [text, a, sign, b] = next as unknown as [string, string, '+' | '-' | '*', string];
    const worked = sign === '*' ? product(a, b) : sign === '+' ? sum(a, b) : difference(a, b);
    if (worked === undefined) return undefined;
    steps.push(`${a}${sign}${b}`, ...worked.steps, worked.value);
    left = left.replace(text, worked.value);
  }
}

interface Worked {
  readonly steps: readonly string[];
  readonly value: string;
}

function product(a: string, b: string): Worked | undefined {
  const [many, one] = b.length === 1 ? [a, b] : [b, a];
  if (one.length !== 1) return undefined;
  const steps: string[] = [];
  let [carry, value] = [0, ''];
  for (const digit of [...many].reverse()) {
    const here = Number(digit) * Number(one) + carry;
    steps.push(`${digit}*${one}+${carry}=${here}`);
    value = `${here % 10}${value}`;
    carry = Math.floor(here / 10);
  }
  return { steps, value: carry > 0 ? `${carry}${value}` : value };
}

function sum(a: string, b: string): Worked {
  const steps: string[] = [];
  let [carry, value] = [0, ''];
  const width = Math.max(a.length, b.length);
  const [x, y] = [a.padStart(width, '0'), b.padStart(width, '0')];
  for (let i = width - 1; i >= 0; i--) {
    const here = Number(x[i]) + Number(y[i]) + carry;
    steps.push(`${x[i]}+${y[i]}+${carry}=${here}`);
    value = `${here % 10}${value}`;
    carry = Math.floor(here / 10);
  }
  return { steps, value: carry > 0 ? `${carry}${value}` : value };
}

function difference(a: string, b: string): Worked | undefined {
  if (BigInt(a) < BigInt(b)) return undefined;
  const steps: string[] = [];
  let [borrowed, value] = [0, ''];
  const y = b.padStart(a.length, '0');
  for (let i = a.length - 1; i >= 0; i--) {
    const [top, bottom] = [Number(a[i]), Number(y[i]) + borrowed];
    borrowed = top < bottom ? 1 : 0;
    const here = top + 10 * borrowed - bottom;
    steps.push(`${top + 10 * borrowed}-${bottom}=${here}`);
    value = `${here}${value}`;
  }
  return { steps, value: value.replace(/^0+(?=\d)/, '') };
}
