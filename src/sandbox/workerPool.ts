/**
 * Hands requests to workers, first come first served. Keeps at most `size` workers, replaces those that died, and tries a request again,
 * once, when its worker was lost before the program had begun. Does not know how workers are isolated.
 */
import type { CodeRequest, CodeResult } from './codeRunner.js';
import type { PythonWorker } from './pythonWorker.js';

export interface WorkerPoolOptions {
  /** Programs that run at the same time. */
  readonly size: number;
  /** A worker serves one request only. */
  readonly oneShot: boolean;
  readonly outputBytes: number;
  readonly start: (slot: number) => Promise<PythonWorker>;
}

interface Waiter {
  readonly resolve: (slot: number | undefined) => void;
}

export class WorkerPool {
  readonly #options: WorkerPoolOptions;
  /** Idle workers, or starting ones, by slot; undefined where none is. */
  readonly #workers: (Promise<PythonWorker> | undefined)[];
  readonly #free: number[];
  readonly #waiting: Waiter[] = [];
  readonly #all = new Set<Promise<PythonWorker>>();
  #closed = false;

  constructor(options: WorkerPoolOptions) {
    if (!Number.isInteger(options.size) || options.size < 1) throw new RangeError(`a pool has at least one worker, not ${options.size}`);
    this.#options = options;
    this.#workers = new Array<undefined>(options.size).fill(undefined);
    this.#free = this.#workers.map((_, slot) => options.size - 1 - slot);
  }

  /** Starts workers ahead of need; resolves with the first when it is up. @throws Error when it does not come up. */
  async warm(): Promise<PythonWorker> {
    const first = this.#worker(0);
    for (let slot = 1; slot < this.#options.size; slot++) this.#worker(slot).catch(() => {});
    return first;
  }

  async run(request: CodeRequest, signal?: AbortSignal): Promise<CodeResult> {
    const problem = faultOf(request);
    if (problem !== undefined) return { kind: 'infra', error: problem };
    const asked = performance.now();
    const slot = await this.#take(signal);
    if (slot === undefined) return { kind: 'infra', error: this.#closed ? 'the code runner is closed' : 'cancelled' };
    try {
      const queuedSeconds = (performance.now() - asked) / 1000;
      for (let attempt = 0; ; attempt++) {
        const outcome = await this.#attempt(slot, request, queuedSeconds, signal);
        if (outcome.kind !== 'lost') return outcome;
        if (outcome.started || attempt > 0 || this.#closed || signal?.aborted) return { kind: 'infra', error: outcome.error };
      }
    } finally {
      this.#give(slot);
    }
  }

  /** Cancels what waits and what runs; resolves when every process is gone. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const waiter of this.#waiting.splice(0)) waiter.resolve(undefined);
    await Promise.all([...this.#all].map((worker) => worker.then((it) => it.close()).catch(() => {})));
  }

  async #attempt(slot: number, request: CodeRequest, queuedSeconds: number, signal?: AbortSignal) {
    const starting = this.#worker(slot);
    let worker: PythonWorker;
    try {
      worker = await starting;
    } catch (error) {
      return { kind: 'lost', started: false, error: error instanceof Error ? error.message : String(error) } as const;
    }
    const outcome = signal?.aborted
      ? ({ kind: 'infra', error: 'cancelled' } as const)
      : await worker.run(request, this.#options.outputBytes, queuedSeconds, signal);
    if (outcome.kind === 'lost' && this.#workers[slot] === starting) this.#workers[slot] = undefined;
    if (this.#options.oneShot) {
      if (this.#workers[slot] === starting) this.#workers[slot] = undefined;
      await worker.close();
      this.#all.delete(starting);
    }
    return outcome;
  }

  /** The slot's worker, started anew if there is none or the last one died. */
  #worker(slot: number): Promise<PythonWorker> {
    const existing = this.#workers[slot];
    if (existing !== undefined) return existing;
    if (this.#closed) return Promise.reject(new Error('the code runner is closed'));
    const starting = this.#options.start(slot);
    this.#workers[slot] = starting;
    this.#all.add(starting);
    const forget = () => {
      this.#all.delete(starting);
      if (this.#workers[slot] === starting) this.#workers[slot] = undefined;
    };
    starting.then((worker) => worker.exited.then(forget), forget);
    return starting;
  }

  #take(signal?: AbortSignal): Promise<number | undefined> {
    if (this.#closed || signal?.aborted) return Promise.resolve(undefined);
    const slot = this.#free.pop();
    if (slot !== undefined) return Promise.resolve(slot);
    return new Promise((resolve) => {
      const waiter: Waiter = {
        resolve: (given) => {
          signal?.removeEventListener('abort', leave);
          resolve(given);
        },
      };
      const leave = () => {
        const place = this.#waiting.indexOf(waiter);
        if (place >= 0) this.#waiting.splice(place, 1);
        resolve(undefined);
      };
      signal?.addEventListener('abort', leave, { once: true });
      this.#waiting.push(waiter);
    });
  }

  #give(slot: number): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free.push(slot);
    else next.resolve(slot);
  }
}

function faultOf(request: CodeRequest): string | undefined {
  const { timeoutSeconds, memoryMb } = request;
  if (!Number.isFinite(timeoutSeconds) || timeoutSeconds <= 0) return `timeoutSeconds must be a positive number, not ${timeoutSeconds}`;
  if (!Number.isFinite(memoryMb) || memoryMb < 1) return `memoryMb must be at least 1, not ${memoryMb}`;
  return undefined;
}
