/**
 * A session on a Tinker server: kept alive by a heartbeat, and given up when the server has been silent for too long. Calls of operations
 * go through here; what they mean is known to the trainer and the sampler.
 */
import type { EngineCapabilities } from './capabilities.js';
import { EngineError } from './engineError.js';
import { field, type Operation, PATIENCE, type Patience, pause, retrieve, sentence, submit, watch } from './futures.js';
import { startHeartbeat } from './heartbeat.js';
import { Lifeline } from './lifeline.js';
import type { ServerName, ServerProfile } from './profiles.js';
import { readCapabilities } from './readCapabilities.js';
import { ConnectionLost, type HttpAnswer, openTransport, type Transport } from './transport.js';

export interface ConnectOptions {
  /** Address of the server, without `/api/v1`. */
  readonly url: string;
  /** Sent as `X-API-Key`; only over https, or to this machine. */
  readonly key?: string;
  readonly patience?: Patience;
  /** Which kind of server it is, where it is not our own; default: one that keeps to the official wire. */
  readonly server?: ServerName;
  /** Told what a person should know: the server lets us wait, or has fallen silent. */
  readonly onNotice?: (text: string) => void;
}

/** The same notice is not given again sooner. */
const NOTICE_MS = 60_000;
const OPEN_MS = 60_000;
const CLIENT = 'toolwise';

export class TinkerSession {
  #samplingSessions = 0;
  #models = 0;
  readonly #stopHeartbeat: () => Promise<void>;
  #lastNotice = Number.NEGATIVE_INFINITY;
  /** How training requests are written; `proto` once the server has refused JSON. */
  encoding: 'json' | 'proto' = 'json';
  #tellEnded: (reason: Error) => void = () => undefined;
  /** Why it ended, once it has: closed, dropped by the server, or given up. */
  readonly ended = new Promise<Error>((resolve) => {
    this.#tellEnded = resolve;
  });

  private constructor(
    readonly transport: Transport,
    readonly lifeline: Lifeline,
    readonly capabilities: EngineCapabilities,
    readonly profile: ServerProfile,
    readonly id: string,
    readonly patience: Patience,
    readonly options: ConnectOptions,
  ) {
    const ended = (reason: EngineError) => void this.end(reason);
    this.#stopHeartbeat = startHeartbeat({
      url: `${transport.url}/api/v1/session_heartbeat`,
      key: options.key,
      sessionId: id,
      everyMs: patience.heartbeatMs,
      silenceMs: patience.outageMs,
      onDropped: () => ended(new EngineError('connection', 'the engine has dropped this session', 404)),
      onSilent: (seconds) => ended(new EngineError('connection', `the engine at ${transport.url} has not answered for ${seconds} s`)),
    });
  }

  /** @throws UserError for a wrong address; EngineError when nobody answers there or the key is refused */
  static async open(options: ConnectOptions): Promise<TinkerSession> {
    const transport = openTransport(options.url, options.key);
    const patience = options.patience ?? PATIENCE;
    const inTime = AbortSignal.timeout(OPEN_MS);
    try {
      const { capabilities, profile } = readCapabilities(
        await ask('the engine', () => transport.get('get_server_capabilities', inTime), inTime),
        options.server,
      );
      const request = JSON.stringify({ tags: [CLIENT], user_metadata: {}, sdk_version: CLIENT, type: 'create_session' });
      const answer = await ask('create_session', () => transport.post('create_session', request, inTime), inTime);
      const id = field(answer, 'session_id');
      if (typeof id !== 'string')
        throw new EngineError('server', `${transport.url} does not speak the Tinker API: create_session gave no id`);
      return new TinkerSession(transport, new Lifeline(), capabilities, profile, id, patience, options);
    } catch (error) {
      await transport.close();
      if (error === inTime.reason) throw new EngineError('connection', `${transport.url} did not answer within ${OPEN_MS / 1000} s`);
      throw error;
    }
  }

  nextModel(): number {
    return this.#models++;
  }

  nextSamplingSession(): number {
    return this.#samplingSessions++;
  }

  /** Submits and waits for the result. `submitted` is called as soon as the server has taken the operation. */
  async run(operation: Operation, signal?: AbortSignal, submitted?: () => void): Promise<unknown> {
    return this.lifeline.during(signal, async (life) => {
      const waiting = { ...operation, onWaiting: (reason: string) => this.#notice(`the engine lets us wait: ${reason}`) };
      const id = await submit(this.transport, waiting, life, this.patience);
      submitted?.();
      return retrieve(this.transport, waiting, id, life, this.patience);
    });
  }

  /** As `run`, telling each part of the result as it comes (extension `stream`). When the signal is aborted the engine stops. */
  async watch(operation: Operation, onPart: (part: unknown) => void, signal?: AbortSignal, everyMs?: number): Promise<unknown> {
    return this.lifeline.during(signal, async (life) => {
      const waiting = { ...operation, onWaiting: (reason: string) => this.#notice(`the engine lets us wait: ${reason}`) };
      const id = await submit(this.transport, waiting, life, this.patience);
      return watch(this.transport, waiting, id, onPart, life, everyMs);
    });
  }

  /** A call that is answered at once. @throws EngineError */
  async ask(path: string, body: object, signal?: AbortSignal): Promise<unknown> {
    return this.lifeline.during(signal, (life) => ask(path, () => this.transport.post(path, JSON.stringify(body), life), life));
  }

  /** Removes what was saved under a path. @throws EngineError */
  async deleteCheckpoint(path: string): Promise<void> {
    const place = /^tinker:\/\/([\w:-]+)\/(?:(weights|sampler_weights)\/)?([\w.-]+)$/.exec(path);
    if (place === null) return;
    const [, model, kind = 'sampler_weights', name] = place;
    await this.lifeline.during(undefined, (life) =>
      ask('delete', () => this.transport.delete(`training_runs/${model}/checkpoints/${kind}/${name}`, life), life),
    );
  }

  /** Open calls fail, and so do later ones. */
  async end(reason: Error): Promise<void> {
    if (this.lifeline.reason !== undefined) return;
    this.lifeline.end(reason);
    this.#tellEnded(reason);
    await Promise.all([this.#stopHeartbeat(), this.transport.close()]);
  }

  #notice(text: string): void {
    const now = performance.now();
    if (now - this.#lastNotice < NOTICE_MS) return;
    this.#lastNotice = now;
    this.options.onNotice?.(text);
  }
}

const TRIES = 4;

/** A short call: tried again a few times when the connection breaks or the server is out of breath. */
async function ask(path: string, call: () => Promise<HttpAnswer>, signal: AbortSignal): Promise<unknown> {
  for (let tries = 1; ; tries++) {
    let problem: EngineError;
    try {
      const answer = await call();
      if (answer.status < 300) return answer.body;
      const retriable = answer.status === 429 || answer.status === 408 || answer.status >= 500;
      problem = new EngineError(retriable ? 'server' : 'user', `${path}: ${sentence(answer)}`, answer.status);
      if (!retriable) throw problem;
    } catch (error) {
      if (!(error instanceof ConnectionLost)) throw error;
      problem = new EngineError('connection', error.message);
    }
    if (tries === TRIES) throw problem;
    await pause(250 * 2 ** (tries - 1), signal);
  }
}
