/**
 * HTTP to one engine: JSON or protobuf out and in, over kept-alive connections without a time-out that could cut a long generation. Does not retry
 * and does not know the protocol above it: an HTTP status is returned, not thrown.
 *
 * A key never leaves over plain http to another machine, nor along a redirect.
 */
import { Agent, request } from 'undici';
import { hostName, isLoopback } from '../access.js';
import { UserError } from '../userError.js';
import { EngineError } from './engineError.js';
import { PROTO_TYPE } from './protoCodec.js';

export interface HttpAnswer {
  readonly status: number;
  /** Parsed JSON; the bytes of a protobuf message; the text itself where it is neither. */
  readonly body: unknown;
  /** Seconds that a `retry-after` header asks for. */
  readonly retryAfter?: number;
}

/** A call could not be made or its connection broke: nobody knows whether the engine saw it. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
}

export interface Transport {
  readonly url: string;
  /** @throws ConnectionLost; the signal's reason when it is aborted */
  get(path: string, signal: AbortSignal): Promise<HttpAnswer>;
  /** `body` is JSON text or a protobuf message. */
  post(path: string, body: string | Uint8Array, signal: AbortSignal, options?: PostOptions): Promise<HttpAnswer>;
  /** The lines of an answer that stays open, each as JSON; where it is refused, the answer. To stop reading closes the connection. */
  lines(path: string, body: string, signal: AbortSignal): AsyncGenerator<unknown, HttpAnswer | undefined>;
  delete(path: string, signal: AbortSignal): Promise<HttpAnswer>;
  close(): Promise<void>;
}

export interface PostOptions {
  /** Calls that may be held open for long go another way than short ones, so that they cannot block these. */
  readonly longPoll?: boolean;
  /** Take protobuf where the server has it. */
  readonly acceptProto?: boolean;
  /** Requests of one conversation carry one name, by which a router may send them to the machine that knows its beginning. */
  readonly conversation?: string;
}

const MAX_CONNECTIONS = 512;
/** An answer beyond this is refused before it can take the memory of the machine. */
const MAX_ANSWER_BYTES = 2 ** 30;

/** @throws UserError for an address that is no URL, or one to which the key must not be sent */
export function openTransport(address: string, key?: string): Transport {
  const base = checkAddress(address, key);
  const unlimited = { headersTimeout: 0, bodyTimeout: 0, pipelining: 1, keepAliveTimeout: 30_000 } as const;
  const short = new Agent({ ...unlimited, connections: 64 });
  const long = new Agent({ ...unlimited, connections: MAX_CONNECTIONS });
  const headers: Record<string, string> = { accept: 'application/json', ...(key === undefined ? {} : { 'x-api-key': key }) };

  const call = async (
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    body: string | Uint8Array | null,
    signal: AbortSignal,
    agent: Agent,
    options: PostOptions = {},
  ): Promise<HttpAnswer> => {
    try {
      const answer = await request(`${base}/api/v1/${path}`, {
        method,
        headers: {
          ...headers,
          ...(body !== null && { 'content-type': typeof body === 'string' ? 'application/json' : PROTO_TYPE }),
          ...(options.acceptProto && { accept: PROTO_TYPE }),
          ...(options.conversation !== undefined && { 'x-session-id': options.conversation }),
        },
        body,
        signal,
        dispatcher: agent,
      });
      const content = await readWhole(answer.body, base);
      if (answer.statusCode >= 300 && answer.statusCode < 400) {
        throw new EngineError('user', `${base} answers with a redirect, which is not followed; give its final address`, answer.statusCode);
      }
      const retryAfter = Number(answer.headers['retry-after']);
      return {
        status: answer.statusCode,
        body: isProto(answer.headers['content-type']) ? content : parse(content.toString('utf8')),
        ...(retryAfter > 0 ? { retryAfter } : {}),
      };
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof EngineError) throw error;
      throw new ConnectionLost(`cannot reach the engine at ${base}: ${(error as Error).message}`, { cause: error });
    }
  };

  async function* lines(path: string, body: string, signal: AbortSignal): AsyncGenerator<unknown, HttpAnswer | undefined> {
    try {
      const sent = { ...headers, 'content-type': 'application/json' };
      const answer = await request(`${base}/api/v1/${path}`, { method: 'POST', headers: sent, body, signal, dispatcher: long });
      if (answer.statusCode !== 200) {
        return { status: answer.statusCode, body: parse((await readWhole(answer.body, base)).toString('utf8')) };
      }
      let rest = '';
      const decoder = new TextDecoder();
      for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
        rest += decoder.decode(chunk, { stream: true });
        if (rest.length > MAX_ANSWER_BYTES) throw new EngineError('server', `${base} gave a line of more than ${MAX_ANSWER_BYTES} bytes`);
        for (let end = rest.indexOf('\n'); end !== -1; end = rest.indexOf('\n')) {
          const line = rest.slice(0, end);
          rest = rest.slice(end + 1);
          yield parse(line);
        }
      }
      return undefined;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof EngineError) throw error;
      throw new ConnectionLost(`cannot reach the engine at ${base}: ${(error as Error).message}`, { cause: error });
    }
  }

  return {
    url: base,
    lines,
    get: (path, signal) => call('GET', path, null, signal, short),
    post: (path, body, signal, options) => call('POST', path, body, signal, options?.longPoll ? long : short, options),
    delete: (path, signal) => call('DELETE', path, null, signal, short),
    close: async () => {
      await Promise.all([short.destroy(), long.destroy()]);
    },
  };
}

/**
 * @param what whose address it is, for messages
 * @throws UserError for an address that is no URL, or one to which the key must not be sent
 */
export function checkAddress(address: string, key: string | undefined, what = 'the engine'): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new UserError(`${what}'s address ${JSON.stringify(address)} is not an http or https URL`, 'For example https://host:8000');
  }
  if (url.username !== '' || url.password !== '') {
    throw new UserError(`${what}'s address holds a user name or password`, 'Give the key apart from the address.');
  }
  if (key !== undefined && url.protocol === 'http:' && !isLoopback(hostName(url.hostname))) {
    throw new UserError(`the key is not sent over plain http to ${url.hostname}`, 'Use https, or a tunnel that ends on this machine.');
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

const isProto = (type: string | string[] | undefined): boolean => String(type ?? '').startsWith(PROTO_TYPE);

async function readWhole(body: AsyncIterable<Uint8Array>, base: string): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new EngineError('server', `${base} gave an answer of more than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
