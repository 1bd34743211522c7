/** Whether a reference solution passes the tests that stand beside it. */
import type { CodeJudge } from '../../reward/code/codeJudge.js';
import type { CodeTests } from '../../reward/code/codeTests.js';
import { gradeCode, isBrokenTests } from '../../reward/code/gradeCode.js';
import type { FaultOfRow } from './fault.js';
import { asResponse } from './referenceSolutions.js';

export type SolutionOutcome =
  | { readonly kind: 'passed' }
  | { readonly kind: 'failed'; readonly fault: FaultOfRow }
  /** The sandbox failed: nothing is known of the row. */
  | { readonly kind: 'infra'; readonly error: string };

/** Passed where one of them passes: sets carry wrong ones among right ones. */
export async function runSolutions(
  solutions: readonly string[],
  tests: CodeTests,
  judge: CodeJudge,
  signal: AbortSignal | undefined,
): Promise<SolutionOutcome> {
  let first: SolutionOutcome | undefined;
  for (const solution of solutions) {
    const verdict = await gradeCode(asResponse(solution), tests, { judge, stopEarly: true, ...(signal && { signal }) });
    signal?.throwIfAborted();
    if (verdict.kind === 'infra') {
      if (isBrokenTests(verdict)) return { kind: 'failed', fault: { kind: 'tests', detail: verdict.error } };
      return { kind: 'infra', error: verdict.error };
    }
    if (verdict.correct) return { kind: 'passed' };
    const { reason, passed, total, detail } = verdict;
    const said = `${SAID[reason] ?? reason}${detail === undefined ? '' : `: ${detail}`}`;
    const among =
      solutions.length === 1 ? 'the reference solution fails' : `none of ${solutions.length} reference solutions passes; the first fails`;
    // The judge stops at the first test that fails, so `passed` counts those before it.
    first ??= { kind: 'failed', fault: { kind: 'solution', detail: `${among} after ${passed} of ${total} tests passed: ${said}` } };
  }
  return first ?? { kind: 'passed' };
}

const SAID: Readonly<Record<string, string>> = {
  compileError: 'it does not compile',
  runtimeError: 'it ends with an error',
  timeout: 'it takes too long',
  memoryLimit: 'it takes too much memory',
  wrongOutput: 'the output is wrong',
  noProgram: 'there is no program in it',
};
