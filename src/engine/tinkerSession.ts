/**
 * A session on a Tinker server: kept alive by a heartbeat, and given up when the server has been silent for too long. Calls of operations
 * go through here; what they mean is known to the trainer and the sampler.
 */
import type { EngineCapabilities } from './capabilities.js';
import { EngineError } from './engineError.js';
import { field, type Operation, PATIENCE, type Patience, pause, retrieve, sentence, submit } from './futures.js';
import { Lifeline } from './lifeline.js';
import { readCapabilities } from './readCapabilities.js';
import { ConnectionLost, type HttpAnswer, openTransport, type Transport } from './transport.js';

export interface ConnectOptions {
  /** Address of the server, without `/api/v1`. */
  readonly url: string;
  /** Sent as `X-API-Key`; only over https, or to this machine. */
  readonly key?: string;
  readonly patience?: Patience;
}

const HEARTBEAT_MS = 10_000;
const OPEN_MS = 60_000;
const CLIENT = 'toolwise';

export class TinkerSession {
  #samplingSessions = 0;
  #models = 0;
  #lastHeard = performance.now();
  readonly #timer: NodeJS.Timeout;
  #beating = false;
  #tellEnded: (reason: Error) => void = () => undefined;
  /** Why it ended, once it has: closed, dropped by the server, or given up. */
  readonly ended = new Promise<Error>((resolve) => {
    this.#tellEnded = resolve;
  });

  private constructor(
    readonly transport: Transport,
    readonly lifeline: Lifeline,
    readonly capabilities: EngineCapabilities,
    readonly id: string,
    readonly patience: Patience,
  ) {
    this.#timer = setInterval(() => void this.#beat(), HEARTBEAT_MS);
    this.#timer.unref();
  }

  /** @throws UserError for a wrong address; EngineError when nobody answers there or the key is refused */
  static async open(options: ConnectOptions): Promise<TinkerSession> {
    const transport = openTransport(options.url, options.key);
    const patience = options.patience ?? PATIENCE;
    const inTime = AbortSignal.timeout(OPEN_MS);
    try {
      const capabilities = readCapabilities(await ask('the engine', () => transport.get('get_server_capabilities', inTime), inTime));
      const request = JSON.stringify({ tags: [CLIENT], user_metadata: {}, sdk_version: CLIENT, type: 'create_session' });
      const answer = await ask('create_session', () => transport.post('create_session', request, inTime), inTime);
      const id = field(answer, 'session_id');
      if (typeof id !== 'string')
        throw new EngineError('server', `${transport.url} does not speak the Tinker API: create_session gave no id`);
      return new TinkerSession(transport, new Lifeline(), capabilities, id, patience);
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
      const id = await submit(this.transport, operation, life, this.patience);
      submitted?.();
      return retrieve(this.transport, operation, id, life, this.patience);
    });
  }

  /** A call that is answered at once. @throws EngineError */
  async ask(path: string, body: object, signal?: AbortSignal): Promise<unknown> {
    return this.lifeline.during(signal, (life) => ask(path, () => this.transport.post(path, JSON.stringify(body), life), life));
  }

  /** Open calls fail, and so do later ones. */
  async end(reason: Error): Promise<void> {
    clearInterval(this.#timer);
    this.lifeline.end(reason);
    this.#tellEnded(reason);
    await this.transport.close();
  }

  async #beat(): Promise<void> {
    if (this.#beating) return;
    this.#beating = true;
    const body = JSON.stringify({ session_id: this.id, type: 'session_heartbeat' });
    try {
      const answer = await this.transport.post('session_heartbeat', body, AbortSignal.timeout(3 * HEARTBEAT_MS));
      if (answer.status < 500) this.#lastHeard = performance.now();
      if (answer.status === 404) await this.end(new EngineError('connection', 'the engine has dropped this session', 404));
    } catch {
      // Silence is measured below.
    } finally {
      this.#beating = false;
    }
    const silent = performance.now() - this.#lastHeard;
    if (silent > this.patience.outageMs && this.lifeline.reason === undefined) {
      await this.end(
        new EngineError('connection', `the engine at ${this.transport.url} has not answered for ${Math.round(silent / 1000)} s`),
      );
    }
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
