/** How far a long sampling is: time and tokens that are still to come, estimated from the first rollouts on, as lines for a person. */

export interface ProgressOptions {
  /** Rollouts to make. */
  readonly all: number;
  /** Rollouts in flight at once. Default 1. */
  readonly concurrency?: number | undefined;
  readonly log: (line: string) => void;
  /** Seconds; for tests. */
  readonly now?: () => number;
}

/** Rollouts after which the first estimate is given: fewer would be the shortest ones alone. */
const FIRST = 8;
/** Seconds after which it is given from fewer. */
const LATEST = 60;
/** Seconds between two lines. */
const EVERY = 20;

export class SamplingProgress {
  readonly #now: () => number;
  readonly #started: number;
  #told: number;
  #done = 0;
  #tokens = 0;
  #graded = 0;
  #correct = 0;
  #estimated = false;

  constructor(private readonly options: ProgressOptions) {
    this.#now = options.now ?? (() => performance.now() / 1000);
    this.#started = this.#now();
    this.#told = this.#started;
  }

  /** One more is there. @param tokens that the model wrote; undefined where it was lost */
  add(tokens: number | undefined, correct: boolean): void {
    this.#done++;
    if (tokens !== undefined) {
      this.#tokens += tokens;
      this.#graded++;
      if (correct) this.#correct++;
    }
    const { all, log } = this.options;
    const now = this.#now();
    if (this.#done >= all) return;
    if (!this.#estimated) {
      if (this.#done < FIRST && now - this.#started < LATEST) return;
      this.#estimated = true;
      this.#told = now;
      log(`estimate from ${this.#done} ${this.#done === 1 ? 'rollout' : 'rollouts'}: ${this.#left(now)}`);
    } else if (now - this.#told >= EVERY) {
      this.#told = now;
      const right = this.#graded === 0 ? '' : `, ${Math.round((100 * this.#correct) / this.#graded)}% right`;
      log(`${this.#done}/${all} rollouts${right}; ${this.#left(now)}`);
    }
  }

  /** Those in flight count as half done: at first they are nearly all that was done. */
  #left(now: number): string {
    const { all, concurrency = 1 } = this.options;
    const left = all - this.#done;
    const flying = Math.min(concurrency, left) / 2;
    const seconds = ((now - this.#started) / (this.#done + flying)) * (left - flying);
    const tokens = this.#graded === 0 ? 0 : (this.#tokens / this.#graded) * left;
    return `about ${roughly(seconds)} and ${compact(tokens)} tokens of the model for the ${left} to come`;
  }
}

/** 950, 12.3k, 4.6M. */
export function compact(count: number): string {
  if (count < 1000) return String(Math.round(count));
  return count < 1e6 ? `${(count / 1e3).toPrecision(3)}k` : `${(count / 1e6).toPrecision(3)}M`;
}

/** 40 s, 12 min, 3.5 h. */
export function roughly(seconds: number): string {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  return seconds < 90 * 60 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
