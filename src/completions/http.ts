/**
 * `POST chat/completions` from a web Request to a web Response, whole or as server-sent events. Checks the body; who may ask, how many at
 * once, and which models there are is the server's business.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { EngineError } from '../engine/engineError.js';
import type { SamplePart } from '../engine/sampler.js';
import type { ChatCall } from './chatCall.js';
import { type CompleteOptions, type CompletionOutcome, type CompletionSettings, complete, newCompletionId } from './complete.js';
import { invalid, type Refusal, refusalBody } from './refusal.js';
import { type ReadCall, readChatCall } from './request.js';
import { type ChunkChoice, wireChunk, wireCompletion, wireDelta, wireLogProbs, wireUsage } from './response.js';
import type { AnswerDelta } from './turnStream.js';

export interface ChatHandlerOptions {
  readonly settings: CompletionSettings;
  /** Looks at a call before it is answered: may change it, or refuse it. */
  readonly prepare?: (call: ChatCall) => ReadCall;
  /** Answers it; default `complete`. Wrap that to record what came of it. */
  readonly complete?: (call: ChatCall, options: CompleteOptions) => Promise<CompletionOutcome>;
  /** Default 16 MiB. */
  readonly maxBodyBytes?: number;
  /** Told a failure that is not the client's, once. */
  readonly onFailure?: (error: unknown) => void;
}

const MAX_BODY = 16 * 2 ** 20;
const MAX_DEPTH = 64;
/** A stream's head is sent after so long, or with its first token: until then a failure has a status of its own. */
const HEAD_MS = 250;

export async function answerChat(request: Request, options: ChatHandlerOptions): Promise<Response> {
  const read = await readBody(request, options.maxBodyBytes ?? MAX_BODY);
  if (read.kind === 'refused') return refusalResponse(read.refusal);
  const asked = readChatCall(read.value);
  const prepared = asked.kind === 'call' && options.prepare ? options.prepare(asked.call) : asked;
  if (prepared.kind === 'refused') return refusalResponse(prepared.refusal);
  const { call } = prepared;
  const answer = options.complete ?? ((asked: ChatCall, how: CompleteOptions) => complete(asked, options.settings, how));
  if (call.stream) return stream(request, call, answer, options);
  try {
    const outcome = await answer(call, { signal: request.signal });
    if (outcome.kind === 'refused') return refusalResponse(outcome.refusal);
    return jsonResponse(wireCompletion(outcome.completion, options.settings.format));
  } catch (error) {
    return refusalResponse(refusalOf(error, request.signal, options.onFailure));
  }
}

type Body = { readonly kind: 'body'; readonly value: unknown } | { readonly kind: 'refused'; readonly refusal: Refusal };

/** The JSON of a body; no more of it is read than may be taken. */
export async function readBody(request: Request, maxBytes: number): Promise<Body> {
  const refused = (status: number, message: string): Body => ({ kind: 'refused', refusal: { ...invalid(message), status } });
  const type = request.headers.get('content-type') ?? '';
  if (!/^application\/json\s*(;|$)/i.test(type)) return refused(415, 'the body must be JSON, with content-type: application/json');
  const tooLong = (): Body => refused(413, `the body has more than ${maxBytes} bytes`);
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) return tooLong();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > maxBytes) return tooLong();
    chunks.push(chunk);
  }
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)));
  } catch (error) {
    return refused(400, `the body is not valid JSON: ${(error as Error).message}`);
  }
  return isDeep(value) ? refused(400, `the body is nested more than ${MAX_DEPTH} levels deep`) : { kind: 'body', value };
}

/** Deeper than anything that is meant: what reads it further calls itself level by level. */
function isDeep(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return true;
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []));
  }
  return false;
}

export const jsonResponse = (body: object, status = 200): Response =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } });

export const refusalResponse = (refusal: Refusal): Response => jsonResponse(refusalBody(refusal), refusal.status);

