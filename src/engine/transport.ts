/**
 * HTTP to one engine: JSON out, JSON in, over kept-alive connections without a time-out that could cut a long generation. Does not retry
 * and does not know the protocol above it: an HTTP status is returned, not thrown.
 *
 * A key never leaves over plain http to another machine, nor along a redirect.
 */
import { Agent, request } from 'undici';
import { UserError } from '../userError.js';
import { EngineError } from './engineError.js';

export interface HttpAnswer {
  readonly status: number;
  /** Parsed JSON; the text itself where it is none. */
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
  /** `body` is JSON text. Calls that may be held open for long go another way than short ones, so that they cannot block these. */
  post(path: string, body: string, signal: AbortSignal, options?: { readonly longPoll?: boolean }): Promise<HttpAnswer>;
  close(): Promise<void>;
}

const MAX_CONNECTIONS = 512;

/** @throws UserError for an address that is no URL, or one to which the key must not be sent */
export function openTransport(address: string, key?: string): Transport {
  const base = checkAddress(address, key);
  const unlimited = { headersTimeout: 0, bodyTimeout: 0, pipelining: 1, keepAliveTimeout: 30_000 } as const;
  const short = new Agent({ ...unlimited, connections: 64 });
  const long = new Agent({ ...unlimited, connections: MAX_CONNECTIONS });
  const headers: Record<string, string> = { accept: 'application/json', ...(key === undefined ? {} : { 'x-api-key': key }) };

  const call = async (
    method: 'GET' | 'POST',
    path: string,
    body: string | null,
    signal: AbortSignal,
    agent: Agent,
  ): Promise<HttpAnswer> => {
    try {
      const answer = await request(`${base}/api/v1/${path}`, {
        method,
        headers: body === null ? headers : { ...headers, 'content-type': 'application/json' },
        body,
        signal,
        dispatcher: agent,
      });
      const text = await answer.body.text();
      if (answer.statusCode >= 300 && answer.statusCode < 400) {
        throw new EngineError('user', `${base} answers with a redirect, which is not followed; give its final address`, answer.statusCode);
      }
      const retryAfter = Number(answer.headers['retry-after']);
      return { status: answer.statusCode, body: parse(text), ...(retryAfter > 0 ? { retryAfter } : {}) };
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof EngineError) throw error;
      throw new ConnectionLost(`cannot reach the engine at ${base}: ${(error as Error).message}`, { cause: error });
    }
  };

  return {
    url: base,
    get: (path, signal) => call('GET', path, null, signal, short),
    post: (path, body, signal, options) => call('POST', path, body, signal, options?.longPoll ? long : short),
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
  if (key !== undefined && url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw new UserError(`the key is not sent over plain http to ${url.hostname}`, 'Use https, or a tunnel that ends on this machine.');
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

const isLoopback = (host: string): boolean => host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
