/**
 * Judges the program in a response by tests. What is expected stays here: the sandbox sees the program, its input and its arguments, and the
 * comparison is ours. Assertion programs run in a process that the program cannot reach (`sandbox/python/assertions.py`).
 *
 * The score is the share of tests passed. Time-outs, crashes and memory are the program's own fault and graded; what the sandbox failed to
 * do is `infra`, and so is a test program that cannot be used, marked as such.
 */
import type { Graded, InfraFailure, Reason } from '../../domain/verdict.js';
import type { CallReport, CheckReport, CodeResult } from '../../sandbox/codeRunner.js';
import type { CodeJudge } from './codeJudge.js';
import type { AssertionTests, CallCase, CallTests, CodeTests, StdioCase, StdioTests } from './codeTests.js';
import { sameOutput, sameValue } from './compare.js';
import { isObject, readValue } from './exactValue.js';
import { findProgram } from './findProgram.js';

export interface GradeCodeOptions {
  readonly judge: CodeJudge;
  readonly signal?: AbortSignal;
  /** Stop at the first test that fails; the rest count as not passed. */
  readonly stopEarly?: boolean;
  /** Tests of this program that run at the same time; the judge's workers bound it anyway. Default 8. */
  readonly parallel?: number;
}

export type CodeVerdict = CodeGraded | InfraFailure | BrokenTests;

/** The tests themselves are at fault, whatever the program is: they do not run, or never call it. Not worth another try. */
export interface BrokenTests extends InfraFailure {
  readonly brokenTests: true;
}

export const isBrokenTests = (verdict: CodeVerdict): verdict is BrokenTests => 'brokenTests' in verdict;

export interface CodeGraded extends Graded {
  readonly passed: number;
  readonly total: number;
  /** What went wrong in the first test that failed. */
  readonly detail?: string;
}

/** How one test ended. */
type CaseOutcome =
  | { readonly kind: 'passed' }
  | { readonly kind: 'failed'; readonly reason: Reason; readonly detail: string }
  | InfraFailure;

const passedCase: CaseOutcome = { kind: 'passed' };
const failed = (reason: Reason, detail: string): CaseOutcome => ({ kind: 'failed', reason, detail });

/** @param response the assistant's final text; `extracted` is the program found in it */
export async function gradeCode(response: string, tests: CodeTests, options: GradeCodeOptions): Promise<CodeVerdict> {
  const program = findProgram(response);
  const total = tests.kind === 'assertions' ? 0 : tests.cases.length;
  if (program === undefined) return { kind: 'graded', correct: false, score: 0, reason: 'noProgram', passed: 0, total };
  if (tests.kind === 'assertions') return gradeAssertions(program, tests, options);
  const outcomes = await runCases(tests.cases.length, (index, signal) => runCase(program, tests, index, options.judge, signal), options);
  return verdictOf(program, outcomes, tests.cases.length);
}

/** The verdict on outcomes in order; those missing at the end did not run. */
function verdictOf(program: string, outcomes: readonly CaseOutcome[], total: number): CodeVerdict {
  const infra = outcomes.find((outcome) => outcome.kind === 'infra');
  if (infra !== undefined) return infra;
  const passed = outcomes.filter((outcome) => outcome.kind === 'passed').length;
  const first = outcomes.find((outcome) => outcome.kind === 'failed');
  const base = { kind: 'graded', correct: passed === total, score: passed / total, extracted: program, passed, total } as const;
  return first === undefined ? { ...base, reason: 'match' } : { ...base, reason: first.reason, detail: first.detail };
}

/**
 * Runs the cases in order, some at once. Ends after one that failed if it is asked to, and always after one that shows that no other can
 * pass; those before it are awaited, so that the outcome does not depend on timing.
 */
async function runCases(
  count: number,
  run: (index: number, signal: AbortSignal) => Promise<CaseOutcome>,
  { signal, stopEarly = false, parallel = 8 }: GradeCodeOptions,
): Promise<CaseOutcome[]> {
  const outcomes = new Array<CaseOutcome | undefined>(count).fill(undefined);
  const cancels = new Map<number, AbortController>();
  let next = 0;
  let end = count;
  const stopAfter = (index: number) => {
    end = Math.min(end, index + 1);
    for (const [other, cancel] of cancels) if (other >= end) cancel.abort();
  };
  const worker = async (): Promise<void> => {
    while (next < end) {
      const index = next++;
      const cancel = new AbortController();
      cancels.set(index, cancel);
      const outcome = await run(index, signal === undefined ? cancel.signal : AbortSignal.any([signal, cancel.signal]));
      cancels.delete(index);
      outcomes[index] = outcome;
      const last = outcome.kind === 'infra' || (outcome.kind === 'failed' && (stopEarly || outcome.reason === 'compileError'));
      if (last && !cancel.signal.aborted) stopAfter(index);
    }
  };
  await Promise.all(Array.from({ length: Math.min(Math.max(1, parallel), count) }, worker));
  return outcomes.slice(0, end).filter((outcome) => outcome !== undefined);
}

function runCase(
  program: string,
  tests: StdioTests | CallTests,
  index: number,
  judge: CodeJudge,
  signal: AbortSignal,
): Promise<CaseOutcome> {
  return tests.kind === 'stdio'
    ? runStdio(program, tests.cases[index]!, judge, signal)
    : runCall(program, tests.functionName, tests.cases[index]!, judge, signal);
}

/** A right output is not longer than this by much, and what is longer is cut off. */
const roomFor = (expected: string): number => 2 * Buffer.byteLength(expected) + 65_536;

