/** One execution that several callers wait for. It goes on as long as one of them does; the last to leave stops it. */

export class SharedCall<T> {
  readonly outcome: Promise<T>;
  readonly #stop = new AbortController();
  readonly #onAbandoned: () => void;
  #waiting = 0;
  #settled = false;

  /**
   * @param start told the signal that ends it
   * @param onAbandoned called once where all callers have left before it was done
   */
  constructor(start: (signal: AbortSignal) => Promise<T>, onAbandoned: () => void) {
    this.#onAbandoned = onAbandoned;
    this.outcome = start(this.#stop.signal).finally(() => {
      this.#settled = true;
    });
    // Where all have left nobody hears of its failure.
    this.outcome.catch(() => undefined);
  }

  /** Whether all callers left before it was done: what comes of it then counts for nothing. */
  get abandoned(): boolean {
    return this.#stop.signal.aborted;
  }

  /** @throws the signal's reason when it is aborted first */
  join(signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    this.#waiting++;
    return new Promise<T>((resolve, reject) => {
      const leave = (): void => {
        reject(signal.reason);
        this.#left(signal.reason);
      };
      signal.addEventListener('abort', leave, { once: true });
      this.outcome.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
    });
  }

  #left(reason: unknown): void {
    if (--this.#waiting > 0 || this.#settled) return;
    this.#stop.abort(reason);
    this.#onAbandoned();
  }
}
