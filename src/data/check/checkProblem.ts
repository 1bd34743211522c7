/** Whether a problem can be graded: its right answer against itself, its tests by their form. Runs nothing: see `runSolution.ts`. */
import type { Problem } from '../../domain/problem.js';
import { gradeChoice } from '../../reward/choice.js';
import type { CodeTests } from '../../reward/code/codeTests.js';
import { readCodeTests } from '../../reward/code/readCodeTests.js';
import { extractAnswer } from '../../reward/extract.js';
import { checkGold, sameAnswer } from '../../reward/math/gradeAnswer.js';
import { UserError } from '../../userError.js';
import { type FaultOfRow, shown } from './fault.js';

export interface CheckedProblem {
  readonly faults: readonly FaultOfRow[];
  /** Of code, where they can be read. */
  readonly tests?: CodeTests;
}

export function checkProblem(problem: Problem): CheckedProblem {
  const { kind = 'math', answer, options, tests } = problem;
  if (kind === 'code') return codeFaults(tests);
  if (answer === undefined)
    return one('noGold', tests === undefined || tests === null ? 'it has no right answer' : 'it has tests, but its kind is not code');
  return { faults: kind === 'choice' ? choiceFaults(answer, options) : mathFaults(answer, alternativesOf(problem)) };
}

function codeFaults(given: unknown): CheckedProblem {
  if (given === undefined || given === null) return one('noGold', 'it is code and has no tests');
  try {
    return { faults: [], tests: readCodeTests(given) };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return one('tests', error.message);
  }
}

const one = (kind: FaultOfRow['kind'], detail: string): CheckedProblem => ({ faults: [{ kind, detail }] });

function mathFaults(answer: string, alternatives: readonly string[]): FaultOfRow[] {
  return [...new Set([answer, ...alternatives])].flatMap((gold): FaultOfRow[] => {
    const problem = checkGold(gold);
    if (problem !== undefined) return [{ kind: 'gold', detail: `the right answer ${shown(gold)} cannot be used: ${problem}` }];
    if (!sameAnswer(gold, gold)) return [{ kind: 'gold', detail: `the right answer ${shown(gold)} is not equal to itself` }];
    const boxed = extractAnswer(`\\boxed{${gold}}`).answer;
    if (boxed === undefined || !sameAnswer(boxed, gold))
      return [{ kind: 'gold', detail: `the right answer ${shown(gold)} cannot be boxed: what is read back is ${shown(boxed)}` }];
    return [];
  });
}

/** Some sets have several right answers. */
function alternativesOf(problem: Problem): readonly string[] {
  const { alternatives } = problem as { readonly alternatives?: unknown };
  return Array.isArray(alternatives) ? alternatives.filter((one): one is string => typeof one === 'string') : [];
}

function choiceFaults(answer: string, options: readonly string[] | undefined): FaultOfRow[] {
  const faults: FaultOfRow[] = [];
  const twice = options?.find((option, i) => options.findIndex((other) => other.trim() === option.trim()) < i);
  if (twice !== undefined) faults.push({ kind: 'options', detail: `two options are ${shown(twice)}` });
  if (options?.some((option) => option.trim() === '')) faults.push({ kind: 'options', detail: 'an option is empty' });
  try {
    const question = { gold: answer, ...(options !== undefined && { options }) };
    if (!gradeChoice(answer, question).correct) faults.push({ kind: 'gold', detail: `the letter ${shown(answer)} is not graded as right` });
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const among = options === undefined ? '' : ` among ${options.length} options`;
    faults.push({ kind: 'gold', detail: `the right answer ${shown(answer)} is no letter${among}` });
  }
  return faults;
}
