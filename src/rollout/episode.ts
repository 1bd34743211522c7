/**
 * One rollout as a state machine: it asks for a sample, takes the sample, runs the calls in it, and asks again until it ends. Who samples,
 * when, and how often a failure is tried again is decided by its driver (`runRollout.ts`, `lockstep.ts`). Does not grade.
 */

import type { ChatFormat } from '../chat/chatFormat.js';
import { finalText, parseTurn } from '../chat/parseTurn.js';
import { Transcript } from '../chat/transcript.js';
import type { Message } from '../domain/message.js';
import type { Problem } from '../domain/problem.js';
import type { CallSegment, CutOffCallSegment, MalformedCallSegment, Segment } from '../domain/segment.js';
import type { StopReason } from '../domain/stopReason.js';
import type { Rollout, Trajectory } from '../domain/trajectory.js';
import type { Reply, Turn } from '../domain/turn.js';
import { EngineError } from '../engine/engineError.js';
import type { Sample, SampleRequest, Sampler } from '../engine/sampler.js';
import type { Environment } from '../environments/environment.js';
import type { World } from '../environments/world.js';
import { deriveSeed } from '../random.js';
import type { Limits } from '../recipe/schema.js';
import { type Toolbox, ToolSession } from '../tools/callTool.js';
import { limitText } from '../tools/limitText.js';
import { UserError } from '../userError.js';
import { breathe } from './breathe.js';
import { onAbort } from './onAbort.js';

/** What all rollouts of one policy snapshot share. */
export interface RolloutSettings {
  readonly sampler: Sampler;
  readonly format: ChatFormat;
  readonly tools: Toolbox;
  readonly limits: Limits;
  readonly sampling: { readonly temperature: number; readonly topP: number; readonly topK?: number };
  /** System message; empty sends none. */
  readonly system: string;
  /** Ask the engine for entropies (extension `entropy`). */
  readonly entropy?: boolean;
  /** Prompt and response together, where the model has such a limit: it shortens the response's. */
  readonly contextTokens?: number;
  /** Wall-clock seconds of one tool call; a backstop beside the tool's own limit. */
  readonly toolTimeoutSeconds?: number;
  /** The task is an environment's, whose actions are among the tools. */
  readonly environment?: Environment;
  /** Told what a person should know, for example a tear-down that failed. */
  readonly onWarning?: (text: string) => void;
}

export interface EpisodeOptions<P extends Problem> {
  readonly problem: P;
  readonly groupId: string;
  readonly trajectoryId: string;
  /** Where it was made before; else it is rendered. */
  readonly promptTokens?: readonly number[];
  /** Of an environment's start: equal for all rollouts of a group. Absent: from the group's id. */
  readonly startSeed?: number;
  /** Ends everything; the episode then throws the signal's reason. */
  readonly signal?: AbortSignal;
}

export type EpisodeRequest = Omit<SampleRequest, 'seed' | 'lockstep'>;

const DEFAULT_TOOL_TIMEOUT_SECONDS = 300;
/** Tokens left to the model after a result that had to be shortened. */
const ROOM_TO_ANSWER = 16;
/** A result is not shortened below this: it would say nothing. */
const LEAST_RESULT = 16;

export function promptOf(problem: Problem, settings: Pick<RolloutSettings, 'format' | 'tools' | 'system'>): number[] {
  const question: Message = { role: 'user', content: problem.question };
  const messages: Message[] = settings.system === '' ? [question] : [{ role: 'system', content: settings.system }, question];
  return settings.format.prompt(messages, settings.tools.descriptions);
}

/** Tokens that a prompt may have: the recipe's limit, and one less than the model's context where that is shorter. */
export const promptLimit = ({ limits, contextTokens }: Pick<RolloutSettings, 'limits' | 'contextTokens'>): number =>
  Math.min(limits.promptTokens, (contextTokens ?? Number.POSITIVE_INFINITY) - 1);

/** Tokens of the prompt where it is longer than the limit; undefined where it fits. Check it before a run. */
export function promptTooLong(
  problem: Problem,
  settings: Pick<RolloutSettings, 'format' | 'tools' | 'system' | 'limits' | 'contextTokens'>,
): number | undefined {
  const { length } = promptOf(problem, settings);
  return length > promptLimit(settings) ? length : undefined;
}

/**
 * Begins a rollout: in an environment, from its start, whose observation stands behind the problem's question.
 *
 * @returns the failure where the environment could not be reset
 * @throws UserError when the prompt leaves no room in the model's context, or the first observation none in the limit of prompts
 * @throws the signal's reason when it is aborted meanwhile
 */
