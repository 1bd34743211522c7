/** What grading a row came to, and its line of JSON. */
import type { Verdict } from '../domain/verdict.js';

export type RowResult =
  | { readonly kind: 'verdict'; readonly verdict: Verdict; readonly details?: RowDetails }
  /** The row itself cannot be used, for example a right answer that cannot be read. It is no wrong answer. */
  | { readonly kind: 'refused'; readonly error: string };

/** Beside the verdict, where there is something to say. */
export interface RowDetails {
  /** Why this was taken as the answer. */
  readonly note?: string;
  /** Of code: tests passed, of how many. */
  readonly passed?: number;
  readonly total?: number;
  /** Of code: what went wrong first. */
  readonly detail?: string;
}

/** `id` first; a failure of the machinery has `infra` and no score, an unusable row has `error` and no verdict. */
export function toLine(head: Readonly<Record<string, unknown>>, result: RowResult): Record<string, unknown> {
  if (result.kind === 'refused') return { ...head, error: result.error };
  const { verdict, details } = result;
  if (verdict.kind === 'infra') return { ...head, infra: verdict.error };
  const { correct, score, reason, extracted } = verdict;
  return { ...head, correct, score, reason, extracted: extracted ?? null, ...details };
}

/** The first ones are named. */
const NAMED = 10;

/** How many rows came to what. */
export class Tally {
  rows = 0;
  right = 0;
  wrong = 0;
  unanswered = 0;
  infra = 0;
  refused = 0;
  readonly reasons = new Map<string, number>();
  readonly #errors: string[] = [];
  #firstFailure: string | undefined;

  add(result: RowResult): void {
    this.rows++;
    if (result.kind === 'refused') {
      if (this.refused++ < NAMED) this.#errors.push(result.error);
    } else if (result.verdict.kind === 'infra') {
      this.infra++;
      this.#firstFailure ??= result.verdict.error;
    } else {
      const { correct, reason } = result.verdict;
      if (correct) this.right++;
      else this.wrong++;
      if (reason === 'noAnswer' || reason === 'noProgram') this.unanswered++;
      this.reasons.set(reason, (this.reasons.get(reason) ?? 0) + 1);
    }
  }

  /** One sentence. */
  text(): string {
    const share = (count: number): string => `${((100 * count) / Math.max(1, this.rows)).toFixed(1)}%`;
    const graded = this.right + this.wrong;
    return [
      `${rowsOf(this.rows)}: ${this.right} right of ${graded} graded (${graded === 0 ? '–' : `${((100 * this.right) / graded).toFixed(1)}%`})`,
      ...(this.unanswered > 0 ? [`${this.unanswered} without an answer`] : []),
      ...(this.infra > 0 ? [`${this.infra} lost to infrastructure (${share(this.infra)})`] : []),
      ...(this.refused > 0 ? [`${this.refused} refused (${share(this.refused)})`] : []),
    ].join(', ');
  }

  /** What a person must know beside the sentence: which rows were refused, and what failed. */
  warnings(): string[] {
    const warnings: string[] = [];
    if (this.refused > 0) {
      const more = this.refused > this.#errors.length ? [`and ${this.refused - this.#errors.length} more`] : [];
      warnings.push(
        [
          `${rowsOf(this.refused)} cannot be used and ${this.refused === 1 ? 'is' : 'are'} neither right nor wrong:`,
          ...this.#errors,
          ...more,
        ].join('\n  '),
      );
    }
    if (this.infra > 0) {
      const all = this.infra === this.rows;
      const who = all ? (this.rows === 1 ? 'the row has' : 'no row has') : `${this.infra} of ${this.rows} rows have`;
      warnings.push(`${who} ${all && this.rows > 1 ? 'a' : 'no'} verdict, because what should grade failed; first: ${this.#firstFailure}`);
    }
    return warnings;
  }

  /** 0; 1 where nothing was graded because the machinery failed; 2 where rows were refused. */
  exitCode(): 0 | 1 | 2 {
    if (this.infra > 0 && this.right + this.wrong === 0) return 1;
    return this.refused > 0 ? 2 : 0;
  }
}

const rowsOf = (count: number): string => `${count} ${count === 1 ? 'row' : 'rows'}`;
