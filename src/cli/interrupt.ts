/** Ends a command cleanly on SIGINT or SIGTERM: the first asks, the second ends at once. */

/** Thrown into what runs when the user asks to stop. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

/**
 * Ends a command that the user has stopped: says so, exit code 130.
 * @param tell in words of the command's own
 * @throws the error itself where it is another
 */
export function endInterrupted(error: unknown, tell: (message: string) => void = console.error): void {
  if (!(error instanceof Interrupted)) throw error;
  tell(error.message);
  process.exitCode = 130;
}

/** `timeout` and some runners send a signal to a process and to its group: two at once are one wish. */
const ONE_WISH_MS = 500;

/**
 * Runs work under a signal that SIGINT and SIGTERM abort.
 * @param lost what a person should know of what runs, said at the first signal
 */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>, lost = 'the step that runs is given up'): Promise<T> {
  const controller = new AbortController();
  let asked = 0;
  const stop = (name: NodeJS.Signals): void => {
    if (controller.signal.aborted) {
      if (performance.now() - asked > ONE_WISH_MS) process.exit(130);
      return;
    }
    asked = performance.now();
    process.stderr.write(`\n${name}: stopping; ${lost}. Once more to end at once.\n`);
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
