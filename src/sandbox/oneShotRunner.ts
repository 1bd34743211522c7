/**
 * The fallback: a bubblewrap and a fresh Python for each program, where a fork cannot be given namespaces inside a sandbox. Same
 * contract and same limits as the zygote; a program pays for Python's start and its own imports.
 */
import { bubblewrapCommand, findBubblewrap } from './bubblewrap.js';
import { findPython } from './host.js';
import { defaultOutputBytes, memoryNote, missingNote, PooledRunner, type RunnerOptions } from './pooledRunner.js';
import { PythonWorker } from './pythonWorker.js';
import { WorkerPool } from './workerPool.js';

/**
 * Runs one small program to see that it works here.
 * @throws UserError when bubblewrap or Python is missing; Error with the reason when it does not work on this machine.
 */
export async function openOneShotRunner(options: RunnerOptions): Promise<PooledRunner> {
  const [bwrap, python] = await Promise.all([findBubblewrap(), findPython(options.python)]);
  const pool = new WorkerPool({
    size: options.workers,
    oneShot: true,
    outputBytes: options.outputBytes ?? defaultOutputBytes,
    start: (slot) => PythonWorker.start(bubblewrapCommand(bwrap, python, 'fork', slot)),
  });
  const trial = await pool.run({ code: 'print(1 + 1)', timeoutSeconds: 10, memoryMb: 256 });
  if (trial.kind === 'infra' || trial.stdout !== '2\n') {
    await pool.close();
    throw new Error(trial.kind === 'infra' ? trial.error : `a trial program printed ${JSON.stringify(trial.stdout + trial.stderr)}`);
  }
  const notes = [...missingNote(python.missing, python.path), memoryNote];
  if (!bwrap.hasSize) notes.push(`bubblewrap ${bwrap.version} cannot limit the size of /tmp: a program can fill memory with files there`);
  return new PooledRunner('bubblewrap-oneshot', notes, pool);
}
