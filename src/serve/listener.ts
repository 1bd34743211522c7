/** A web handler behind a socket, with a graceful end. Knows nothing of what is asked. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAdaptorServer } from '@hono/node-server';
import { UserError } from '../userError.js';

export interface Listener {
  /** `http://HOST:PORT`. */
  readonly url: string;
  /** Takes no more, lets what runs end for a while, then aborts `ending` and cuts the connections. */
  close(ending: AbortController, graceMs?: number): Promise<void>;
}

/** How long what runs may go on once the server ends. */
const GRACE_MS = 3_000;
const KEEP_MS = 75_000;

/** @throws UserError where nothing can listen there */
export async function listen(fetch: (request: Request) => Response | Promise<Response>, host: string, port: number): Promise<Listener> {
  const server = createAdaptorServer({ fetch }) as Server;
  // Clients keep their connections for longer than Node's 5 s.
  server.keepAliveTimeout = KEEP_MS;
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, resolve);
    });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') throw new UserError(`port ${port} of ${host} is in use`, 'Take another with --port, or 0 for any free one.');
    throw new UserError(`the server cannot listen on ${host}:${port}: ${message}`);
  }
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`,
    close: (ending, graceMs = GRACE_MS) => end(server, ending, graceMs),
  };
}

async function end(server: Server, ending: AbortController, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const inTime = new AbortController();
  await Promise.race([closed, sleep(graceMs, undefined, { signal: inTime.signal }).catch(() => undefined)]);
  inTime.abort();
  ending.abort(new Error('the server ends'));
  server.closeAllConnections();
  await closed;
}
