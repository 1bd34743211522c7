/**
 * Grades rollouts in training as the released code does: answers are compared as texts, programs by its rules. Evaluations never do: theirs
 * is `problemGrader`.
 */

import type { OpenedGrader } from '../reward/problemGrader.js';
import type { CodeRunner } from '../sandbox/codeRunner.js';
import { RunnerOnDemand } from '../sandbox/onDemand.js';
import type { SandboxKind } from '../sandbox/open.js';
import { UserError } from '../userError.js';
import { parseProblemRow } from './problemRow.js';
import { referenceRowGrader } from './referenceRowGrader.js';

/**
 * The grader throws a UserError where the problem has nothing to compare with, or tests that the released code does not know.
 *
 * @param options.runner a sandbox that is open already, and stays so; without one, the first program to be judged opens `sandbox`
 */
export function openReferenceGrader(options: { readonly runner?: CodeRunner | undefined; readonly sandbox: SandboxKind }): OpenedGrader {
  const { runner, sandbox } = options;
  const own = runner === undefined ? new RunnerOnDemand({ kind: sandbox }) : undefined;
  const grade = referenceRowGrader({ runner: runner ?? own!, open: async () => own?.open() });
  return {
    grader: async (trajectory, { signal }) => {
      const row = parseProblemRow(trajectory);
      const result = typeof row === 'string' ? ({ kind: 'refused', error: row } as const) : await grade(row, signal);
      if (result.kind === 'refused') throw new UserError(result.error, 'Leave rl.reward.grader out: our own grader takes more.');
      const { verdict } = result;
      return verdict.kind === 'infra' ? verdict : { ...verdict, score: Math.max(0, verdict.score) };
    },
    close: async () => own?.close(),
  };
}
