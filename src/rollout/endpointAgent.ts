/**
 * The agent loop against an endpoint that speaks messages, not tokens: each turn is a chat completion, its calls run as in any rollout. Used
 * for evaluation; where the endpoint gives token ids the trajectory carries them, elsewhere it has none and counts what the server counts.
 * Does not retry (`engine/openaiClient.ts` does, where nothing can have been generated) and does not grade.
 */
import { writeToolList, writeToolResponse } from '../chat/hermes.js';
import { finalText, parseTurn } from '../chat/parseTurn.js';
import type { Problem } from '../domain/problem.js';
import type { CallSegment, CutOffCallSegment, MalformedCallSegment, Segment } from '../domain/segment.js';
import type { StopReason } from '../domain/stopReason.js';
import type { Rollout } from '../domain/trajectory.js';
import type { Reply, Turn } from '../domain/turn.js';
import { EngineError } from '../engine/engineError.js';
import { type ChatTurn, chat, type WireCall, type WireMessage } from '../engine/openaiChat.js';
import type { OpenAiEndpoint } from '../engine/openaiEndpoint.js';
import type { Environment } from '../environments/environment.js';
import type { World } from '../environments/world.js';
import { deriveSeed } from '../random.js';
import type { Limits } from '../recipe/schema.js';
import { type Toolbox, ToolSession } from '../tools/callTool.js';
import type { RolloutSettings } from './episode.js';
import type { RolloutInput } from './runRollout.js';

/** Runs whole rollouts by itself: in place of a sampler, where tokens are out of reach. */
export interface RolloutAgent {
  /** @throws the signal's reason; EngineError (user) where trying again cannot help */
  run<P extends Problem>(input: RolloutInput<P>): Promise<Rollout<P>>;
}

export interface EndpointAgentOptions {
  readonly endpoint: OpenAiEndpoint;
  readonly tools: Toolbox;
  readonly limits: Limits;
  /** System message; empty sends none. */
  readonly system: string;
  /** The task is an environment's, whose actions are among the tools. */
  readonly environment?: Environment;
  readonly onWarning?: (text: string) => void;
}

/** Without a tokenizer a result is shortened by characters. */
const CHARACTERS_A_TOKEN = 4;
const TOOL_TIMEOUT_SECONDS = 300;
const DEFAULT_SAMPLING: RolloutSettings['sampling'] = { temperature: 1, topP: 1 };

export const endpointAgent = (options: EndpointAgentOptions): RolloutAgent => ({
  run: async (input) => {
    const { environment, limits } = options;
    if (environment === undefined) return new EndpointRollout(options, input).run();
    const { problem, trajectoryId, groupId, startSeed = deriveSeed('start', groupId) } = input;
    const signal = input.signal ?? new AbortController().signal;
    const short = (text: string): string => shorten(text, limits.toolTokens * CHARACTERS_A_TOKEN);
    const started = await environment.start({ problem, trajectoryId, seed: startSeed, signal, shorten: short });
    if (started.kind === 'infra') return { kind: 'infra', trajectoryId, groupId, problem, error: started.error };
    const { world } = started;
    return new EndpointRollout(options, { ...input, problem: world.problem }, world).run();
  },
});

class EndpointRollout<P extends Problem> {
  readonly #messages: WireMessage[] = [];
  readonly #turns: Turn[] = [];
  readonly #answers: ChatTurn[] = [];
  readonly #stop = new AbortController();
  readonly #started = performance.now();
  readonly #session: ToolSession;
  #deadline = false;
  #malformedInARow = 0;
  #finalText = '';

