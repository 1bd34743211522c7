/**
 * A Tinker server that answers as a real one did: it knows the exchanges that were recorded, and nothing else. A request that is not among
 * them, byte for byte, is answered 501. The recorder stands between a client and the real server. Neither knows what the exchanges mean.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** `proto`: a message in base64. The base model's name is `MODEL` in all of them. */
interface Exchange {
  readonly request: { readonly method: string; readonly path: string; readonly json?: unknown; readonly proto?: string };
  readonly response: { readonly status: number; readonly json?: unknown; readonly proto?: string };
}

export interface ReplayServer {
  readonly url: string;
  close(): Promise<void>;
}

export const RECORDED_MODEL = 'MODEL';
const PROTO = 'application/x-protobuf';
const HEARTBEAT = '/api/v1/session_heartbeat';

/** Exchanges with the same request are answered in the order in which they were recorded; the last one stays. */
export async function startReplay(file: string): Promise<ReplayServer> {
  const answers = new Map<string, Exchange['response'][]>();
  for (const { request, response } of JSON.parse(readFileSync(file, 'utf8')) as Exchange[]) {
    const key = JSON.stringify(request);
    answers.set(key, [...(answers.get(key) ?? []), response]);
  }
  return serve(async (request, body, response) => {
    if (request.url === HEARTBEAT) return send(response, { status: 200, json: { type: 'session_heartbeat' } });
    const asked = requestOf(request, body, RECORDED_MODEL);
    const known = answers.get(JSON.stringify(asked));
    const detail = `not recorded, record anew: ${JSON.stringify(asked).slice(0, 400)}`;
    send(response, (known !== undefined && known.length > 1 ? known.shift() : known?.[0]) ?? { status: 501, json: { detail } });
  });
}

/** Passes everything on to a real server, and writes what was said to a file when it is closed. Heartbeats are left out. */
export async function startRecorder(target: string, file: string, model: string): Promise<ReplayServer> {
  const exchanges: Exchange[] = [];
  const recorder = await serve(async (request, body, response) => {
    const { 'content-type': type, accept } = request.headers;
    const answer = await fetch(`${target}${request.url}`, {
      method: request.method!,
      headers: { ...(type !== undefined && { 'content-type': type }), ...(accept !== undefined && { accept }) },
      ...(body.length > 0 && { body: new Uint8Array(body) }),
    });
    const content = Buffer.from(await answer.arrayBuffer());
    const said = contentOf(answer.headers.get('content-type') ?? '', content, model);
    if (request.url !== HEARTBEAT) {
      exchanges.push({ request: requestOf(request, body, model), response: { status: answer.status, ...said } });
    }
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'application/json' }).end(content);
  });
  const close = async (): Promise<void> => {
    await recorder.close();
    writeFileSync(file, `[\n${exchanges.map((exchange) => JSON.stringify(exchange)).join(',\n')}\n]\n`);
  };
  return { url: recorder.url, close };
}

const requestOf = (request: IncomingMessage, body: Buffer, model: string): Exchange['request'] => ({
  method: request.method!,
  path: request.url!,
  ...contentOf(request.headers['content-type'] ?? '', body, model),
});

function contentOf(type: string, content: Buffer, model: string): { json?: unknown; proto?: string } {
  if (content.length === 0) return {};
  if (type.startsWith(PROTO)) return { proto: content.toString('base64') };
  return { json: JSON.parse(content.toString().replaceAll(JSON.stringify(model), JSON.stringify(RECORDED_MODEL))) as unknown };
}

function send(response: ServerResponse, { status, json, proto }: Exchange['response']): void {
  response.writeHead(status, { 'content-type': proto === undefined ? 'application/json' : PROTO });
  response.end(proto === undefined ? JSON.stringify(json) : Buffer.from(proto, 'base64')); // No content at all where neither was recorded.
}

async function serve(handle: (request: IncomingMessage, body: Buffer, response: ServerResponse) => Promise<void>): Promise<ReplayServer> {
  const server: Server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    await handle(request, Buffer.concat(chunks), response).catch((error: unknown) => response.writeHead(502).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
