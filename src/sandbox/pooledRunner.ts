/** A CodeRunner made of a pool of supervisors. The three kinds differ in how a supervisor is started: see `open.ts`. */
import type { CodeRequest, CodeResult, CodeRunner } from './codeRunner.js';
import { WorkerPool, type WorkerPoolOptions } from './workerPool.js';

export interface RunnerOptions {
  /** Programs that run at the same time; more wait. */
  readonly workers: number;
  /** Python to use: a path or a name on the PATH. */
  readonly python?: string;
  /** The most that is kept of stdout, and of stderr; a program that writes more is ended. Default 1 MiB. */
  readonly outputBytes?: number;
}

export const defaultOutputBytes = 2 ** 20;

export class PooledRunner implements CodeRunner {
  readonly #pool: WorkerPool;

  constructor(
    readonly name: string,
    /** What is not as it should be here, for a person to read. */
    readonly notes: readonly string[],
    pool: WorkerPoolOptions | WorkerPool,
    private readonly afterClose: () => void = () => {},
  ) {
    this.#pool = pool instanceof WorkerPool ? pool : new WorkerPool(pool);
  }

  run(request: CodeRequest, signal?: AbortSignal): Promise<CodeResult> {
    return this.#pool.run(request, signal);
  }

  async close(): Promise<void> {
    await this.#pool.close();
    this.afterClose();
  }
}

/** True of every kind: what holds the memory of a program that starts others. */
export const memoryNote = 'the memory of a program with all it starts is looked at every 20 ms, not held by a cgroup';

/** A note about modules that programs will miss, if any. */
export function missingNote(missing: readonly string[], python: string): string[] {
  return missing.length === 0 ? [] : [`${python} has no ${missing.join(' and no ')}`];
}
