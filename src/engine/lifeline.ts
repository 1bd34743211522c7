/**
 * Ends every open call of an engine at once when the engine is gone. A plain set of controllers: composing one long-lived signal with
 * thousands of short ones keeps memory that is never given back.
 */
export class Lifeline {
  readonly #open = new Set<AbortController>();
  #end: { readonly reason: Error } | undefined;

  /** Why it ended; undefined while it lives. */
  get reason(): Error | undefined {
    return this.#end?.reason;
  }

  /** Runs one call under a signal that fires with the caller's own signal or with the end of this lifeline. */
  async during<T>(signal: AbortSignal | undefined, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#end !== undefined) throw this.#end.reason;
    signal?.throwIfAborted();
    const controller = new AbortController();
    const follow = () => controller.abort(signal?.reason);
    signal?.addEventListener('abort', follow, { once: true });
    this.#open.add(controller);
    try {
      return await call(controller.signal);
    } finally {
      this.#open.delete(controller);
      signal?.removeEventListener('abort', follow);
    }
  }

  /** All open calls and all later ones fail with this reason. Only the first counts. */
  end(reason: Error): void {
    if (this.#end !== undefined) return;
    this.#end = { reason };
    for (const controller of this.#open) controller.abort(reason);
  }
}
