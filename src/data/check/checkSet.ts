/**
 * Checks a set row by row: every right answer can be graded and equals itself, tests are well-formed and the reference solution passes them
 * in the sandbox, conversations are whole. Changes nothing.
 */
import { cpus } from 'node:os';
import { inOrder } from '../../grading/inOrder.js';
import type { CodeJudge } from '../../reward/code/codeJudge.js';
import { UserError } from '../../userError.js';
import { certaintyOf, difficultyOf } from '../difficulty/labels.js';
import { openSet, type SetKind, type SetRow } from '../setFile.js';
import { checkConversation } from './checkConversation.js';
import { checkProblem } from './checkProblem.js';
import type { Fault, FaultKind, FaultOfRow } from './fault.js';
import { referenceSolutions } from './referenceSolutions.js';
import { runSolutions } from './runSolution.js';

export interface CheckOptions {
  /** Where reference solutions run; asked for once one is there. Absent: none is run. */
  readonly judge?: () => Promise<CodeJudge>;
  /** End after the first row that has a fault. */
  readonly strict?: boolean;
  readonly limit?: number;
  /** Rows in work at once. Default: two for each processor. */
  readonly parallel?: number;
  /** Told of each fault, in the order of the rows. */
  readonly onFault?: (fault: Fault) => void;
  /** Rows done, and how many there are, where the file says. */
  readonly onProgress?: (done: number, all: number | undefined) => void;
  readonly signal?: AbortSignal;
}

export interface CheckResult {
  readonly kind: SetKind;
  readonly schema?: string;
  /** Rows looked at. */
  readonly rows: number;
  readonly rowsWithFaults: number;
  readonly faults: Readonly<Partial<Record<FaultKind, number>>>;
  /** Reference solutions that ran, and those of which nothing is known because the sandbox failed. */
  readonly solutions: {
    readonly rows: number;
    readonly passed: number;
    readonly notRun: number;
    readonly infra: number;
    readonly infraError?: string;
  };
}

/** @throws UserError where the file cannot be read, or is in no known form, or solutions are to run and there is no sandbox */
export async function checkSet(source: string, options: CheckOptions = {}): Promise<CheckResult> {
  const { judge, strict = false, limit, parallel = 2 * cpus().length, onFault, onProgress, signal } = options;
  const set = await openSet(source);
  if (set.kind === 'table')
    throw new UserError(
      `${source} is neither a set of problems nor of conversations: it has the columns ${set.table.columns.slice(0, 20).join(', ') || 'none'}`,
      'See what is in it: npx toolwise data inspect FILE.',
    );
  const faults: Partial<Record<FaultKind, number>> = {};
  const solutions = { rows: 0, passed: 0, notRun: 0, infra: 0 };
  let infraError: string | undefined;
  let rows = 0;
  let rowsWithFaults = 0;
  const all = limit === undefined ? set.table.rowCount : Math.min(limit, set.table.rowCount ?? limit);
  const setRows = set.rows({ ...(limit !== undefined && { limit }), ...(signal && { signal }) });
  for await (const { where, found, solution } of inOrder(setRows, parallel, (row) => checkRow(row, judge, signal))) {
    rows++;
    if (solution !== undefined) {
      solutions.rows++;
      if (solution === 'passed') solutions.passed++;
      else if (solution === 'notRun') solutions.notRun++;
      else if (solution !== 'failed') {
        solutions.infra++;
        infraError ??= solution.error;
      }
    }
    for (const fault of found) {
      faults[fault.kind] = (faults[fault.kind] ?? 0) + 1;
      onFault?.({ where, ...fault });
    }
    if (found.length > 0) rowsWithFaults++;
    onProgress?.(rows, all);
    if (strict && found.length > 0) break;
  }
  return {
    kind: set.kind,
    ...(set.schema !== undefined && { schema: set.schema.name }),
    rows,
    rowsWithFaults,
    faults,
    solutions: { ...solutions, ...(infraError !== undefined && { infraError }) },
  };
}

interface RowOutcome {
  readonly where: string;
  readonly found: readonly FaultOfRow[];
  readonly solution?: 'passed' | 'failed' | 'notRun' | { readonly error: string };
}

async function checkRow(set: SetRow, judge: CheckOptions['judge'], signal: AbortSignal | undefined): Promise<RowOutcome> {
  if (set.kind === 'bad') return { where: set.bad.where, found: [{ kind: 'unreadable', detail: set.bad.error }] };
  const { where, values } = set.row;
  if (set.kind === 'conversation') return { where, found: checkConversation(set.conversation, values) };
  if (set.kind === 'row') return { where, found: profileFaults(values) };
  const { faults, tests } = checkProblem(set.problem);
  const solutions = tests === undefined ? [] : referenceSolutions(values);
  if (tests === undefined || solutions.length === 0) return { where, found: faults };
  if (judge === undefined) return { where, found: faults, solution: 'notRun' };
  const outcome = await runSolutions(solutions, tests, await judge(), signal);
  if (outcome.kind === 'failed') return { where, found: [...faults, outcome.fault], solution: 'failed' };
  return { where, found: faults, solution: outcome.kind === 'passed' ? 'passed' : { error: outcome.error } };
}

/** Counts of a difficulty profile against each other. */
function profileFaults({ accuracy, correct, valid, n, label, drop }: Readonly<Record<string, unknown>>): FaultOfRow[] {
  const wrong = (detail: string): FaultOfRow[] => [{ kind: 'counts', detail }];
  if (![correct, valid, n].every((count) => typeof count === 'number' && Number.isInteger(count) && count >= 0))
    return wrong('correct, valid and n are not all whole numbers');
  const [right, judged, asked] = [correct as number, valid as number, n as number];
  if (right > judged || judged > asked) return wrong(`${right} right of ${judged} valid of ${asked} rollouts`);
  if (accuracy === null || accuracy === undefined) return [];
  if (typeof accuracy !== 'number' || judged === 0 || Math.abs(accuracy - right / judged) > 1e-6)
    return wrong(`the accuracy is ${String(accuracy)}, and ${right} of ${judged} are right`);
  if (label !== difficultyOf(accuracy))
    return wrong(`the label is ${String(label)}, and ${right} of ${judged} are ${difficultyOf(accuracy)}`);
  const expected = certaintyOf(accuracy) ?? null;
  return (drop ?? null) === expected ? [] : wrong(`drop is ${String(drop)}, and should be ${String(expected)}`);
}