/** What a failure is to the client. */
function refusalOf(error: unknown, signal: AbortSignal, onFailure: ((error: unknown) => void) | undefined): Refusal {
  if (error instanceof EngineError && error.category === 'user') return invalid(error.message);
  if (signal.aborted) return { status: 499, type: 'cancelled', message: 'the client went away' };
  onFailure?.(error);
  if (error instanceof EngineError) return { status: 503, type: 'server_error', message: error.message };
  return { status: 500, type: 'server_error', message: 'the server failed; its log says how' };
}

type Answer = (call: ChatCall, options: CompleteOptions) => Promise<CompletionOutcome>;

async function stream(request: Request, call: ChatCall, answer: Answer, options: ChatHandlerOptions): Promise<Response> {
  const gone = new AbortController();
  const leave = (): void => gone.abort(request.signal.reason);
  request.signal.addEventListener('abort', leave, { once: true });
  if (request.signal.aborted) leave();
  const { settings } = options;
  const head = {
    id: newCompletionId(),
    created: Math.floor(Date.now() / 1000),
    model: call.model,
    policyVersion: settings.sampler.policyVersion,
  };
  const events = new Events(() => gone.abort(new Error('the client went away')));
  let begun: () => void = () => undefined;
  const began = new Promise<void>((resolve) => {
    begun = resolve;
  });
  /** Tokens whose log-probs go with the next chunk, by answer. */
  const waiting = new Map<number, { tokens: number[]; logProbs: number[] }>();
  const logProbsOf = (index: number): Pick<ChunkChoice, 'logProbs'> => {
    const part = waiting.get(index);
    waiting.delete(index);
    return part ? { logProbs: wireLogProbs(part, settings.format) } : {};
  };
  const onTokens = (index: number, { tokens, logProbs }: SamplePart): void => {
    const part = waiting.get(index) ?? { tokens: [], logProbs: [] };
    part.tokens.push(...tokens);
    part.logProbs.push(...logProbs);
    waiting.set(index, part);
  };
  const onDelta = (index: number, delta: AnswerDelta): void => {
    begun();
    events.send(wireChunk(head, { index, delta: wireDelta(delta), ...logProbsOf(index) }));
  };
  const onStart = (): void => {
    for (let index = 0; index < call.n; index++) events.send(wireChunk(head, { index, delta: { role: 'assistant', content: '' } }));
    void sleep(HEAD_MS).then(begun);
  };
  const working = answer(call, { id: head.id, signal: gone.signal, onStart, onDelta, ...(call.logProbs && { onTokens }) });
  const ended = working.then(
    (outcome): Refusal | undefined => {
      if (outcome.kind === 'refused') return outcome.refusal;
      const { completion } = outcome;
      for (const { index, finishReason, executed } of completion.choices) {
        events.send(wireChunk(head, { index, delta: {}, finishReason, ...logProbsOf(index), ...(executed && { executed }) }));
      }
      if (call.streamUsage) events.send(wireChunk(head, undefined, wireUsage(completion)));
      events.end();
      return undefined;
    },
    (error: unknown) => refusalOf(error, gone.signal, options.onFailure),
  );
  const early = await Promise.race([began, ended]);
  if (early !== undefined) return refusalResponse(early);
  void ended.then((late) => {
    request.signal.removeEventListener('abort', leave);
    if (late !== undefined) events.fail(late);
  });
  return new Response(events.body, {
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache', 'x-accel-buffering': 'no' },
  });
}

/** Server-sent events in a body. Once it is closed, or its reader is gone, nothing more is sent. */
class Events {
  readonly body: ReadableStream<Uint8Array>;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  readonly #encoder = new TextEncoder();

  constructor(onGone: () => void) {
    this.body = new ReadableStream({
      start: (controller) => {
        this.#controller = controller;
      },
      cancel: () => {
        this.#controller = undefined;
        onGone();
      },
    });
  }

  send(event: object): void {
    this.#write(JSON.stringify(event));
  }

  end(): void {
    this.#write('[DONE]');
    this.#close();
  }

  /** The head is out already: the failure is the last event. */
  fail(refusal: Refusal): void {
    this.send(refusalBody(refusal));
    this.#close();
  }

  #write(data: string): void {
    this.#controller?.enqueue(this.#encoder.encode(`data: ${data}\n\n`));
  }

  #close(): void {
    this.#controller?.close();
    this.#controller = undefined;
  }
}
