/** Starts and ends the thread that keeps a session alive: see `heartbeatWorker.mjs`. */
import { Worker } from 'node:worker_threads';

export interface HeartbeatOptions {
  /** Address of `session_heartbeat`. */
  readonly url: string;
  readonly key?: string | undefined;
  readonly sessionId: string;
  readonly everyMs: number;
  /** A server that answers nothing for so long is given up, milliseconds. */
  readonly silenceMs: number;
  readonly onDropped: () => void;
  /** @param seconds how long it has been silent */
  readonly onSilent: (seconds: number) => void;
}

/** @returns ends it */
export function startHeartbeat(options: HeartbeatOptions): () => Promise<void> {
  const { url, key, sessionId, everyMs, silenceMs } = options;
  const worker = new Worker(new URL('./heartbeatWorker.mjs', import.meta.url), {
    workerData: {
      url,
      headers: { 'content-type': 'application/json', ...(key !== undefined && { 'x-api-key': key }) },
      body: JSON.stringify({ session_id: sessionId, type: 'session_heartbeat' }),
      everyMs,
      silenceMs,
    },
  });
  worker.unref();
  worker.on('message', (message: { kind: 'dropped' } | { kind: 'silent'; seconds: number }) => {
    if (message.kind === 'dropped') options.onDropped();
    else options.onSilent(message.seconds);
  });
  worker.on('error', () => options.onDropped());
  return async () => {
    worker.removeAllListeners();
    await worker.terminate();
  };
}