export async function openEpisode<P extends Problem>(
  settings: RolloutSettings,
  options: EpisodeOptions<P>,
): Promise<Episode<P> | Extract<Rollout<P>, { kind: 'infra' }>> {
  const { environment } = settings;
  if (environment === undefined) return new Episode(settings, options);
  const { promptTokens: _, problem, trajectoryId, groupId, startSeed = deriveSeed('start', groupId), signal } = options;
  const own = ownSignal(signal);
  const started = await environment
    .start({ problem, trajectoryId, seed: startSeed, signal: own.signal, shorten: shortening(settings) })
    .finally(own.release);
  if (started.kind === 'infra') return { kind: 'infra', trajectoryId, groupId, problem, error: started.error };
  const { world } = started;
  try {
    const promptTokens = promptOf(world.problem, settings);
    const most = promptLimit(settings);
    if (promptTokens.length > most) {
      throw new UserError(
        `With the first observation of environment "${environment.name}" the prompt of problem ${JSON.stringify(problem.id)} has ${promptTokens.length} tokens; at most ${most} are allowed.`,
        'Raise limits.promptTokens as far as the model allows, or let the environment say less.',
      );
    }
    return new Episode(settings, { ...options, problem: world.problem, promptTokens }, world);
  } catch (error) {
    await world.close();
    throw error;
  }
}

/** Makes a text as long as the model may read of a tool, and harmless for the template. */
const shortening =
  ({ format, limits }: RolloutSettings) =>
  (text: string, tokens = limits.toolTokens): string =>
    limitText(format.neutralise(text), tokens, format);

/** A signal of one rollout's own that follows the shared one, until it is released. */
function ownSignal(shared: AbortSignal | undefined): { readonly signal: AbortSignal; readonly release: () => void } {
  const own = new AbortController();
  if (shared?.aborted) own.abort(shared.reason);
  return { signal: own.signal, release: shared ? onAbort(shared, () => own.abort(shared.reason)) : () => undefined };
}

/** @throws UserError when the prompt leaves no room in the model's context. */
export class Episode<P extends Problem> {
  readonly #settings: RolloutSettings;
  readonly #options: EpisodeOptions<P>;
  readonly #transcript: Transcript;
  readonly #session: ToolSession;
  readonly #world: World<P> | undefined;
  readonly #budget: number;
  readonly #turns: Turn[] = [];
  readonly #started = performance.now();
  readonly #stop = new AbortController();
  readonly #timer: NodeJS.Timeout;
  /** Hears the caller's signal no more. */
  readonly #deaf: () => void = () => undefined;
  #finalText = '';
  #malformedInARow = 0;
  #entropySum = 0;
  #entropyTokens = 0;
  #deadline = false;
  #closing: Promise<void> | undefined;

