/** What stitching came to, in numbers, with examples of what went wrong. Prints nothing. */

import { agrees } from './statedValue.js';
import type { StepCheck, StitchOutcome } from './stitchSolution.js';

export type CheckKind = StepCheck['agreement'];

export interface StitchReport {
  /** Rows of the source that could be read. */
  readonly read: number;
  readonly written: number;
  /** Rows without a calculation, an answer or a solution, and rows left out for a call that does not give its value. */
  readonly leftOut: Readonly<Record<'noStep' | 'noAnswer' | 'noSolution' | 'mismatch', number>>;
  /** Rows that cannot be read. */
  readonly bad: number;
  /** Calculations by where they stood. */
  readonly steps: Readonly<Record<'mark' | 'formula', number>>;
  /** Calculations by what running them gave. */
  readonly checks: Readonly<Record<CheckKind, number>>;
  /** Rows with at least one call that does not give its value. */
  readonly mismatchedRows: number;
  /** Programs run, and conversations by their number of calls. */
  readonly calls: number;
  readonly callsByRow: Readonly<Record<string, number>>;
  /** Marks that hold no arithmetic that can be read. */
  readonly unreadable: number;
  readonly examples: readonly Example[];
}

export interface Example {
  readonly kind: CheckKind | 'unreadable';
  readonly where: string;
  readonly text: string;
}

const EXAMPLES_EACH = 3;

export class StitchTally {
  #read = 0;
  #written = 0;
  bad = 0;
  #calls = 0;
  #mismatchedRows = 0;
  #unreadable = 0;
  readonly #leftOut = { noStep: 0, noAnswer: 0, noSolution: 0, mismatch: 0 };
  readonly #steps = { mark: 0, formula: 0 };
  readonly #checks: Record<CheckKind, number> = {
    equal: 0,
    rounded: 0,
    cut: 0,
    wholeNumber: 0,
    scaled: 0,
    different: 0,
    noNumber: 0,
    error: 0,
  };
  readonly #callsByRow: Record<string, number> = {};
  readonly #examples: Example[] = [];

  /** @returns how many of the row's calls do not give their value */
  add(outcome: StitchOutcome, where: string): number {
    this.#read++;
    this.#unreadable += outcome.unreadable.length;
    for (const text of outcome.unreadable) this.#example('unreadable', where, text);
    if (outcome.kind !== 'stitched') {
      this.#leftOut[outcome.kind]++;
      return 0;
    }
    let mismatches = 0;
    for (const { step, agreement, output } of outcome.checks) {
      this.#steps[step.kind]++;
      this.#checks[agreement]++;
      if (isAgreement(agreement)) continue;
      mismatches++;
      const said = output.length > 80 ? `${output.slice(0, 77)}...` : output;
      this.#example(agreement, where, `${step.python} is ${said}, not ${step.stated.text}`);
    }
    this.#calls += outcome.calls;
    if (mismatches > 0) this.#mismatchedRows++;
    return mismatches;
  }

  written(calls: number): void {
    this.#written++;
    this.#callsByRow[calls] = (this.#callsByRow[calls] ?? 0) + 1;
  }

  leftOut(): void {
    this.#leftOut.mismatch++;
  }

  report(): StitchReport {
    return {
      read: this.#read,
      written: this.#written,
      leftOut: { ...this.#leftOut },
      bad: this.bad,
      steps: { ...this.#steps },
      checks: { ...this.#checks },
      mismatchedRows: this.#mismatchedRows,
      calls: this.#calls,
      callsByRow: { ...this.#callsByRow },
      unreadable: this.#unreadable,
      examples: [...this.#examples],
    };
  }

  #example(kind: Example['kind'], where: string, text: string): void {
    if (this.#examples.filter((one) => one.kind === kind).length < EXAMPLES_EACH) this.#examples.push({ kind, where, text });
  }
}

const isAgreement = (kind: CheckKind): boolean => kind !== 'error' && agrees(kind);

const WORDS: Readonly<Record<Example['kind'], string>> = {
  equal: 'give the value',
  rounded: 'give the value, which the solution rounds',
  cut: 'solution cuts decimals off without rounding',
  wholeNumber: 'solution gives a whole number, the program does not',
  scaled: 'solution is off by a power of ten (percent, cents)',
  different: 'solution gives another number',
  noNumber: 'program printed no number',
  error: 'program failed',
  unreadable: 'marks without arithmetic that can be read; left as text',
};

/** For a person at a terminal. */
export function stitchText(report: StitchReport): string {
  const all = Object.values(report.checks).reduce((sum, count) => sum + count, 0);
  const right = report.checks.equal + report.checks.rounded;
  const lines = [
    `${report.written} of ${report.read} rows stitched, ${report.calls} programs run.`,
    ...(report.bad > 0 ? [`  ${report.bad} bad rows`] : []),
    ...leftOutLines(report),
    `${all} calculations (${report.steps.mark} marks, ${report.steps.formula} formulae), ${all - right} do not give the stated value: ${percent(all - right, all)}`,
  ];
  for (const [kind, count] of Object.entries(report.checks)) {
    if (count > 0) lines.push(`  ${String(count).padStart(7)}  ${percent(count, all).padStart(7)}  ${WORDS[kind as CheckKind]}`);
  }
  if (report.unreadable > 0) lines.push(`  ${String(report.unreadable).padStart(7)}           ${WORDS.unreadable}`);
  if (report.examples.length > 0) lines.push('Examples:', ...report.examples.map(({ where, text }) => `  ${where}: ${text}`));
  return lines.join('\n');
}

export const LEFT_OUT_WORDS: Readonly<Record<keyof StitchReport['leftOut'], string>> = {
  noStep: 'no calculation found',
  noAnswer: 'no answer to put into the box',
  noSolution: 'no solution',
  mismatch: 'a call does not give its value',
};

function leftOutLines({ leftOut }: StitchReport): string[] {
  return Object.entries(leftOut).flatMap(([why, count]) =>
    count === 0 ? [] : [`  ${count} left out: ${LEFT_OUT_WORDS[why as keyof StitchReport['leftOut']]}`],
  );
}

export const percent = (part: number, all: number): string => (all === 0 ? '-' : `${((100 * part) / all).toFixed(2)} %`);