  constructor(
    private readonly options: EndpointAgentOptions,
    private readonly input: RolloutInput<P>,
    private readonly world?: World<P>,
  ) {
    const { limits, system, tools, endpoint } = options;
    const list = tools.descriptions.length > 0 && !endpoint.abilities.toolCalls ? writeToolList(tools.descriptions) : '';
    const whole = [system, list].filter((part) => part !== '').join('\n');
    if (whole !== '') this.#messages.push({ role: 'system', content: whole });
    this.#messages.push({ role: 'user', content: input.problem.question });
    this.#session = new ToolSession(tools, {
      problem: input.problem,
      trajectoryId: input.trajectoryId,
      groupId: input.groupId,
      signal: this.#stop.signal,
      timeoutSeconds: TOOL_TIMEOUT_SECONDS,
      shorten: (text, tokens = limits.toolTokens) => shorten(text, tokens * CHARACTERS_A_TOKEN),
    });
  }

  async run(): Promise<Rollout<P>> {
    const { signal } = this.input;
    const { limits } = this.options;
    const abort = (): void => this.#stop.abort(signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted === true) abort();
    const timer = setTimeout(() => {
      this.#deadline = true;
      this.#stop.abort(new Error(`the rollout's ${limits.deadlineSeconds} s are up`));
    }, limits.deadlineSeconds * 1000);
    try {
      for (;;) {
        const ended = await this.#turn();
        if (ended !== undefined) return ended;
      }
    } catch (error) {
      if (signal?.aborted === true) throw signal.reason;
      if (this.#deadline) {
        return this.#turns.length === 0
          ? this.#infra(`no answer within ${limits.deadlineSeconds} s`)
          : await this.#finish({ kind: 'deadline' });
      }
      if (error instanceof EngineError && error.category !== 'user') return this.#infra(error.message);
      throw error;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      const problems = [...(await this.#session.close()), await this.world?.close()];
      for (const problem of problems) if (problem !== undefined) this.options.onWarning?.(`${this.input.trajectoryId}: ${problem}`);
    }
  }

  /** One turn and its calls; undefined where the rollout goes on. */
  async #turn(): Promise<Rollout<P> | undefined> {
    const { endpoint, tools, limits } = this.options;
    const { client, model, abilities } = endpoint;
    const { temperature, topP, topK } = this.input.sampling ?? DEFAULT_SAMPLING;
    const left = limits.responseTokens - this.#used();
    if (left < 1) return this.#finish({ kind: 'tokenLimit', limit: 'response' });
    const maxTokens = Math.min(limits.turnTokens ?? Number.POSITIVE_INFINITY, left);
    const outcome = await chat(
      client,
      {
        model,
        messages: this.#messages,
        tools: abilities.toolCalls ? tools.descriptions : [],
        maxTokens,
        temperature,
        topP,
        ...(topK !== undefined && { topK }),
        seed: this.input.seed(this.#turns.length, 0),
        logProbs: abilities.logProbs && abilities.tokenIds,
        tokenIds: abilities.tokenIds,
        completionLimit: abilities.completionLimit,
      },
      this.#stop.signal,
    );
    if (outcome.kind === 'tooLong') {
      if (this.#turns.length === 0) throw new EngineError('user', `problem ${this.input.problem.id} does not fit: ${outcome.message}`);
      return this.#finish({ kind: 'tokenLimit', limit: 'response' });
    }
    const answer = outcome.turn;
    this.#answers.push(answer);
    const written = segmentsOf(answer);
    this.#finalText = finalText(written.map(({ segment }) => segment));
    const turn = {
      text: answer.reasoning === '' ? answer.content : `<think>${answer.reasoning}</think>${answer.content}`,
      segments: written.map(({ segment }) => segment),
      stop: answer.stop,
      tokens: answer.completionTokens ?? answer.sampled?.tokens.length ?? 0,
      policyVersion: 0,
    };
    const calls = written.filter((item): item is Written & { segment: AnyCall } => isCall(item.segment));
    const end = (stop: StopReason, replies: readonly Reply[] = []): Promise<Rollout<P>> => {
      this.#turns.push({ ...turn, replies });
      return this.#finish(stop);
    };
    if (answer.stop === 'length') return end({ kind: 'tokenLimit', limit: maxTokens === left ? 'response' : 'turn' });
    if (calls.length === 0) return end({ kind: 'answered' });
    if (this.#turns.length + 1 >= limits.turns) return end({ kind: 'turnLimit' });

    const replies: Reply[] = [];
    let stopTool: string | undefined;
    for (const [i, { segment }] of calls.entries()) {
      if (i >= limits.callsPerTurn || stopTool !== undefined) {
        replies.push(this.#session.refuseFurther(limits.callsPerTurn));
      } else if (segment.kind !== 'call') {
        if (++this.#malformedInARow >= limits.malformedInARow) return end({ kind: 'malformedLimit' });
        replies.push(this.#session.refuse(segment));
      } else {
        this.#malformedInARow = 0;
        const called = await this.#session.call(segment);
        if (called.kind === 'infra') return this.#infra(called.error);
        replies.push(called.reply);
        if (called.final || this.world?.done) stopTool = segment.name;
      }
    }
    if (stopTool !== undefined) return end({ kind: 'stopTool', tool: stopTool }, replies);
    this.#turns.push({ ...turn, replies });
    this.#answerCalls(answer, calls, replies);
    return undefined;
  }

  /** Appends the turn and the replies as the server wants to read them. */
  #answerCalls(answer: ChatTurn, calls: readonly Written[], replies: readonly Reply[]): void {
    const wire = calls.flatMap(({ wire }) => (wire === undefined ? [] : [wire]));
    this.#messages.push({
      role: 'assistant',
      content: answer.content === '' && wire.length > 0 ? null : answer.content,
      ...(wire.length > 0 && { tool_calls: wire }),
    });
    for (const [i, { wire: call }] of calls.entries()) {
      if (call !== undefined) this.#messages.push({ role: 'tool', tool_call_id: call.id, content: replies[i]!.text });
    }
    const written = replies.filter((_, i) => calls[i]!.wire === undefined).map(({ text }) => writeToolResponse(text));
    if (written.length > 0) this.#messages.push({ role: 'user', content: written.join('\n') });
  }

  /** Tokens of the response so far, tools' included, as far as the server counts them. */
  #used(): number {
    const last = this.#answers.at(-1);
    if (last === undefined) return 0;
    const first = this.#answers[0]!.promptTokens;
    if (first !== undefined && last.promptTokens !== undefined) return last.promptTokens + (last.completionTokens ?? 0) - first;
    return this.#turns.reduce((sum, { tokens }) => sum + tokens, 0);
  }

  async #finish(stopReason: StopReason): Promise<Rollout<P>> {
    const { trajectoryId, groupId, problem, signal = new AbortController().signal } = this.input;
    const finalText = stopReason.kind === 'deadline' ? '' : this.#finalText;
    const ended = await this.world?.finish({ stopReason, finalText, signal });
    if (ended?.kind === 'infra') return this.#infra(ended.error);
    const tokens = tokensOf(this.#answers) ?? { promptTokens: [], tokens: [], mask: [], samplerLogProbs: [] };
    const trajectory = {
      trajectoryId,
      groupId,
      problem,
      ...tokens,
      turns: this.#turns,
      finalText,
      stopReason,
      seconds: (performance.now() - this.#started) / 1000,
      ...(ended && { environment: ended.outcome }),
    };
    return { kind: 'finished', trajectory };
  }

  #infra(error: string): Rollout<P> {
    const { trajectoryId, groupId, problem } = this.input;
    return { kind: 'infra', trajectoryId, groupId, problem, error };
  }
}

type AnyCall = CallSegment | MalformedCallSegment | CutOffCallSegment;

/** A segment, with the call on the wire that it is. */
interface Written {
  readonly segment: Segment;
  /** As it goes back to the server: its arguments are always valid JSON, since templates read them. */
  readonly wire?: WireCall;
}

const isCall = (segment: Segment): segment is AnyCall =>
  segment.kind === 'call' || segment.kind === 'malformedCall' || segment.kind === 'cutOffCall';

/** Thinking, text and calls of a turn; calls that the server left in the text are read there. */
function segmentsOf(answer: ChatTurn): Written[] {
  const atLimit = answer.stop === 'length';
  const inText = parseTurn(answer.content, atLimit).map((segment): Written => ({ segment }));
  const thinking: Written[] = answer.reasoning.trim() === '' ? [] : [{ segment: { kind: 'thinking', text: answer.reasoning.trim() } }];
  return [...thinking, ...inText, ...answer.calls.map((call) => readCall(call, atLimit))];
}

function readCall(call: WireCall, atLimit: boolean): Written {
  const { name, arguments: raw } = call.function;
  try {
    const value: unknown = JSON.parse(raw === '' ? '{}' : raw);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      const segment: CallSegment = { kind: 'call', name, arguments: value as Record<string, unknown>, repairs: [] };
      return { segment, wire: { ...call, function: { name, arguments: JSON.stringify(value) } } };
    }
  } catch {
    // Told to the model below.
  }
  const segment: AnyCall = atLimit
    ? { kind: 'cutOffCall', raw }
    : { kind: 'malformedCall', raw, problem: `The arguments of ${name} are no JSON object.` };
  return { segment, wire: { ...call, function: { name, arguments: '{}' } } };
}

/** The trajectory's tokens where every turn came with ids and each prompt begins with all that stood before; else undefined. */
function tokensOf(
  answers: readonly ChatTurn[],
): { promptTokens: readonly number[]; tokens: number[]; mask: number[]; samplerLogProbs: number[] } | undefined {
  const first = answers[0]?.sampled;
  if (first === undefined) return undefined;
  const tokens: number[] = [];
  const mask: number[] = [];
  const samplerLogProbs: number[] = [];
  for (const { sampled } of answers) {
    if (sampled?.logProbs === undefined) return undefined;
    const { prompt } = sampled;
    const before = first.prompt.length + tokens.length;
    const grows =
      prompt.length >= before && prompt.every((id, i) => i >= before || id === (first.prompt[i] ?? tokens[i - first.prompt.length]));
    if (!grows) return undefined;
    for (const id of prompt.slice(before)) {
      tokens.push(id);
      mask.push(0);
      samplerLogProbs.push(0);
    }
    for (const [i, id] of sampled.tokens.entries()) {
      tokens.push(id);
      mask.push(1);
      samplerLogProbs.push(sampled.logProbs[i]!);
    }
  }
  return { promptTokens: first.prompt, tokens, mask, samplerLogProbs };
}

/** Head and tail stay; a marker says how much is left out. */
function shorten(text: string, most: number): string {
  if (text.length <= most) return text;
  const marker = `\n[... ${text.length - most} characters left out ...]\n`;
  const head = Math.ceil(most / 2);
  return text.slice(0, head) + marker + text.slice(text.length - (most - head));
}
