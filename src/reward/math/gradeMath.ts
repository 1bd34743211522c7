/**
 * Grades an answer of mathematics: the exact comparison first, and where it read both sides but cannot decide (an integral, a long sum),
 * SymPy inside the sandbox as a second opinion.
 */
import type { Graded, Verdict } from '../../domain/verdict.js';
import type { CodeRunner } from '../../sandbox/codeRunner.js';
import { UserError } from '../../userError.js';
import { checkGold, compareAnswers, gradeAnswer, verdictOf } from './gradeAnswer.js';
import type { Question } from './question.js';
import { ANSWERS, sympyProgram } from './sympyProgram.js';

export interface GradeMathOptions {
  /** Where SymPy runs; without one, what cannot be decided is not equal. */
  readonly runner?: CodeRunner;
  readonly signal?: AbortSignal;
  /** Of the processor, for SymPy once it has started: the same on a busy machine. Running out of it is "not equal". */
  readonly timeoutSeconds?: number;
}

const TIMEOUT_SECONDS = 1;
/** By the clock, start included: only a machine that is far too busy runs out of it. */
const LONGEST_SECONDS = 20;
const MEMORY_MB = 1024;

/**
 * Costs the exact comparison and nothing more where that decides, as it does for all but a few in a thousand answers: the sandbox is only
 * asked about what both sides say and the comparison leaves open.
 *
 * @returns `infra` only where the sandbox failed, has no SymPy, or did not get it started
 * @throws UserError when the right answer cannot be used
 */
export async function gradeMath(answer: string | undefined, gold: string, options: GradeMathOptions = {}): Promise<Verdict> {
  refuseGold(gold);
  const { runner } = options;
  if (runner === undefined || answer === undefined || answer.trim() === '') return gradeAnswer(answer, gold);
  const sameness = compareAnswers(answer, gold);
  if (sameness.kind !== 'undecided' || sameness.open.length === 0) return verdictOf(sameness.kind === 'equal', answer);
  return secondOpinion(answer, sameness.open, runner, options);
}

/** @throws UserError naming what is wrong with it, and `where` it stands */
export function refuseGold(gold: string, where = ''): void {
  const problem = checkGold(gold);
  if (problem === undefined) return;
  const shown = JSON.stringify(gold.length > 80 ? `${gold.slice(0, 80)}…` : gold);
  throw new UserError(
    `${where === '' ? '' : `${where}: `}the right answer ${shown} cannot be used: ${problem}`,
    'Mend or remove it: no answer could be graded against it.',
  );
}

async function secondOpinion(
  answer: string,
  open: readonly Question[],
  runner: CodeRunner,
  { signal, timeoutSeconds = TIMEOUT_SECONDS }: GradeMathOptions,
): Promise<Verdict> {
  const notEqual: Graded = verdictOf(false, answer);
  const code = sympyProgram(open, timeoutSeconds);
  if (code === undefined) return notEqual;
  const result = await runner.run({ code, timeoutSeconds: Math.max(LONGEST_SECONDS, 2 * timeoutSeconds), memoryMb: MEMORY_MB }, signal);
  if (result.kind === 'infra') return result;
  const lines = result.stdout.trimEnd().split('\n');
  const said = lines.at(-1);
  if (result.ending === 'timeout' && !lines.includes(ANSWERS.started)) return { kind: 'infra', error: 'SymPy did not start in time' };
  if (said === ANSWERS.missing) return { kind: 'infra', error: 'the Python of the sandbox has no sympy' };
  const equal = result.ending === 'finished' && result.exitCode === 0 && said === ANSWERS.equal;
  return equal ? verdictOf(true, answer) : notEqual;
}