  /** @param world of the environment, which this episode closes; `openEpisode` starts it */
  constructor(settings: RolloutSettings, options: EpisodeOptions<P>, world?: World<P>) {
    this.#settings = settings;
    this.#options = options;
    this.#world = world;
    const { limits } = settings;
    this.#transcript = new Transcript(options.promptTokens ?? promptOf(options.problem, settings));
    const contextRoom = (settings.contextTokens ?? Number.POSITIVE_INFINITY) - this.#transcript.promptTokens.length;
    this.#budget = Math.min(limits.responseTokens, contextRoom);
    if (this.#budget < 1) {
      throw new UserError(
        `The prompt of problem ${JSON.stringify(options.problem.id)} leaves no room for an answer: ${this.#transcript.promptTokens.length} tokens.`,
        'Shorten the prompt, or use a model with a longer context.',
      );
    }
    const { signal } = options;
    if (signal) this.#deaf = onAbort(signal, () => this.#stop.abort(signal.reason));
    if (signal?.aborted) this.#stop.abort(signal.reason);
    this.#timer = setTimeout(() => {
      this.#deadline = true;
      this.#stop.abort(new Error(`the rollout's ${limits.deadlineSeconds} s are up`));
    }, limits.deadlineSeconds * 1000);
    this.#session = new ToolSession(settings.tools, {
      problem: options.problem,
      trajectoryId: options.trajectoryId,
      groupId: options.groupId,
      signal: this.#stop.signal,
      timeoutSeconds: settings.toolTimeoutSeconds ?? DEFAULT_TOOL_TIMEOUT_SECONDS,
      shorten: shortening(settings),
    });
  }

  /** Aborted at the deadline, or with the caller's signal. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Whether it was the deadline that aborted the signal. */
  get outOfTime(): boolean {
    return this.#deadline;
  }

  /** Turns made so far: the number of the next one. */
  get turn(): number {
    return this.#turns.length;
  }

  /** What to sample next. */
  request(): EpisodeRequest {
    const { format, sampling, entropy } = this.#settings;
    return {
      prompt: this.#transcript.context(),
      maxTokens: this.#turnLimit(),
      temperature: sampling.temperature,
      topP: sampling.topP,
      ...(sampling.topK !== undefined && { topK: sampling.topK }),
      stopTokenIds: format.stopTokenIds,
      conversation: this.#options.trajectoryId,
      ...(entropy === true ? { entropy: true } : {}),
    };
  }

  /**
   * Appends a sampled turn and runs its calls. Undefined: ask for the next turn.
   * @throws EngineError (server) when the sample is not well formed; nothing is appended then.
   * @throws the caller's reason when its signal is aborted meanwhile.
   */
  async take(sample: Sample): Promise<Rollout<P> | undefined> {
    await breathe();
    const { format, limits, sampler } = this.#settings;
    const turnLimit = this.#turnLimit();
    const hitResponseLimit = turnLimit === this.#remaining();
    checkSample(sample, turnLimit);
    this.#transcript.appendSampled(sample);
    for (const entropy of sample.entropies ?? []) {
      this.#entropySum += entropy;
      this.#entropyTokens++;
    }
    const ended = sample.tokens.length > 0 && format.isStop(sample.tokens.at(-1)!);
    const text = format.decode(ended ? sample.tokens.slice(0, -1) : sample.tokens);
    const segments = parseTurn(format.opensThinking ? `<think>${text}` : text, sample.stop === 'length');
    this.#finalText = finalText(segments);
    const turn = { text, segments, stop: sample.stop, tokens: sample.tokens.length, policyVersion: sampler.policyVersion };

    const calls = segments.filter(isCall);
    const end = (stopReason: StopReason, replies: readonly Reply[] = []): Promise<Rollout<P>> => {
      this.#turns.push({ ...turn, replies });
      return this.#finish(stopReason);
    };
    if (sample.stop === 'length') return end({ kind: 'tokenLimit', limit: hitResponseLimit ? 'response' : 'turn' });
    if (calls.length === 0) return end({ kind: 'answered' });
    if (this.#turns.length + 1 >= limits.turns) return end({ kind: 'turnLimit' });

    const replies: Reply[] = [];
    let stopTool: string | undefined;
    for (const [i, call] of calls.entries()) {
      if (i >= limits.callsPerTurn || stopTool !== undefined) {
        replies.push(this.#session.refuseFurther(limits.callsPerTurn));
        continue;
      }
      if (call.kind !== 'call') {
        this.#malformedInARow++;
        if (this.#malformedInARow >= limits.malformedInARow) return end({ kind: 'malformedLimit' });
        replies.push(this.#session.refuse(call));
        continue;
      }
      this.#malformedInARow = 0;
      const outcome = await this.#callTool(call);
      if (outcome === 'deadline') return end({ kind: 'deadline' });
      if (outcome.kind === 'infra') return this.fail(outcome.error);
      replies.push(outcome.reply);
      if (outcome.final || this.#world?.done) stopTool = call.name;
    }
    if (stopTool !== undefined) return end({ kind: 'stopTool', tool: stopTool }, replies);

    const read = this.#fitReplies(replies, ended);
    if (read === undefined) return end({ kind: 'tokenLimit', limit: 'response' });
    this.#transcript.appendReplies(read.tokens);
    this.#turns.push({ ...turn, replies: read.replies });
    return undefined;
  }

  /** Ends a rollout whose time is up. Without any turn nothing was learnt about the policy: the engine did not answer in time. */
  endAtDeadline(): Promise<Rollout<P>> {
    if (this.#turns.length === 0) return this.fail(`no answer from the engine within ${this.#settings.limits.deadlineSeconds} s`);
    return this.#finish({ kind: 'deadline' });
  }

  /** Ends it as an infrastructure failure. */
  async fail(error: string): Promise<Rollout<P>> {
    await this.close();
    const { trajectoryId, groupId, problem } = this.#options;
    return { kind: 'infra', trajectoryId, groupId, problem, error };
  }

  /** Lets go of timers, tools and the environment; safe to call twice. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#deaf();
    const problems = await this.#session.close();
    const left = await this.#world?.close();
    for (const problem of left === undefined ? problems : [...problems, left]) {
      this.#settings.onWarning?.(`${this.#options.trajectoryId}: ${problem}`);
    }
  }

  async #callTool(call: CallSegment): Promise<'deadline' | Awaited<ReturnType<ToolSession['call']>>> {
    try {
      return await this.#session.call(call);
    } catch (error) {
      if (this.#deadline && this.#options.signal?.aborted !== true) return 'deadline';
      throw error;
    }
  }

  async #finish(stopReason: StopReason): Promise<Rollout<P>> {
    const { trajectoryId, groupId, problem, signal } = this.#options;
    const finalText = stopReason.kind === 'deadline' ? '' : this.#finalText;
    const own = ownSignal(signal);
    const ended = await this.#world?.finish({ stopReason, finalText, signal: own.signal }).finally(own.release);
    if (ended?.kind === 'infra') return this.fail(ended.error);
    await this.close();
    const trajectory: Trajectory<P> = {
      trajectoryId,
      groupId,
      problem,
      promptTokens: this.#transcript.promptTokens,
      tokens: this.#transcript.tokens,
      mask: this.#transcript.mask,
      samplerLogProbs: this.#transcript.logProbs,
      turns: this.#turns,
      finalText,
      stopReason,
      seconds: (performance.now() - this.#started) / 1000,
      ...(ended && { environment: ended.outcome }),
      ...(this.#entropyTokens === 0 ? {} : { entropy: this.#entropySum / this.#entropyTokens }),
    };
    return { kind: 'finished', trajectory };
  }

  #remaining(): number {
    return this.#budget - this.#transcript.length;
  }

  /** Tokens that the next turn may have. */
  #turnLimit(): number {
    return Math.min(this.#settings.limits.turnTokens ?? Number.POSITIVE_INFINITY, this.#remaining());
  }

  /** The replies as tokens, shortened where the response's limit asks for it; undefined where nothing useful would fit. */
  #fitReplies(replies: readonly Reply[], ended: boolean): { tokens: number[]; replies: readonly Reply[] } | undefined {
    const { format } = this.#settings;
    const render = (texts: readonly string[]): number[] => [...(ended ? [] : format.closing()), ...format.continuation(texts)];
    const texts = replies.map((reply) => reply.text);
    const tokens = render(texts);
    const room = this.#remaining();
    if (tokens.length < room) return { tokens, replies };
    const lengths = texts.map((text) => format.encode(text).length);
    const around = tokens.length - lengths.reduce((sum, length) => sum + length, 0);
    for (let slack = 0; slack <= 8; slack += 4) {
      const each = shareOut(lengths, room - around - ROOM_TO_ANSWER - slack);
      if (each === undefined) return undefined;
      const fitted = replies.map((reply, i) => ({ ...reply, text: limitText(reply.text, each[i]!, format) }));
      if (fitted.some((reply, i) => reply.text === '' && texts[i] !== '')) return undefined;
      const shortened = render(fitted.map((reply) => reply.text));
      if (shortened.length < room) return { tokens: shortened, replies: fitted };
    }
    return undefined;
  }
}

/** Divides the room: short texts keep their length, the long ones get equal parts; undefined where a part would say nothing. */
function shareOut(lengths: readonly number[], room: number): number[] | undefined {
  const order = lengths.map((_, i) => i).sort((a, b) => lengths[a]! - lengths[b]!);
  const parts = new Array<number>(lengths.length).fill(0);
  let left = room;
  for (const [rank, i] of order.entries()) {
    const part = Math.min(lengths[i]!, Math.floor(left / (lengths.length - rank)));
    if (part < Math.min(lengths[i]!, LEAST_RESULT)) return undefined;
    parts[i] = part;
    left -= part;
  }
  return parts;
}

const isCall = (segment: Segment): segment is CallSegment | MalformedCallSegment | CutOffCallSegment =>
  segment.kind === 'call' || segment.kind === 'malformedCall' || segment.kind === 'cutOffCall';

function checkSample(sample: Sample, room: number): void {
  const { tokens, logProbs } = sample;
  if (tokens.length !== logProbs.length) {
    throw new EngineError('server', `the engine returned ${tokens.length} tokens with ${logProbs.length} log-probs`);
  }
  if (tokens.length > room) throw new EngineError('server', `the engine returned ${tokens.length} tokens where ${room} were asked for`);
  const at = logProbs.findIndex((value) => !Number.isFinite(value));
  if (at !== -1) throw new EngineError('server', `the engine returned the log-prob ${logProbs[at]} for token ${at}`);
}
