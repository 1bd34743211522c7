/** How far a long sampling is: time and tokens that are still to come, estimated from the first rollouts on, as lines for a person. */

export interface ProgressOptions {
  /** Rollouts to make. */
  readonly all: number;
  readonly log: (line: string) => void;
  /** Seconds; for tests. */
  readonly now?: () => number;
}

/** Rollouts after which the first estimate is given: fewer would be the shortest ones alone. */
const FIRST = 8;
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
    if (!this.#estimated && this.#done >= Math.min(FIRST, all) && this.#done < all) {
      this.#estimated = true;
      this.#told = now;
      log(`estimate from ${this.#done} rollouts: ${this.#left(now)}`);
    } else if (now - this.#told >= EVERY && this.#done < all) {
      this.#told = now;
      const right = this.#graded === 0 ? '' : `, ${Math.round((100 * this.#correct) / this.#graded)}% right`;
      log(`${this.#done}/${all} rollouts${right}; ${this.#left(now)}`);
    }
  }

  #left(now: number): string {
    const left = this.options.all - this.#done;
    const tokens = this.#graded === 0 ? 0 : (this.#tokens / this.#graded) * left;
    return `about ${roughly(((now - this.#started) / this.#done) * left)} and ${compact(tokens)} tokens of the model for the ${left} to come`;
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
