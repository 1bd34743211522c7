/** Grades the stored rollouts of a run again, without inference, and says what changed. The run itself is left as it is. */
import type { TrajectoryRecord } from '../domain/event.js';
import type { Verdict } from '../domain/verdict.js';
import type { Run } from '../runs/reader.js';
import { type RowResult, Tally, toLine } from './graded.js';
import { inOrder } from './inOrder.js';
import { parseProblemRow } from './problemRow.js';
import type { RowGrader } from './rowGrader.js';

export interface RegradeOptions {
  readonly grader: RowGrader;
  readonly parallel: number;
  readonly signal: AbortSignal;
  readonly onProgress?: (done: number, all: number) => void;
}

/** How a verdict moved. `unknown`: there was none before, since a reward function judged. */
export type Change = 'same' | 'becameRight' | 'becameWrong' | 'scoreChanged' | 'reasonChanged' | 'becameInfra' | 'unknown' | 'refused';

export interface Regraded {
  readonly change: Change;
  readonly result: RowResult;
  /** As it is printed. */
  readonly line: Readonly<Record<string, unknown>>;
}

export class ChangeTally {
  readonly tally = new Tally();
  readonly changes = new Map<Change, number>();

  add({ change, result }: Regraded): void {
    this.tally.add(result);
    this.changes.set(change, (this.changes.get(change) ?? 0) + 1);
  }

  text(): string {
    const changed = [...this.changes].filter(([change]) => change !== 'same' && change !== 'unknown');
    const moved = changed.map(([change, count]) => `${count} ${WORDS[change]}`).join(', ');
    return `${this.tally.text()}; ${moved === '' ? 'no verdict changed' : `changed: ${moved}`}`;
  }
}

const WORDS: Readonly<Record<Change, string>> = {
  same: 'the same',
  becameRight: 'wrong before and right now',
  becameWrong: 'right before and wrong now',
  scoreChanged: 'with another score',
  reasonChanged: 'with another reason or answer',
  becameInfra: 'lost to infrastructure now',
  unknown: 'without a verdict before',
  refused: 'whose right answer cannot be used',
};

/** In the order in which the rollouts were written. @throws the signal's reason */
export async function* regradeRun(run: Run, options: RegradeOptions): AsyncGenerator<Regraded, void, void> {
  const all = run.countTrajectories();
  let done = 0;
  const graded = inOrder(run.records(), options.parallel, async (record) => {
    options.signal.throwIfAborted();
    return regraded(record, await gradeRecord(record, options));
  });
  for await (const one of graded) {
    options.onProgress?.(++done, all);
    yield one;
  }
}

async function gradeRecord({ trajectory }: TrajectoryRecord, { grader, signal }: RegradeOptions): Promise<RowResult> {
  const row = parseProblemRow(trajectory);
  return typeof row === 'string' ? { kind: 'refused', error: row } : grader(row, signal);
}

function regraded(record: TrajectoryRecord, result: RowResult): Regraded {
  const { trajectory, stage, step, split, verdict: before } = record;
  const change = changeOf(before, result);
  const head = { id: trajectory.trajectoryId, problem: trajectory.problem.id, stage, step, split, change };
  return { change, result, line: { ...toLine(head, result), before: before === undefined ? null : plain(before) } };
}

function changeOf(before: Verdict | undefined, result: RowResult): Change {
  if (result.kind === 'refused') return 'refused';
  const { verdict } = result;
  if (verdict.kind === 'infra') return before?.kind === 'infra' ? 'same' : 'becameInfra';
  if (before?.kind !== 'graded') return 'unknown';
  if (verdict.correct !== before.correct) return verdict.correct ? 'becameRight' : 'becameWrong';
  if (verdict.score !== before.score) return 'scoreChanged';
  return verdict.reason === before.reason && verdict.extracted === before.extracted ? 'same' : 'reasonChanged';
}

function plain(verdict: Verdict): object {
  if (verdict.kind === 'infra') return { infra: verdict.error };
  const { correct, score, reason, extracted } = verdict;
  return { correct, score, reason, extracted: extracted ?? null };
}
