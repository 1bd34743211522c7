/**
 * Serves a model or a checkpoint of a run to OpenAI clients, from opening the engine to a graceful end. What is said on the wire stands in
 * `completions/` and `app.ts`.
 */
import { setMaxListeners } from 'node:events';
import { mkdirSync, symlinkSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isLoopback } from '../access.js';
import type { CompletionSettings } from '../completions/complete.js';
import { TokenHistory } from '../completions/history.js';
import { refusalResponse } from '../completions/http.js';
import type { Refusal } from '../completions/refusal.js';
import type { Recipe, RecipeInput } from '../recipe/schema.js';
import { modelSource, type RunSource, recipeFor, samplerOf } from '../session/modelSource.js';
import { Session } from '../session/session.js';
import type { Log } from '../session/withRun.js';
import { UserError } from '../userError.js';
import { type ServedModel, serveApp } from './app.js';
import { listen } from './listener.js';

export interface ServeOptions {
  /** A model's name or folder; a run's folder, `RUN@sft`, `RUN@rl`, `RUN@base` or `RUN@CHECKPOINT`. */
  readonly model: string;
  /** As clients name it; default: the model's own name, a run's with its stage. */
  readonly name?: string;
  /** Prompt, limits and engine; default: the run's own, else that of the model. */
  readonly recipe?: string | RecipeInput;
  readonly set?: readonly string[];
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** 0, the default: any free one. */
  readonly port?: number;
  /** Whoever asks must have it. Needed with `tools`, and on an address that others can reach. */
  readonly token?: string;
  /** Tools that the server runs itself, for calls that bring none of their own. */
  readonly tools?: readonly string[];
  /** Whether a conversation without a system text gets the one that a run was trained with. Default true. */
  readonly system?: boolean;
  /** Tokens of an answer whose caller names no limit, and the most that one may ask for. */
  readonly maxTokens?: number;
  /** Completions at once. Default 256. */
  readonly maxRequests?: number;
  readonly maxBodyBytes?: number;
  readonly log: Log;
  readonly signal: AbortSignal;
}

export interface Served {
  /** Base URL for clients, `http://HOST:PORT/v1`. */
  readonly url: string;
  readonly name: string;
  readonly contextTokens: number | undefined;
  /** Whether tokens are told as they are made; else an answer comes as one piece. */
  readonly streams: boolean;
  /** System text of conversations that have none. */
  readonly system: string;
  /** Tools that the server runs. */
  readonly tools: readonly string[];
  /** Rejects when the engine dies. */
  readonly failed: Promise<never>;
  /** Takes no more, lets what runs end for a while, then gives it up. */
  close(): Promise<void>;
}

const MAX_REQUESTS = 256;
const STARTING: Refusal = { status: 503, type: 'server_error', message: 'the server starts; try again', code: 'starting' };
/** How often the engine is looked after. */
const WATCH_MS = 1_000;

/** @throws UserError for what the user can mend */
export async function serveModel(options: ServeOptions): Promise<Served> {
  const { host = '127.0.0.1', port = 0, token, tools = [], log, signal } = options;
  refuseOpenDoors({ host, token, tools });
  const source = modelSource(options.model);
  if (source.kind === 'endpoint') throw new UserError(`${options.model} is served already`, 'Give a model, or the folder of a run.');
  const recipe: Recipe = { ...(await recipeFor(source, options)), tools: [...tools] };
  // First of all, so that an address that is taken is told before the engine starts.
  let answer = (_request: Request): Response | Promise<Response> => refusalResponse(STARTING);
  const listener = await listen((request) => answer(request), host, port);
  const folder = await mkdtemp(join(tmpdir(), 'toolwise-serve-'));
  const ending = new AbortController();
  let session: Session | undefined;
  setMaxListeners(0, signal, ending.signal);
  const closeAll = async (): Promise<void> => {
    await listener.close(ending);
    await session?.close();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    if (source.kind === 'run' && recipe.engine.url === undefined) linkCheckpoint(source, folder);
    session = await Session.open({
      recipe,
      folder,
      log,
      warn: (line) => log(line, 'warning'),
      signal,
    });
    const sampler = await samplerOf(session, source, signal);
    const rollout = session.rolloutSettings();
    const { contextTokens } = rollout;
    const settings: CompletionSettings = {
      sampler,
      format: session.format,
      history: new TokenHistory(session.format),
      ...(contextTokens !== undefined && { contextTokens }),
      ...(options.maxTokens !== undefined && { maxTokens: options.maxTokens }),
    };
    const trained = source.kind === 'run' && source.checkpoint !== undefined;
    const model: ServedModel = {
      name: options.name ?? source.name,
      created: Math.floor(Date.now() / 1000),
      settings,
      system: options.system !== false && (trained || tools.length > 0) ? rollout.system : '',
      ...(tools.length > 0 && { loop: { rollout } }),
    };
    const app = serveApp({
      model,
      token,
      maxRequests: options.maxRequests ?? MAX_REQUESTS,
      ...(options.maxBodyBytes !== undefined && { maxBodyBytes: options.maxBodyBytes }),
      ending: ending.signal,
      onFailure: (error) => log(`a request failed: ${error instanceof Error ? error.message : String(error)}`, 'warning'),
    });
    answer = app.fetch;
    const watched = watchEngine(session);
    return {
      url: `${listener.url}/v1`,
      name: model.name,
      contextTokens,
      streams: sampler.stream !== undefined,
      system: model.system,
      tools,
      failed: watched.failed,
      close: async () => {
        watched.stop();
        await closeAll();
      },
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

function refuseOpenDoors({ host, token, tools }: { host: string; token: string | undefined; tools: readonly string[] }): void {
  if (token !== undefined && (token.length < 8 || /\s/.test(token))) {
    throw new UserError('the token is too short or has spaces', 'Take at least 8 characters, for example of: openssl rand -hex 16');
  }
  if (token !== undefined) return;
  if (tools.length > 0)
    throw new UserError(`a server that runs ${tools.join(', ')} needs a token`, 'Give one with --token or TOOLWISE_SERVE_TOKEN.');
  if (!isLoopback(host))
    throw new UserError(`others can reach ${host}: the server needs a token`, 'Give one with --token or TOOLWISE_SERVE_TOKEN.');
}

/** An engine mends the folder of checkpoints that it is given: the run's, in which one may train at this moment, is left alone. */
function linkCheckpoint({ folder, checkpoint }: RunSource, own: string): void {
  const [, model, kind, name] = /^tinker:\/\/([\w:-]+)\/([\w-]+)\/([\w.-]+)$/.exec(checkpoint ?? '') ?? [];
  if (model === undefined) return;
  const place = join(own, 'checkpoints', model, kind!);
  mkdirSync(place, { recursive: true });
  symlinkSync(join(folder, 'checkpoints', model, kind!, name!), join(place, name!), 'junction');
}

function watchEngine(session: Session): { readonly failed: Promise<never>; readonly stop: () => void } {
  let timer: NodeJS.Timeout | undefined;
  const failed = new Promise<never>((_, reject) => {
    timer = setInterval(() => {
      if (session.engineDeath) reject(session.engineDeath);
    }, WATCH_MS);
    timer.unref();
  });
  failed.catch(() => undefined);
  return { failed, stop: () => clearInterval(timer) };
}
