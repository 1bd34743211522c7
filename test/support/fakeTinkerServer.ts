/** A Tinker server for tests whose every answer is chosen by the test. Keeps what it was sent, in order of arrival. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Received {
  readonly path: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies freely
  readonly body: any;
  readonly text: string;
  readonly headers: IncomingHttpHeaders;
}

export type Reply =
  | {
      readonly status?: number;
      readonly body?: unknown;
      readonly bytes?: Uint8Array;
      readonly headers?: Record<string, string>;
      readonly afterMs?: number;
    }
  /** The connection is cut. */
  | 'drop'
  /** No answer at all. */
  | 'never';

export interface FakeServer {
  readonly url: string;
  readonly received: Received[];
  /** Requests to one endpoint. */
  to(path: string): Received[];
  /** Answers of an endpoint, used in turn; the last one stays. A function is asked each time. */
  on(path: string, ...replies: (Reply | ((request: Received) => Reply))[]): void;
  close(): Promise<void>;
}

/** Answers sessions, models and futures by itself: a future resolves to `results[endpoint]`. */
export async function startFakeServer(results: Readonly<Record<string, unknown>> = {}, toolwise?: object): Promise<FakeServer> {
  const received: Received[] = [];
  const scripts = new Map<string, (Reply | ((request: Received) => Reply))[]>();
  const futures: string[] = [];
  const otherwise = (path: string, body: { request_id?: string }): Reply => {
    if (path === 'get_server_capabilities') return { body: { supported_models: [{ model_name: 'tiny' }], ...(toolwise && { toolwise }) } };
    if (path === 'create_session') return { body: { session_id: 's1' } };
    if (path === 'session_heartbeat') return { body: { type: 'session_heartbeat' } };
    if (path === 'create_sampling_session') return { body: { sampling_session_id: 'sampler1' } };
    if (path === 'retrieve_future') {
      const endpoint = futures[Number(body.request_id)]!;
      return { body: results[endpoint] ?? (endpoint === 'create_model' ? { model_id: 'm1' } : {}) };
    }
    futures.push(path);
    return { body: { request_id: String(futures.length - 1) } };
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const path = (request.url ?? '').replace('/api/v1/', '');
    const entry: Received = {
      path,
      text,
      body: text === '' || !String(request.headers['content-type']).startsWith('application/json') ? {} : JSON.parse(text),
      headers: request.headers,
    };
    received.push(entry);
    const script = scripts.get(path);
    const next = script === undefined ? undefined : script.length > 1 ? script.shift() : script[0];
    await answer(response, (typeof next === 'function' ? next(entry) : next) ?? otherwise(path, entry.body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    to: (path) => received.filter((entry) => entry.path === path),
    on: (path, ...replies) => void scripts.set(path, replies),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answer(response: ServerResponse, reply: Reply): Promise<void> {
  if (reply === 'never') return;
  if (reply === 'drop') {
    response.socket?.destroy();
    return;
  }
  if (reply.afterMs !== undefined) await sleep(reply.afterMs);
  response.writeHead(reply.status ?? 200, { 'content-type': 'application/json', ...reply.headers });
  if (reply.bytes !== undefined) return void response.end(reply.bytes);
  response.end(typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body ?? {}));
}
