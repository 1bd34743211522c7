/**
 * The sandbox of choice: Pythons inside bubblewrap, each of which forks once a program and gives the fork namespaces, mounts, a system call
 * filter and limits of its own. A few milliseconds a program.
 *
 * A fork costs by what the process holds, so there are two pools: bare Pythons for most programs, and ones with numpy and sympy loaded for
 * programs that name these. The second is started when the first such program comes. A program that imports them in disguise is slower,
 * and otherwise the same.
 */
import { type Bubblewrap, bubblewrapCommand, findBubblewrap } from './bubblewrap.js';
import type { CodeRequest, CodeResult } from './codeRunner.js';
import { findPython, type Python, preloadedModules } from './host.js';
import type { OpenedRunner } from './open.js';
import { defaultOutputBytes, memoryNote, missingNote, type RunnerOptions } from './pooledRunner.js';
import { PythonWorker } from './pythonWorker.js';
import { WorkerPool } from './workerPool.js';

/**
 * Starts the bare pool and runs one small program to see that forking with namespaces works here.
 * @throws UserError when bubblewrap or Python is missing; Error with the reason when it does not work on this machine.
 */
export async function openZygoteRunner(options: RunnerOptions): Promise<OpenedRunner> {
  const [bwrap, python] = await Promise.all([findBubblewrap(), findPython(options.python)]);
  const bare = poolOf(options, bwrap, python, 0, []);
  try {
    const { notes } = await (await bare.warm()).notes();
    const trial = await bare.run({ code: 'print(1 + 1)', timeoutSeconds: 10, memoryMb: 256 });
    if (trial.kind === 'infra') throw new Error(trial.error);
    if (trial.stdout !== '2\n') throw new Error(`a trial program printed ${JSON.stringify(trial.stdout + trial.stderr)}`);
    return new ZygoteRunner([...missingNote(python.missing, python.path), ...notes, memoryNote], bare, () =>
      poolOf(options, bwrap, python, options.workers, preloadedModules),
    );
  } catch (error) {
    await bare.close();
    throw error;
  }
}

/** @param firstSlot no two workers of a runner share a slot, and so a user id */
function poolOf(options: RunnerOptions, bwrap: Bubblewrap, python: Python, firstSlot: number, modules: readonly string[]): WorkerPool {
  return new WorkerPool({
    size: options.workers,
    oneShot: false,
    outputBytes: options.outputBytes ?? defaultOutputBytes,
    start: (slot) => PythonWorker.start(bubblewrapCommand(bwrap, python, 'namespaces', firstSlot + slot, modules)),
  });
}

const namesLibrary = new RegExp(`\\b(?:${preloadedModules.join('|')})\\b`);

const sourceOf = ({ code, task }: CodeRequest): string => (task?.kind === 'check' ? [task.prefix, code, task.tests].join('\n') : code);

class ZygoteRunner implements OpenedRunner {
  readonly name = 'bubblewrap';
  #loaded: WorkerPool | undefined;
  #closed = false;

  constructor(
    readonly notes: readonly string[],
    private readonly bare: WorkerPool,
    private readonly openLoaded: () => WorkerPool,
  ) {}

  run(request: CodeRequest, signal?: AbortSignal): Promise<CodeResult> {
    if (this.#closed || !namesLibrary.test(sourceOf(request))) return this.bare.run(request, signal);
    this.#loaded ??= this.openLoaded();
    return this.#loaded.run(request, signal);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([this.bare.close(), this.#loaded?.close()]);
  }
}
