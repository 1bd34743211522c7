/** Work with a time limit. Does not retry; what does not listen to its signal goes on in the background. */
import { untilAborted } from '../tools/callTool.js';

export class TimeLimit extends Error {
  override readonly name = 'TimeLimit';
}

export interface Limited<T> {
  /** Rejects with a `TimeLimit`, or with the signal's reason, as soon as either comes. */
  readonly result: Promise<T>;
  /** What the work comes to, however late. */
  readonly late: Promise<T>;
}

/** @param work told a signal of its own, which ends with the time or with `signal` */
export function withinSeconds<T>(seconds: number, signal: AbortSignal, work: (own: AbortSignal) => T | Promise<T>): Limited<T> {
  const own = new AbortController();
  const stop = (): void => own.abort(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  const timer = setTimeout(() => own.abort(new TimeLimit(`it took longer than ${seconds} s`)), seconds * 1000);
  const late = (async () => {
    own.signal.throwIfAborted();
    return work(own.signal);
  })();
  const result = untilAborted(late, own.signal).finally(() => {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  });
  late.catch(() => undefined);
  return { result, late };
}
