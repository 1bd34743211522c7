/**
 * HTTP to an OpenAI-compatible endpoint: a bounded number of requests at once, patience where it is busy, no time-out that could cut a long
 * generation. Does not know what is asked.
 *
 * A request is sent again only where no answer can have begun: the connection was never made, or the server said 429 or 5xx. One that broke
 * later fails, so that nothing is generated twice unseen. The key never goes over plain http to another machine, never along a redirect, and
 * never into a message.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit, { type LimitFunction } from 'p-limit';
import { Agent, request } from 'undici';
import { EngineError } from './engineError.js';
import { checkAddress } from './transport.js';

export interface OpenAiClientOptions {
  /** Up to and with the version, for example `https://host/v1`. */
  readonly url: string;
  readonly key?: string | undefined;
  /** Requests in flight at once. Default 32. */
  readonly concurrency?: number | undefined;
  /** Times that one request is sent while the server is busy. Default 8. */
  readonly attempts?: number | undefined;
  /** Seconds of the first pause; each further one is up to twice as long. Default 0.5. */
  readonly firstPause?: number | undefined;
  /** In [0, 1): spreads the pauses. Default: Math.random. */
  readonly jitter?: () => number;
  /** Waits so many seconds, or until the signal is aborted. */
  readonly pause?: (seconds: number, signal?: AbortSignal) => Promise<void>;
  /** Told before each pause: why, and how many seconds it takes. */
  readonly onBusy?: ((why: string, seconds: number) => void) | undefined;
}

export interface OpenAiAnswer {
  readonly status: number;
  /** Parsed JSON; the text itself where it is none. */
  readonly body: unknown;
}

const LONGEST_PAUSE = 60;
/** What a server asks for is honoured up to here, seconds. */
const LONGEST_RETRY_AFTER = 600;
const NOT_CONNECTED: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

export class OpenAiClient {
  readonly url: string;
  readonly #key: string | undefined;
  readonly #limit: LimitFunction;
  readonly #agent: Agent;

  /** @throws UserError for an address that is no URL, or one to which the key must not be sent */
  constructor(private readonly options: OpenAiClientOptions) {
    this.url = checkAddress(options.url, options.key, 'the endpoint');
    this.#key = options.key;
    const concurrency = options.concurrency ?? 32;
    this.#limit = pLimit(concurrency);
    this.#agent = new Agent({ headersTimeout: 0, bodyTimeout: 0, connections: concurrency, pipelining: 1 });
  }

  get(path: string, signal?: AbortSignal, within?: number): Promise<OpenAiAnswer> {
    return this.#limit(() => this.#patiently('GET', path, null, signal, within));
  }

  /**
   * @param within seconds for one try, pauses between tries not counted; left out: as long as it takes
   * @returns whatever the server decides, refusals included
   * @throws EngineError (connection) when it cannot be reached or breaks off, (server) when it stays busy; the signal's reason
   */
  post(path: string, body: unknown, signal?: AbortSignal, within?: number): Promise<OpenAiAnswer> {
    return this.#limit(() => this.#patiently('POST', path, JSON.stringify(body), signal, within));
  }

  /** A message of the server's, fit to be shown: short, and without the key. */
  messageOf(body: unknown): string {
    const inner = typeof body === 'object' && body !== null ? ((body as { error?: unknown }).error ?? body) : body;
    const text = typeof inner === 'string' ? inner : ((inner as { message?: unknown } | null)?.message ?? JSON.stringify(inner));
    return this.#clean(String(text)).replace(/\s+/g, ' ').trim().slice(0, 300);
  }

  async close(): Promise<void> {
    this.#limit.clearQueue();
    await this.#agent.destroy();
  }

  async #patiently(
    method: 'GET' | 'POST',
    path: string,
    body: string | null,
    signal: AbortSignal | undefined,
    within: number | undefined,
  ): Promise<OpenAiAnswer> {
    const { attempts = 8, firstPause = 0.5, jitter = Math.random, pause = wait, onBusy } = this.options;
    for (let attempt = 1; ; attempt++) {
      signal?.throwIfAborted();
      const tried = await this.#once(method, path, body, signal, within);
      if (tried.kind === 'answer') return tried.answer;
      if (attempt >= attempts) throw tried.error;
      const growing = Math.min(firstPause * 2 ** (attempt - 1), LONGEST_PAUSE) * (0.5 + jitter() / 2);
      const seconds = Math.max(growing, Math.min(tried.retryAfter ?? 0, LONGEST_RETRY_AFTER));
      onBusy?.(tried.error.message, seconds);
      await pause(seconds, signal);
    }
  }

  async #once(
    method: 'GET' | 'POST',
    path: string,
    body: string | null,
    signal: AbortSignal | undefined,
    within: number | undefined,
  ): Promise<{ kind: 'answer'; answer: OpenAiAnswer } | { kind: 'busy'; error: EngineError; retryAfter?: number }> {
    const late = within === undefined ? undefined : AbortSignal.timeout(within * 1000);
    const ends = [signal, late].filter((end) => end !== undefined);
    try {
      const answer = await request(`${this.url}/${path}`, {
        method,
        headers: {
          accept: 'application/json',
          ...(body !== null && { 'content-type': 'application/json' }),
          ...(this.#key !== undefined && { authorization: `Bearer ${this.#key}` }),
        },
        body,
        dispatcher: this.#agent,
        ...(ends.length > 0 && { signal: AbortSignal.any(ends) }),
      });
      const { statusCode: status, headers } = answer;
      const content = parse(await answer.body.text());
      if (status >= 300 && status < 400)
        throw new EngineError('user', `${this.url} answers with a redirect, which is not followed; give its final address`, status);
      if (status !== 429 && status < 500) return { kind: 'answer', answer: { status, body: content } };
      const error = new EngineError('server', `${this.url} answers HTTP ${status}: ${this.messageOf(content)}`, status);
      const retryAfter = secondsOf(headers['retry-after']);
      return { kind: 'busy', error, ...(retryAfter !== undefined && { retryAfter }) };
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (error instanceof EngineError) throw error;
      if (late?.aborted) throw new EngineError('connection', `${this.url} gave no answer within ${within} s`);
      const { code = '', message } = error as NodeJS.ErrnoException;
      const failure = new EngineError('connection', `cannot reach ${this.url}: ${this.#clean(message || code)}`);
      if (NOT_CONNECTED.has(code)) return { kind: 'busy', error: failure };
      throw new EngineError(
        'connection',
        `the connection to ${this.url} broke after the request was sent: ${this.#clean(message || code)}`,
      );
    }
  }

  #clean(text: string): string {
    return this.#key === undefined || this.#key === '' ? text : text.replaceAll(this.#key, '***');
  }
}

const wait = (seconds: number, signal?: AbortSignal): Promise<void> =>
  sleep(seconds * 1000, undefined, signal ? { signal } : {}).catch(() => signal?.throwIfAborted());

/** Seconds, or a date. */
function secondsOf(value: string | string[] | undefined): number | undefined {
  if (typeof value !== 'string') return undefined;
  const seconds = /^\s*\d+(\.\d+)?\s*$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000;
  return Number.isFinite(seconds) && seconds > 0 ? seconds : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
