/**
 * Grades a rollout by its problem's kind: mathematics by the box in its final text, a choice by the letter in it, code by its tests. The
 * default grader of training and evaluation. Never looks at thinking, calls or tool text.
 */
import type { Problem } from '../domain/problem.js';
import type { Trajectory } from '../domain/trajectory.js';
import type { Verdict } from '../domain/verdict.js';
import type { CodeRunner } from '../sandbox/codeRunner.js';
import type { SandboxKind } from '../sandbox/open.js';
import { UserError } from '../userError.js';
import { gradeChoice } from './choice.js';
import { type CodeJudge, openCodeJudge } from './code/codeJudge.js';
import type { CodeTests } from './code/codeTests.js';
import { gradeCode } from './code/gradeCode.js';
import { readCodeTests } from './code/readCodeTests.js';
import { extractAnswer } from './extract.js';
import type { Grader } from './grader.js';
import { gradeMath, refuseGold } from './math/gradeMath.js';

export interface GraderParts {
  /** Judges programs. Absent: one over `runner`. */
  readonly judge?: CodeJudge | (() => Promise<CodeJudge>) | undefined;
  /** Runs SymPy where an answer of mathematics cannot be decided otherwise. */
  readonly runner?: CodeRunner | undefined;
}

/** Answers of which each is right; the first is the problem's `answer`. Some data sets have them. */
interface WithAlternatives extends Problem {
  readonly alternatives?: readonly string[];
}

/**
 * Opens nothing and closes nothing; `openProblemGrader` does.
 *
 * The grader throws a UserError where the problem cannot be graded: it has no answer, an unusable one, or tests that cannot be read.
 */
export function problemGrader(parts: GraderParts = {}): Grader {
  const testsOf = recentTests();
  return async (trajectory, { signal }) => {
    const { problem, finalText } = trajectory;
    const where = `problem ${JSON.stringify(problem.id)}`;
    switch (problem.kind ?? 'math') {
      case 'code':
        return gradeCode(finalText, testsOf(problem, where), { judge: await judgeOf(parts, where), signal, stopEarly: true });
      case 'choice':
        return graded(finalText, (answer) => {
          const { options } = problem;
          return gradeChoice(answer, { gold: answerOf(problem, where), ...(options && { options }) });
        });
      case 'math':
        return graded(finalText, (answer) => gradeAlternatives(answer, problem, where, { signal, runner: parts.runner }));
    }
  };
}

async function graded(finalText: string, grade: (answer: string | undefined) => Verdict | Promise<Verdict>): Promise<Verdict> {
  const { answer, note } = extractAnswer(finalText);
  const verdict = await grade(answer);
  return note === undefined || verdict.kind === 'infra' ? verdict : { ...verdict, note };
}

async function gradeAlternatives(
  answer: string | undefined,
  problem: WithAlternatives,
  where: string,
  { signal, runner }: { readonly signal: AbortSignal; readonly runner: CodeRunner | undefined },
): Promise<Verdict> {
  const gold = answerOf(problem, where);
  refuseGold(gold, where);
  let verdict = await gradeMath(answer, gold, { signal, ...(runner && { runner }) });
  for (const other of problem.alternatives ?? []) {
    if (verdict.kind === 'infra' || verdict.correct || other === gold) continue;
    refuseGold(other, where);
    verdict = await gradeMath(answer, other, { signal, ...(runner && { runner }) });
  }
  return verdict;
}

function answerOf({ answer }: Pick<Trajectory['problem'], 'answer'>, where: string): string {
  if (answer !== undefined) return answer;
  throw new UserError(`${where} has no answer`, 'Give each problem an "answer", or a reward function that judges without one.');
}

async function judgeOf({ judge, runner }: GraderParts, where: string): Promise<CodeJudge> {
  if (judge !== undefined) return typeof judge === 'function' ? judge() : judge;
  if (runner !== undefined) return openCodeJudge({ runner });
  throw new UserError(`${where} is code, and there is no sandbox to run its tests in`, 'Set sandbox.kind to auto.');
}

/** Rollouts of one problem are graded close together: tests of a few problems at a time are kept unfolded. */
const KEPT = 8;

function recentTests(): (problem: Problem, where: string) => CodeTests {
  const kept = new Map<unknown, CodeTests>();
  return ({ id, tests: source }, where) => {
    const key = typeof source === 'object' && source !== null ? source : `${id}\0${typeof source === 'string' ? source.length : ''}`;
    const tests = kept.get(key) ?? readTests(source, where);
    kept.delete(key);
    kept.set(key, tests);
    if (kept.size > KEPT) kept.delete(kept.keys().next().value);
    return tests;
  };
}

function readTests(value: unknown, where: string): CodeTests {
  if (value === undefined || value === null) throw new UserError(`${where} is code and has no "tests"`);
  try {
    return readCodeTests(value);
  } catch (error) {
    if (error instanceof UserError) throw new UserError(`${where}: ${error.message}`, error.hint);
    throw error;
  }
}

export interface OpenedGrader {
  readonly grader: Grader;
  /** Closes the sandbox, where one was opened for code. */
  close(): Promise<void>;
}

/** @param options.runner a sandbox that is open already, and stays so; without one, the first program to be judged opens `sandbox` */
export function openProblemGrader(
  options: { readonly runner?: CodeRunner | undefined; readonly sandbox?: SandboxKind } = {},
): OpenedGrader {
  const { runner, sandbox } = options;
  let opened: Promise<CodeJudge> | undefined;
  const judge = (): Promise<CodeJudge> => {
    opened ??= openCodeJudge({ ...(runner && { runner }), ...(sandbox && { sandbox }) });
    return opened;
  };
  return {
    grader: problemGrader({ judge, runner }),
    close: async () => (await opened?.catch(() => undefined))?.close(),
  };
}
