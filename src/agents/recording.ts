/**
 * One rollout of an agent as its model calls tell it: answers each from the policy, under the recipe's sampling and limits, and keeps the
 * tokens. Does not run the agent (`agentRollout.ts`) and knows no HTTP (`agentServer.ts`).
 */
import type { ChatCall } from '../completions/chatCall.js';
import { type Choice, type CompleteOptions, type Completion, type CompletionOutcome, complete } from '../completions/complete.js';
import { TokenHistory } from '../completions/history.js';
import { invalid } from '../completions/refusal.js';
import type { Problem } from '../domain/problem.js';
import type { StopReason } from '../domain/stopReason.js';
import type { Branch } from '../domain/trajectory.js';
import { EngineError } from '../engine/engineError.js';
import type { Sample } from '../engine/sampler.js';
import type { RolloutSettings } from '../rollout/episode.js';
import { promptLimit } from '../rollout/episode.js';
import { ATTEMPTS_PER_TURN, type RolloutInput } from '../rollout/runRollout.js';
import { Lines } from './lines.js';
import { TurnRecord } from './turnRecord.js';

export interface RecordingOptions<P extends Problem> {
  readonly settings: RolloutSettings;
  readonly input: RolloutInput<P>;
  /** Ends what is being sampled. */
  readonly signal: AbortSignal;
  /** Told once what a person should know of how the agent calls. */
  readonly onNotice: (text: string) => void;
  /** Told when an answer was refused for a limit, once. */
  readonly onLimit: () => void;
  /** Told when the engine cannot go on with this rollout: nothing further is answered. */
  readonly onFailure: (error: EngineError) => void;
}

/** How an answer is told as it is made. */
export type AnswerOptions = Pick<CompleteOptions, 'id' | 'signal' | 'onStart' | 'onDelta' | 'onTokens'>;

export class Recording<P extends Problem = Problem> {
  readonly #options: RecordingOptions<P>;
  readonly #history: TokenHistory;
  readonly #lines = new Lines();
  readonly #turns: TurnRecord[] = [];
  readonly #failed = new Set<string>();
  #begun = 0;
  #limit: StopReason | undefined;
  #refused = false;
  #closed = false;

  constructor(options: RecordingOptions<P>) {
    this.#options = options;
    this.#history = new TokenHistory(options.settings.format, { maxTokens: Number.POSITIVE_INFINITY });
  }

  /** Answers given so far. */
  get answers(): number {
    return this.#turns.length;
  }

  /** Answers asked for so far. */
  get asked(): number {
    return this.#begun;
  }

