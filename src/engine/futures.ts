/**
 * The protocol's two-step calls: an operation is submitted, which answers with the id of a future; the future is then asked for until it
 * has a result. All of the protocol's refusals and delays are dealt with here. Does not know what the operations mean.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { EngineError } from './engineError.js';
import { decodeResult } from './protoCodec.js';
import { ConnectionLost, type HttpAnswer, type PostOptions, type Transport } from './transport.js';

export interface Operation {
  /** Last part of the address, for example `optim_step`. */
  readonly path: string;
  /** JSON text, or a protobuf message. */
  readonly body: string | Uint8Array;
  /** Whether it may be submitted anew when its result is lost. A sample may not: its answer may already have begun. */
  readonly repeatable: boolean;
  readonly post?: PostOptions;
  /** Told why the server lets the operation wait, where it says so. */
  readonly onWaiting?: ((reason: string) => void) | undefined;
}

export interface Patience {
  /** How long one question after a result may stay open before it is asked again, milliseconds. */
  readonly pollMs: number;
  /** How long an engine that cannot be reached, or that fails each time, is tried, milliseconds. */
  readonly outageMs: number;
  /** First delay after a failure; doubled up to `maxDelayMs`. */
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
  /** Pause after 402 (billing). */
  readonly billingMs: number;
  /** Between two signs of life to the server, milliseconds. */
  readonly heartbeatMs: number;
}

export const PATIENCE: Patience = {
  pollMs: 60_000,
  outageMs: 300_000,
  firstDelayMs: 250,
  maxDelayMs: 30_000,
  billingMs: 5_000,
  heartbeatMs: 10_000,
};

const BAD_REQUEST_TRIES = 3;
const RESUBMISSIONS = 3;
/** A server that answers "not yet" sooner than this is not holding the question open: it is asked again after as long. */
const QUICK_POLL_MS = 20;
const PAUSED_QUEUE_MS = 1000;

/** Submits; gives the id of the future. @throws EngineError */
export async function submit(transport: Transport, operation: Operation, signal: AbortSignal, patience = PATIENCE): Promise<string> {
  const outage = new Outage(patience);
  for (;;) {
    const answer = await attempt(() => transport.post(operation.path, operation.body, signal, operation.post));
    if (answer instanceof ConnectionLost) {
      await outage.wait(new EngineError('connection', answer.message), signal);
    } else if (answer.status === 429 || answer.status === 408 || answer.status >= 500) {
      await outage.wait(refused(operation, answer, 'server'), signal, answer.retryAfter);
    } else if (answer.status === 402) {
      await outage.wait(refused(operation, answer, 'server'), signal, patience.billingMs / 1000);
    } else if (answer.status >= 400) {
      throw refused(operation, answer, 'user');
    } else {
      const id = field(answer.body, 'request_id');
      if (typeof id !== 'string' && typeof id !== 'number')
        throw new EngineError('server', `${operation.path}: the answer has no request_id`);
      return String(id);
    }
  }
}

/** Asks for the result of a submitted operation until there is one. @throws EngineError */
export async function retrieve(
  transport: Transport,
  operation: Operation,
  requestId: string,
  signal: AbortSignal,
  patience = PATIENCE,
): Promise<unknown> {
  const outage = new Outage(patience);
  let id = requestId;
  let badRequests = 0;
  let resubmitted = 0;
  for (;;) {
    const asked = performance.now();
    const answer = await poll(transport, operation, id, signal, patience.pollMs);
    if (answer === 'stillOpen') continue;
    if (answer instanceof ConnectionLost) {
      await outage.wait(new EngineError('connection', answer.message), signal);
      continue;
    }
    const { status, body } = answer;
    if (status === 200) {
      if (body instanceof Uint8Array) return decodeResult(operation.path, body);
      const error = field(body, 'error');
      if (typeof error === 'string') {
        throw new EngineError(field(body, 'category') === 'user' ? 'user' : 'server', `${operation.path}: ${error}`);
      }
      if (field(body, 'type') !== 'try_again') return body;
      outage.over();
      const state = field(body, 'queue_state');
      if (state === 'paused_capacity' || state === 'paused_rate_limit') {
        operation.onWaiting?.(state === 'paused_capacity' ? 'it has no room' : 'its rate limit is reached');
        await pause(PAUSED_QUEUE_MS, signal);
      } else if (performance.now() - asked < QUICK_POLL_MS) await pause(QUICK_POLL_MS, signal);
    } else if (status === 408) {
      const state = field(body, 'queue_state');
      if (state === 'paused_capacity' || state === 'paused_rate_limit') operation.onWaiting?.('it has no room');
      outage.over();
      if (performance.now() - asked < QUICK_POLL_MS) await pause(QUICK_POLL_MS, signal);
    } else if (status >= 500) {
      await outage.waitAfterFirst(refused(operation, answer, 'server'), signal);
    } else if (status === 429) {
      await outage.wait(refused(operation, answer, 'server'), signal, answer.retryAfter);
    } else if (status === 402) {
      await outage.wait(refused(operation, answer, 'server'), signal, patience.billingMs / 1000);
    } else if (status === 410 && operation.repeatable && ++resubmitted <= RESUBMISSIONS) {
      await outage.waitAfterFirst(refused(operation, answer, 'server'), signal);
      id = await submit(transport, operation, signal, patience);
    } else if (status === 400 && field(body, 'category') === undefined && ++badRequests <= BAD_REQUEST_TRIES) {
      await outage.waitAfterFirst(refused(operation, answer, 'server'), signal);
    } else {
      throw refused(operation, answer, 'server');
    }
  }
}

