/**
 * The released grader of code, given what the tests came to. It parses the last ```` ```python ```` block and takes the share of passed
 * tests; a program that fails them all scores 0, above one that is missing. What `</think>` splits is read between the first two.
 */
import type { CodeRunner } from '../../sandbox/codeRunner.js';
import { readValue } from '../code/exactValue.js';
import { preparedProgram } from './preparedProgram.js';
import type { ReferenceScore } from './referenceScore.js';

/** true: passed; false: wrong output; -1 sandbox, -2 runtime error, -3 time-out, -4 compile error. */
export type ReferenceVerdict = boolean | number;

export interface ReferenceProgram {
  readonly kind: 'program';
  /** As it is submitted: with the prefix of an assertion gold, or as a method of `class Solution`. */
  readonly source: string;
  /** How many times the sandbox is asked; absent where it depends on the tests' form. */
  readonly runs?: number;
}

/** What stands in the right answer decides the way of grading; `plain` is compared as an answer. */
export function goldKind(gold: string): 'assertions' | 'cases' | 'plain' {
  if (gold.includes('import_prefix')) return 'assertions';
  return gold.includes('inputs') ? 'cases' : 'plain';
}

/** The text that the grader of code looks at. */
export function codePart(solution: string): string {
  return solution.includes('</think>') ? solution.split('</think>')[1]! : solution;
}

/**
 * The program of a solution, or the score of a solution without one.
 *
 * @param gold assertion or case tests, as text
 * @param runner parses the program; nothing of it is run
 * @throws Error where the runner fails
 */
export async function referenceProgram(
  solution: string,
  gold: string,
  runner: CodeRunner,
  signal?: AbortSignal,
): Promise<ReferenceProgram | ReferenceScore> {
  const source = [...codePart(solution).matchAll(/```python\n([\s\S]*?)```/g)].at(-1)?.[1];
  if (source === undefined) return nothing();
  const tests = jsonObject(gold);
  const parsed = await preparedProgram({ source }, runner, signal);
  if (parsed === undefined) return nothing();
  if (goldKind(gold) === 'assertions') {
    const [prefix, code, entry] = [tests?.import_prefix, tests?.test_code, tests?.entry_point];
    if (typeof prefix !== 'string' || typeof code !== 'string' || entry === undefined) return nothing();
    const runs = code.split('\n').filter((line) => line !== '').length - 1;
    return runs < 1 ? nothing() : { kind: 'program', source: prefix + source, runs };
  }
  if (tests === undefined) {
    // Python literals are read later on, except where they name a function.
    const unusable = gold.includes('fn_name') || !readValue(gold, { python: true }).ok;
    return unusable ? nothing(source) : { kind: 'program', source };
  }
  if (!('fn_name' in tests) || source.includes('class Solution')) return { kind: 'program', source };
  const method = await preparedProgram({ source, function: String(tests.fn_name) }, runner, signal);
  return method === undefined ? nothing() : { kind: 'program', source: method };
}

/** The score of a program by what its tests came to; those of an assertion gold are all or nothing each. */
export function scoreOfRuns(program: ReferenceProgram, verdicts: readonly ReferenceVerdict[]): ReferenceScore {
  const asked = program.runs === undefined ? verdicts : Array.from({ length: program.runs }, (_, i) => verdicts[i] ?? false);
  if (asked.length === 0) return nothing(program.source);
  const passed = asked.filter((verdict) => verdict === true || verdict === 1).length;
  return { score: passed / asked.length, acc: passed === asked.length, pred: program.source };
}

const nothing = (pred = ''): ReferenceScore => ({ score: -1, acc: false, pred });

function jsonObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