  /** The limit that the agent ran into; absent where it ran into none. */
  get limit(): StopReason | undefined {
    return this.#limit;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Nothing is answered any more. */
  close(): void {
    this.#closed = true;
  }

  /** A call of the model's whose execution failed, where the agent says so. */
  callFailed(callId: string): void {
    this.#failed.add(callId);
  }

  /** All lines of tokens with their turns, in the order in which they began. */
  branches(): Branch[] {
    return this.#lines.branches();
  }

  /**
   * @throws the signal's reason, the call's or the rollout's
   * @throws EngineError where the engine failed again and again, or refuses; `onFailure` was told
   */
  async answer(asked: ChatCall, options: AnswerOptions = {}): Promise<CompletionOutcome> {
    const { settings, onNotice } = this.#options;
    const { limits } = settings;
    if (this.#closed) return refused('the rollout has ended: its model answers no more', 'rollout_ended');
    for (const message of asked.messages) if (message.role === 'tool') this.#takeResult(message.callId, message.content);
    if (this.#limit) return this.#end(this.#limit);
    if (this.#begun + asked.n > limits.turns) return this.#end({ kind: 'turnLimit' });
    const call = this.#underRules(asked);
    const placed = this.#history.place(call);
    if (placed.kind === 'refused') return placed;
    const prompt = placed.place.tokens;
    const tooLong = this.#tooLong(prompt);
    if (tooLong !== undefined) {
      onNotice(tooLong);
      return this.#end({ kind: 'tokenLimit', limit: 'response' }, tooLong);
    }
    const room = this.#roomAfter(prompt);
    if (room < 1) return this.#end({ kind: 'tokenLimit', limit: 'response' });
    const turn = this.#begun;
    this.#begun += asked.n;
    const most = Math.min(room, limits.turnTokens ?? Number.POSITIVE_INFINITY);
    const outcome = await this.#sample({ ...call, maxTokens: Math.min(most, asked.maxTokens ?? most) }, turn, options);
    if (outcome.kind === 'completed') this.#keep(outcome.completion, asked.maxTokens, room);
    return outcome;
  }

  /** Sampling is the recipe's, whatever the agent asks for: the update is of that distribution. */
  #underRules(asked: ChatCall): ChatCall {
    const { settings, input, onNotice } = this.#options;
    const { temperature, topP, topK } = input.sampling ?? settings.sampling;
    const { topK: askedTopK, seed: _, ...call } = asked;
    const differs = (own: number | undefined, given: number | undefined): boolean => given !== undefined && given !== own;
    if (differs(temperature, asked.temperature) || differs(topP, asked.topP) || differs(topK, askedTopK)) {
      onNotice(
        `the agent asks for ${samplingOf(asked)}; its model is sampled as the recipe says: temperature ${temperature}, top-p ${topP}${topK === undefined ? '' : `, top-k ${topK}`}`,
      );
    }
    return { ...call, temperature, topP, ...(topK !== undefined && { topK }) };
  }

  /** Tokens that an answer to this prompt may have. */
  #roomAfter(prompt: readonly number[]): number {
    const { settings } = this.#options;
    const { limits, contextTokens = Number.POSITIVE_INFINITY } = settings;
    const added = this.#lines.newIn(prompt) ?? 0;
    return Math.min(limits.responseTokens - this.#lines.length - added, contextTokens - prompt.length);
  }

  /** Why a prompt may not begin a line; undefined where it may, or goes on from one. */
  #tooLong(prompt: readonly number[]): string | undefined {
    const { settings } = this.#options;
    if (this.#lines.newIn(prompt) !== undefined) return undefined;
    // It may begin with what the rollout has made so far.
    const most = promptLimit(settings) + (this.#lines.count === 0 ? 0 : settings.limits.responseTokens);
    if (prompt.length <= most) return undefined;
    return `a prompt of the agent is too long: limits.promptTokens and the model's context allow ${promptLimit(settings)} tokens, and it has more`;
  }

  async #sample(call: ChatCall, turn: number, options: AnswerOptions): Promise<CompletionOutcome> {
    const { settings, input, onFailure } = this.#options;
    const { sampler, format, contextTokens } = settings;
    const signal = options.signal ? AbortSignal.any([options.signal, this.#options.signal]) : this.#options.signal;
    // In one piece: a sample that fails is made anew, which a client that has read its beginning could not be told.
    const whole = {
      policyVersion: sampler.policyVersion,
      sample: async (...args: Parameters<typeof sampler.sample>) => {
        const [request] = args;
        return checked(await sampler.sample({ ...request, conversation: input.trajectoryId }, args[1]));
      },
    };
    const completion = { sampler: whole, format, history: this.#history, ...(contextTokens !== undefined && { contextTokens }) };
    for (let attempt = 0; ; attempt++) {
      const told: (() => void)[] = [];
      const { id, onStart, onDelta, onTokens } = options;
      try {
        const outcome = await complete(call, completion, {
          seed: (choice) => input.seed(turn + choice, attempt),
          signal,
          ...(id !== undefined && { id }),
          ...(onStart && { onStart: () => void told.push(onStart) }),
          ...(onDelta && { onDelta: (...delta) => void told.push(() => onDelta(...delta)) }),
          ...(onTokens && { onTokens: (...part) => void told.push(() => onTokens(...part)) }),
        });
        this.#options.signal.throwIfAborted();
        if (outcome.kind === 'completed') for (const tell of told) tell();
        return outcome;
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof EngineError)) throw error;
        if (error.category !== 'user' && attempt + 1 < ATTEMPTS_PER_TURN) continue;
        this.close();
        onFailure(error);
        throw error;
      }
    }
  }

  #keep(completion: Completion, asked: number | undefined, room: number): void {
    if (this.#closed) return;
    for (const choice of completion.choices) {
      const turn = new TurnRecord(choice, completion.policyVersion);
      this.#turns.push(turn);
      this.#lines.add(completion.promptTokens, choice.sample, () => turn.turn(this.#failed));
      this.#limit ??= this.#limitIn(choice, asked, room);
    }
  }

  /** A length that the agent itself asked for is none of the rollout's limits. */
  #limitIn({ sample, finishReason }: Choice, asked: number | undefined, room: number): StopReason | undefined {
    if (finishReason !== 'length' || sample.tokens.length === asked) return undefined;
    return { kind: 'tokenLimit', limit: sample.tokens.length >= room ? 'response' : 'turn' };
  }

  #takeResult(callId: string | undefined, text: string): void {
    if (callId === undefined) return;
    for (const turn of this.#turns) turn.takeResult(callId, text);
  }

  #end(limit: StopReason, why = said(limit)): CompletionOutcome {
    this.#limit ??= limit;
    if (!this.#refused) this.#options.onLimit();
    this.#refused = true;
    return refused(`the rollout has ended: ${why}`, 'limit_reached');
  }
}

const refused = (message: string, code: string): CompletionOutcome => ({ kind: 'refused', refusal: invalid(message, undefined, code) });

function said(limit: StopReason): string {
  switch (limit.kind) {
    case 'turnLimit':
      return 'it has made as many model calls as limits.turns allows';
    case 'tokenLimit':
      return `it has as many tokens as ${limit.limit === 'turn' ? 'limits.turnTokens' : 'limits.responseTokens'} and the model's context allow`;
    default:
      return limit.kind;
  }
}

function samplingOf({ temperature, topP, topK }: ChatCall): string {
  const parts = [
    temperature === undefined ? [] : [`temperature ${temperature}`],
    topP === undefined ? [] : [`top-p ${topP}`],
    topK === undefined ? [] : [`top-k ${topK}`],
  ];
  return parts.flat().join(', ');
}

/** @throws EngineError (server) where it is not well formed */
function checked(sample: Sample): Sample {
  const { tokens, logProbs } = sample;
  if (tokens.length !== logProbs.length) {
    throw new EngineError('server', `the engine returned ${tokens.length} tokens with ${logProbs.length} log-probs`);
  }
  const at = logProbs.findIndex((value) => !Number.isFinite(value));
  if (at !== -1) throw new EngineError('server', `the engine returned the log-prob ${logProbs[at]} for token ${at}`);
  return sample;
}
