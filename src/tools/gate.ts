/** Lets a bounded number in at once; the others wait in the order in which they came, and may leave the queue. */

export class Gate {
  #free: number;
  readonly #queue = new Set<() => void>();

  /** @param places how many may be inside at once */
  constructor(places: number) {
    this.#free = places;
  }

  /** How many wait outside. */
  get waiting(): number {
    return this.#queue.size;
  }

  /**
   * Resolves once there is a place, with what gives it back (to be called once or more).
   * @throws the signal's reason when it is aborted before
   */
  enter(signal: AbortSignal): Promise<() => void> {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (this.#free > 0) {
      this.#free--;
      return Promise.resolve(this.#leave());
    }
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        this.#queue.delete(admit);
        reject(signal.reason);
      };
      const admit = (): void => {
        signal.removeEventListener('abort', giveUp);
        resolve(this.#leave());
      };
      signal.addEventListener('abort', giveUp, { once: true });
      this.#queue.add(admit);
    });
  }

  #leave(): () => void {
    let inside = true;
    return () => {
      if (!inside) return;
      inside = false;
      const [next] = this.#queue;
      if (next === undefined) this.#free++;
      else {
        this.#queue.delete(next);
        next();
      }
    };
  }
}
