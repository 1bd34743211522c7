/**
 * Tells on standard error how far long work is: a bar on a terminal; elsewhere, and while nothing moves, a line now and then, so that silence
 * never stands for waiting.
 */
import type { Narrator } from './narrator.js';

const EVERY_SECONDS = 10;

export class Heartbeat {
  #done = 0;
  #all: number | undefined;
  #told = -1;
  readonly #started = performance.now();
  readonly #timer: NodeJS.Timeout;

  /** @param what for example `graded` */
  constructor(
    private readonly narrator: Pick<Narrator, 'line' | 'progress'>,
    private readonly what: string,
    { everySeconds = EVERY_SECONDS, terminal = process.stderr.isTTY === true } = {},
  ) {
    this.#timer = setInterval(() => this.#beat(terminal), everySeconds * 1000);
    this.#timer.unref();
  }

  readonly update = (done: number, all: number): void => {
    this.#done = done;
    this.#all = all;
    this.narrator.progress(this.what, done, all);
  };

  end(): void {
    clearInterval(this.#timer);
  }

  #beat(terminal: boolean): void {
    if (this.#all === undefined) return;
    const waits = this.#done === this.#told;
    // On a terminal the bar says it, as long as it moves.
    if (waits || !terminal) {
      const seconds = Math.round((performance.now() - this.#started) / 1000);
      this.narrator.line(`${this.what} ${this.#done} of ${this.#all} after ${seconds} s${waits ? '; waiting' : ''}`);
    }
    this.#told = this.#done;
  }
}