/**
 * The result of a submitted operation, and before it what is made of it on the way (extension `stream`). A stream that breaks is not taken up
 * again, since the engine then gives the operation up.
 * @throws EngineError
 */
export async function watch(
  transport: Transport,
  operation: Operation,
  requestId: string,
  onPart: (part: unknown) => void,
  signal: AbortSignal,
  everyMs?: number,
): Promise<unknown> {
  const body = JSON.stringify({ request_id: requestId, ...(everyMs !== undefined && { every_ms: everyMs }) });
  const lines = transport.lines('stream_future', body, signal);
  try {
    for (;;) {
      const next = await lines.next();
      if (next.done) {
        if (next.value !== undefined) throw refused(operation, next.value, 'server');
        throw new EngineError('connection', `${operation.path}: the engine ended its stream before the result`);
      }
      const error = field(next.value, 'error');
      if (typeof error === 'string') {
        throw new EngineError(field(next.value, 'category') === 'user' ? 'user' : 'server', `${operation.path}: ${error}`);
      }
      if (field(next.value, 'type') !== 'part') return next.value;
      onPart(next.value);
    }
  } catch (error) {
    if (error instanceof ConnectionLost) throw new EngineError('connection', error.message);
    throw error;
  } finally {
    await lines.return(undefined);
  }
}

/** How long failures have gone on without a sign of life, and how long to wait before the next try. */
class Outage {
  #since: number | undefined;
  #delay: number;

  constructor(readonly patience: Patience) {
    this.#delay = patience.firstDelayMs;
  }

  over(): void {
    this.#since = undefined;
    this.#delay = this.patience.firstDelayMs;
  }

  async wait(error: EngineError, signal: AbortSignal, seconds?: number): Promise<void> {
    const now = performance.now();
    this.#since ??= now;
    if (now - this.#since >= this.patience.outageMs) throw error;
    const ms = Math.min(seconds === undefined ? this.#delay : seconds * 1000, this.patience.maxDelayMs);
    this.#delay = Math.min(this.#delay * 2, this.patience.maxDelayMs);
    await pause(ms, signal);
  }

  /** The first failure is followed by a try at once, later ones by waits. */
  async waitAfterFirst(error: EngineError, signal: AbortSignal): Promise<void> {
    if (this.#since === undefined) this.#since = performance.now();
    else await this.wait(error, signal);
  }
}

/** Waits, unless the signal fires; then throws its reason. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
  if (signal.aborted) throw signal.reason;
}

async function attempt(call: () => Promise<HttpAnswer>): Promise<HttpAnswer | ConnectionLost> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof ConnectionLost) return error;
    throw error;
  }
}

async function poll(
  transport: Transport,
  operation: Operation,
  id: string,
  signal: AbortSignal,
  pollMs: number,
): Promise<HttpAnswer | ConnectionLost | 'stillOpen'> {
  const controller = new AbortController();
  const follow = () => controller.abort(signal.reason);
  signal.addEventListener('abort', follow, { once: true });
  if (signal.aborted) follow();
  const timer = setTimeout(() => controller.abort(TIMED_OUT), pollMs);
  try {
    return await attempt(() =>
      transport.post('retrieve_future', JSON.stringify({ request_id: id }), controller.signal, {
        longPoll: true,
        acceptProto: operation.post?.acceptProto ?? false,
      }),
    );
  } catch (error) {
    if (error === TIMED_OUT) return 'stillOpen';
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', follow);
  }
}

const TIMED_OUT = new Error('the question stayed open for too long');

function refused(operation: Operation, answer: HttpAnswer, category: 'user' | 'server'): EngineError {
  const named = field(answer.body, 'category');
  const who = named === 'user' || named === 'server' ? named : category;
  return new EngineError(who, `${operation.path}: ${sentence(answer)}`, answer.status);
}

/** What a server said, as one line; FastAPI's lists of faults are told as `place: fault`. */
export function sentence(answer: HttpAnswer): string {
  const detail = field(answer.body, 'detail') ?? field(answer.body, 'error') ?? answer.body;
  if (Array.isArray(detail)) {
    const faults = detail.map((fault) => `${[field(fault, 'loc')].flat().join('.')}: ${String(field(fault, 'msg'))}`);
    return faults.slice(0, 3).join('; ');
  }
  const text = typeof detail === 'string' ? detail : JSON.stringify(detail);
  if (answer.status === 401 || answer.status === 403) return `the engine refuses the key (HTTP ${answer.status})`;
  return text.trim() === '' ? `HTTP ${answer.status}` : text.slice(0, 500);
}

export function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
