/**
 * The sandbox of choice: Pythons with numpy and sympy loaded, inside bubblewrap, each of which forks once a program and gives the fork
 * namespaces, mounts, a system call filter and limits of its own. A few milliseconds a program.
 */
import { bubblewrapCommand, findBubblewrap } from './bubblewrap.js';
import { findPython } from './host.js';
import { defaultOutputBytes, memoryNote, missingNote, PooledRunner, type RunnerOptions } from './pooledRunner.js';
import { PythonWorker } from './pythonWorker.js';
import { WorkerPool } from './workerPool.js';

/**
 * Starts the pool and runs one small program to see that forking with namespaces works here.
 * @throws UserError when bubblewrap or Python is missing; Error with the reason when it does not work on this machine.
 */
export async function openZygoteRunner(options: RunnerOptions): Promise<PooledRunner> {
  const [bwrap, python] = await Promise.all([findBubblewrap(), findPython(options.python)]);
  const pool = new WorkerPool({
    size: options.workers,
    oneShot: false,
    outputBytes: options.outputBytes ?? defaultOutputBytes,
    start: (slot) => PythonWorker.start(bubblewrapCommand(bwrap, python, 'namespaces', slot)),
  });
  try {
    const { notes } = await (await pool.warm()).notes();
    const trial = await pool.run({ code: 'print(1 + 1)', timeoutSeconds: 10, memoryMb: 256 });
    if (trial.kind === 'infra') throw new Error(trial.error);
    if (trial.stdout !== '2\n') throw new Error(`a trial program printed ${JSON.stringify(trial.stdout + trial.stderr)}`);
    return new PooledRunner(
      'bubblewrap',
      [...missingNote(python.missing, python.path), ...notes.filter((note) => !note.includes('not loaded')), memoryNote],
      pool,
    );
  } catch (error) {
    await pool.close();
    throw error;
  }
}
