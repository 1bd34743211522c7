/** Ends a command cleanly on SIGINT or SIGTERM: the first asks, the second ends at once. */

/** Thrown into what runs when the user asks to stop. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

/** Runs work under a signal that SIGINT and SIGTERM abort. */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const stop = (name: NodeJS.Signals): void => {
    if (controller.signal.aborted) process.exit(130);
    process.stderr.write(`\n${name}: stopping; the step that runs is given up. Once more to end at once.\n`);
    controller.abort(new Interrupted(`stopped by ${name}`));
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  try {
    return await work(controller.signal);
  } finally {
    process.off('SIGINT', stop);
    process.off('SIGTERM', stop);
  }
}
