/**
 * The recording endpoint: each open rollout has an OpenAI-compatible endpoint of its own at `/rollouts/ID/v1`, and takes its answer at
 * `/rollouts/ID/end`. On 127.0.0.1 only; each rollout has a key; pages in a browser are refused. Does not run agents.
 */
import { randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import { sameSecret } from '../access.js';
import type { CompletionSettings } from '../completions/complete.js';
import { answerChat, jsonResponse, readBody, refusalResponse } from '../completions/http.js';
import type { Refusal } from '../completions/refusal.js';
import type { AgentAnswer } from './agent.js';
import { readAnswer } from './agent.js';
import type { Recording } from './recording.js';

/** Of one request: a long conversation with tool results fits. */
const MAX_CALL_BYTES = 16 * 2 ** 20;
const MAX_ANSWER_BYTES = 2 ** 20;
/** Answers on their way have so long when the endpoint closes. */
const LAST_ANSWERS_MS = 1_000;
/** Ended rollouts that are still told apart from those that never were. */
const REMEMBERED = 100_000;

/** What a posted end says. */
export type Posted =
  | { readonly kind: 'answer'; readonly answer: Exclude<AgentAnswer, string> }
  | { readonly kind: 'error'; readonly error: string };

export interface OpenedRollout {
  /** `http://127.0.0.1:PORT/rollouts/ID`. */
  readonly url: string;
  readonly baseUrl: string;
  readonly apiKey: string;
  /** The endpoint answers no more. */
  close(): void;
}

interface OpenRollout {
  readonly key: string;
  readonly modelId: string;
  readonly recording: Recording;
  readonly settings: Pick<CompletionSettings, 'sampler' | 'format'>;
  readonly onEnd: (posted: Posted) => void;
  ended: boolean;
}

export class AgentServer {
  readonly #server: Server;
  readonly #open = new Map<string, OpenRollout>();
  readonly #past = new Set<string>();
  readonly #onFailure: (text: string) => void;

  private constructor(onFailure: (text: string) => void) {
    this.#onFailure = onFailure;
    this.#server = createAdaptorServer({ fetch: this.#app().fetch }) as Server;
  }

  /** @param onFailure told what failed in here while answering */
  static async open(onFailure: (text: string) => void): Promise<AgentServer> {
    const opened = new AgentServer(onFailure);
    await new Promise<void>((resolve, reject) => {
      opened.#server.once('error', reject);
      opened.#server.listen(0, '127.0.0.1', resolve);
    });
    return opened;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** @param onEnd told what is posted as the rollout's end, once */
  rollout(rollout: Omit<OpenRollout, 'key' | 'ended'>): OpenedRollout {
    const id = randomBytes(9).toString('base64url');
    const apiKey = `rollout-${randomBytes(18).toString('base64url')}`;
    this.#open.set(id, { ...rollout, key: apiKey, ended: false });
    const url = `http://127.0.0.1:${this.port}/rollouts/${id}`;
    return {
      ...{ url, apiKey, baseUrl: `${url}/v1` },
      close: () => {
        if (!this.#open.delete(id)) return;
        this.#past.add(id);
        if (this.#past.size > REMEMBERED) this.#past.delete(this.#past.values().next().value!);
      },
    };
  }

  /** What is being answered is waited for a moment. */
  async close(): Promise<void> {
    this.#open.clear();
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => this.#server.closeAllConnections(), LAST_ANSWERS_MS);
      this.#server.close(() => {
        clearTimeout(timer);
        resolve();
      });
      this.#server.closeIdleConnections();
    });
  }

  #app(): Hono {
    const app = new Hono();
    app.use(async (context, next) => {
      const host = context.req.header('host') ?? '';
      if (!/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(host)) return refuse(403, 'this endpoint answers to its own address only');
      if (context.req.header('origin') !== undefined) return refuse(403, 'this endpoint takes no requests of pages in a browser');
      return next();
    });
    app.use('/rollouts/:id/*', async (context, next) => {
      const found = this.#find(context.req.param('id'), context.req.raw);
      return found instanceof Response ? found : next();
    });
    app.post('/rollouts/:id/v1/chat/completions', (context) => {
      const { recording, settings } = this.#open.get(context.req.param('id'))!;
      return answerChat(context.req.raw, {
        settings: settings as CompletionSettings,
        complete: (call, options) => recording.answer(call, options),
        maxBodyBytes: MAX_CALL_BYTES,
        onFailure: (error) => {
          if (!recording.closed) this.#onFailure(error instanceof Error ? error.message : String(error));
        },
      });
    });
    app.get('/rollouts/:id/v1/models', (context) => {
      const { modelId } = this.#open.get(context.req.param('id'))!;
      return jsonResponse({ object: 'list', data: [{ id: modelId, object: 'model', created: 0, owned_by: 'toolwise' }] });
    });
    app.post('/rollouts/:id/v1/responses', () => refuse(404, 'the Responses API is not offered: use chat completions', 'not_found'));
    app.post('/rollouts/:id/end', (context) => this.#end(context.req.param('id'), context.req.raw));
    app.notFound(({ req }) => refuse(404, `there is nothing at ${req.method} ${req.path}`, 'not_found'));
    app.onError((error) => {
      this.#onFailure(error.message);
      return refuse(500, 'the endpoint failed', 'server_error');
    });
    return app;
  }

  #find(id: string, request: Request): OpenRollout | Response {
    const rollout = this.#open.get(id);
    if (rollout === undefined) {
      return this.#past.has(id)
        ? refuse(410, 'this rollout has ended', 'rollout_ended')
        : refuse(404, 'there is no such rollout', 'not_found');
    }
    const given = /^Bearer\s+(.+)$/i.exec(request.headers.get('authorization') ?? '')?.[1] ?? '';
    if (!sameSecret(given, rollout.key)) return refuse(401, "the key is not this rollout's", 'invalid_api_key');
    return rollout;
  }

  async #end(id: string, request: Request): Promise<Response> {
    const read = await readBody(request, MAX_ANSWER_BYTES);
    if (read.kind === 'refused') return refusalResponse(read.refusal);
    const posted = postedIn(read.value);
    if (posted.kind === 'bad') return refuse(400, `the body ${posted.problem}`);
    // It may have ended while the body was read.
    const rollout = this.#open.get(id);
    if (rollout === undefined) return refuse(410, 'this rollout has ended', 'rollout_ended');
    if (rollout.ended) return refuse(409, 'this rollout has its end already; the first one stands', 'ended_already');
    rollout.ended = true;
    rollout.onEnd(posted);
    return jsonResponse({ ended: true });
  }
}

function postedIn(value: unknown): Posted | { readonly kind: 'bad'; readonly problem: string } {
  const error = typeof value === 'object' && value !== null ? (value as { readonly error?: unknown }).error : undefined;
  if (typeof error === 'string') return { kind: 'error', error };
  return readAnswer(value);
}

const TYPES: Readonly<Record<number, string>> = { 401: 'authentication_error', 403: 'permission_error', 500: 'server_error' };

function refuse(status: number, message: string, code?: string): Response {
  const refusal: Refusal = { status, type: TYPES[status] ?? 'invalid_request_error', message, ...(code !== undefined && { code }) };
  return refusalResponse(refusal);
}