async function runStdio(program: string, test: StdioCase, judge: CodeJudge, signal: AbortSignal): Promise<CaseOutcome> {
  const result = await judge.run({ code: program, stdin: test.input, outputBytes: roomFor(test.output) }, signal);
  if (result.kind === 'infra') return result;
  const fault = faultOf(result, judge);
  if (fault !== undefined) return fault;
  if (result.exitCode !== 0) return failed('runtimeError', lastLine(result.stderr) || `exit status ${result.exitCode}`);
  return sameOutput(result.stdout, test.output) ? passedCase : failed('wrongOutput', `printed ${shown(result.stdout)}`);
}

async function runCall(program: string, functionName: string, test: CallCase, judge: CodeJudge, signal: AbortSignal): Promise<CaseOutcome> {
  const task = { kind: 'call', functionName, arguments: test.arguments } as const;
  const room = Math.max(...test.results.map(roomFor));
  const result = await judge.run({ code: program, outputBytes: room, task }, signal);
  if (result.kind === 'infra') return result;
  const fault = faultOf(result, judge);
  if (fault !== undefined) return fault;
  const read = readValue(result.report ?? '');
  if (!read.ok || !isObject(read.value))
    return failed('runtimeError', `the program ended without a result, exit status ${result.exitCode}`);
  const value = read.value.members.get('value');
  if (value === undefined) {
    const report = JSON.parse(result.report!) as Exclude<CallReport, { value: unknown }>;
    return failed(report.fault === 'compile' ? 'compileError' : 'runtimeError', String(report.text));
  }
  const matches = test.results.some((expected) => {
    const wanted = readValue(expected);
    return wanted.ok && sameValue(value, wanted.value);
  });
  return matches ? passedCase : failed('wrongOutput', `returned ${shown(result.report!)}`);
}

/** What the sandbox saw go wrong, before anything is compared. */
function faultOf(result: CodeResult & { kind: 'ran' }, judge: CodeJudge): CaseOutcome | undefined {
  if (result.doesNotCompile) return failed('compileError', lastLine(result.stderr));
  if (result.ending === 'timeout') return failed('timeout', `not done after ${judge.timeoutSeconds} s`);
  if (result.ending === 'memoryLimit') return failed('memoryLimit', `more than ${judge.memoryMb} MB`);
  if (result.ending === 'outputLimit') return failed('wrongOutput', 'far more output than expected');
  return undefined;
}

/** All assertions in one run; after one that ended the program (a time-out, a crash) the rest run anew. */
async function gradeAssertions(program: string, tests: AssertionTests, options: GradeCodeOptions): Promise<CodeVerdict> {
  const { judge, signal, stopEarly = false } = options;
  const { entryPoint, importPrefix: prefix, testCode } = tests;
  const outcomes: CaseOutcome[] = [];
  for (;;) {
    const task = { kind: 'check', entryPoint, prefix, tests: testCode, skip: outcomes.length } as const;
    const result = await judge.run({ code: program, task, outputBytes: 2 ** 24 }, signal);
    if (result.kind === 'infra') return result;
    const reports = readReports(result.report ?? '');
    const total = reports.find((report) => 'total' in report)?.total;
    const broken = reports.find((report) => 'broken' in report)?.broken;
    if (broken !== undefined) return { kind: 'infra', error: `the tests cannot be used: ${broken}`, brokenTests: true };
    const lost = reports.find((report) => 'lost' in report)?.lost;
    if (lost !== undefined) return { kind: 'infra', error: lost };
    const found = reports.flatMap((report) => ('case' in report ? [outcomeOf(report)] : []));
    outcomes.push(...found);
    if (result.ending !== 'finished') outcomes.push(faultOf(result, judge)!);
    else if (result.exitCode !== 0) outcomes.push(lostJudge(judge, result.exitCode));
    else if (total === undefined || found.length === 0) return { kind: 'infra', error: 'the tests ended without a report' };
    const all = total ?? Number.POSITIVE_INFINITY;
    const stop = outcomes.findIndex(({ kind, ...rest }) => {
      return kind === 'infra' || (kind === 'failed' && (stopEarly || ('reason' in rest && rest.reason === 'compileError')));
    });
    if (stop !== -1) return verdictOf(program, outcomes.slice(0, stop + 1), all);
    if (outcomes.length >= all) return verdictOf(program, outcomes, all);
    if (total === undefined) return verdictOf(program, outcomes, outcomes.length);
  }
}

function readReports(text: string): CheckReport[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as CheckReport);
}

function outcomeOf(report: Extract<CheckReport, { case: number }>): CaseOutcome {
  if (report.ok) return passedCase;
  const reason = ({ compile: 'compileError', run: 'runtimeError', memory: 'memoryLimit', mismatch: 'wrongOutput' } as const)[report.fault];
  return failed(reason, report.text);
}

/** Where the program has a process namespace of its own it cannot have done this. */
function lostJudge(judge: CodeJudge, exitCode: number): CaseOutcome {
  const detail = `the process that ran the tests ended with ${exitCode}`;
  return judge.name === 'bubblewrap' ? { kind: 'infra', error: detail } : failed('runtimeError', detail);
}

const lastLine = (text: string): string => text.trimEnd().split('\n').at(-1)!.slice(0, 300);

function shown(text: string): string {
  const quoted = JSON.stringify(text.trimEnd());
  return quoted.length > 200 ? `${quoted.slice(0, 200)}...` : quoted;
}
