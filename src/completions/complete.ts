/**
 * Answers one chat call with a token sampler: the prompt from the history, a sample for each answer wanted, each read into what a client sees.
 * Does not retry, does not run tools, and does not know HTTP.
 */
import { randomInt, randomUUID } from 'node:crypto';
import type { ChatFormat } from '../chat/chatFormat.js';
import { writeCall } from '../chat/hermes.js';
import { parseTurn } from '../chat/parseTurn.js';
import type { Segment } from '../domain/segment.js';
import type { Sample, SamplePart, SampleRequest, Sampler } from '../engine/sampler.js';
import { deriveSeed } from '../random.js';
import type { ToolDescription } from '../tools/jsonSchema.js';
import { type Answer, type AnswerShape, answerOf } from './answer.js';
import { type ChatCall, takesCalls } from './chatCall.js';
import type { Continued, Place, Placed, TokenHistory } from './history.js';
import { invalid, type Refusal } from './refusal.js';
import { type AnswerDelta, answerIn, TurnStream } from './turnStream.js';
import { TurnText, turnTextOf } from './turnText.js';

export interface CompletionSettings {
  readonly sampler: Sampler;
  readonly format: ChatFormat;
  readonly history: TokenHistory;
  /** Prompt and answer together, where the model has such a limit. */
  readonly contextTokens?: number;
  /** Tokens of an answer whose caller names no limit, and the most that one may ask for. */
  readonly maxTokens?: number;
  /** What the caller leaves out; default temperature 1 and top-p 1. */
  readonly sampling?: { readonly temperature: number; readonly topP: number; readonly topK?: number };
}

export interface CompleteOptions {
  /** Default `chatcmpl-` and a random number. */
  readonly id?: string;
  /** Of each answer's sample; default: from the call's seed, else random. */
  readonly seed?: (choice: number) => number;
  readonly signal?: AbortSignal;
  /** The call is not refused: sampling begins. */
  readonly onStart?: () => void;
  /** Told all tokens of an answer, in parts where the sampler can stream. */
  readonly onTokens?: (choice: number, part: SamplePart) => void;
  /** Told what is certain of an answer, where the sampler can stream as it is made, else at its end. */
  readonly onDelta?: (choice: number, delta: AnswerDelta) => void;
}

export interface Completion {
  readonly id: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly call: ChatCall;
  readonly promptTokens: readonly number[];
  /** The answer that the prompt goes on from: `id` is its choice's, and the first `length` tokens are its prompt and what was sampled then. */
  readonly continues?: Continued;
  readonly policyVersion: number;
  readonly choices: readonly Choice[];
}

export interface Choice {
  /** `<id of the completion>/<index>`. */
  readonly id: string;
  readonly index: number;
  readonly sample: Sample;
  /** What the model wrote, and before it what it was made to begin with. */
  readonly text: string;
  readonly segments: readonly Segment[];
  /** What the client sees. */
  readonly answer: Answer;
  readonly finishReason: FinishReason;
  /** Calls that the server ran itself on the way to the answer. */
  readonly executed?: readonly ExecutedCall[];
}

export interface ExecutedCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** As the model read it. */
  readonly result: string;
  readonly success: boolean;
}

export type FinishReason = 'stop' | 'length' | 'tool_calls';

/** Refused: the call does not fit into the context, or the template cannot render it. */
export type CompletionOutcome =
  | { readonly kind: 'completed'; readonly completion: Completion }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

/**
 * @throws EngineError as the sampler does
 * @throws the signal's reason when it is aborted
 */
export async function complete(call: ChatCall, settings: CompletionSettings, options: CompleteOptions = {}): Promise<CompletionOutcome> {
  const { format, history } = settings;
  const { id = newCompletionId() } = options;
  const placed = placeOf(call, settings);
  if (placed.kind === 'refused') return placed;
  const begun = beginning(call, format);
  if (begun.kind === 'refused') return begun;
  const place: Place = { ...placed.place, tokens: [...placed.place.tokens, ...begun.tokens] };
  const room = roomOf(call, settings, place.tokens.length);
  if (room.kind === 'refused') return room;
  const seed = options.seed ?? seedsOf(call);
  options.onStart?.();
  const choices = await Promise.all(
    Array.from({ length: call.n }, (_, index) =>
      choose({ call, settings, options, id, place, begun: begun.text, index, seed: seed(index), maxTokens: room.tokens }),
    ),
  );
  const completion: Completion = {
    id,
    created: Math.floor(Date.now() / 1000),
    call,
    promptTokens: place.tokens,
    ...(place.continues && { continues: place.continues }),
    policyVersion: settings.sampler.policyVersion,
    choices,
  };
  for (const { id: choice, answer, sample } of choices) history.remember(place, { id: choice, answer, tokens: sample.tokens });
  return { kind: 'completed', completion };
}

/**
 * Where the call stands. One that cannot fit, however well its text is packed, is refused before it is tokenised: megabytes would take a
 * minute, in which nobody else is answered.
 */
export function placeOf(call: ChatCall, { format, history, contextTokens }: CompletionSettings): Placed {
  if (contextTokens !== undefined) {
    const bytes = call.messages.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);
    const least = format.leastTokens(bytes);
    if (least >= contextTokens) return { kind: 'refused', refusal: tooLong(contextTokens, least, 'at least ') };
  }
  return history.place(call);
}

export const newCompletionId = (): string => `chatcmpl-${randomUUID().replaceAll('-', '')}`;

interface ChoiceInput {
  readonly call: ChatCall;
  readonly settings: CompletionSettings;
  readonly options: CompleteOptions;
  readonly id: string;
  readonly place: Place;
  readonly begun: string;
  readonly index: number;
  readonly seed: number;
  readonly maxTokens: number;
}

async function choose({ call, settings, options, id, place, begun, index, seed, maxTokens }: ChoiceInput): Promise<Choice> {
  const { sampler, format, sampling = { temperature: 1, topP: 1 } } = settings;
  const { onDelta, signal } = options;
  const topK = call.topK ?? sampling.topK;
  const request: SampleRequest = {
    prompt: place.tokens,
    maxTokens,
    temperature: call.temperature ?? sampling.temperature,
    topP: call.topP ?? sampling.topP,
    ...(topK !== undefined && { topK }),
    seed,
    stopTokenIds: format.stopTokenIds,
    ...(call.stop.length > 0 && { stopStrings: call.stop }),
  };
  const shape: AnswerShape = {
    takesCalls: takesCalls(call),
    callsPerTurn: call.callsPerTurn,
    callId: (k) => `call_${id.replace(/^chatcmpl-/, '')}_${index}_${k}`,
  };
  const written = onDelta && { text: new TurnText(format, call.stop), turn: new TurnStream(shape, format.opensThinking) };
  const told: AnswerDelta[] = [];
  const give = (delta: AnswerDelta): void => {
    told.push(delta);
    onDelta?.(index, delta);
  };
  const tell = (text: string): void => {
    for (const delta of written?.turn.push(text) ?? []) give(delta);
  };
  if (begun !== '') tell(begun);
  let taken = 0;
  const take = (part: SamplePart): void => {
    taken += part.tokens.length;
    options.onTokens?.(index, part);
    if (written) tell(written.text.push(part.tokens));
  };
  const sample = sampler.stream
    ? await sampler.stream(request, onDelta || options.onTokens ? take : undefined, signal)
    : await sampler.sample(request, signal);
  signal?.throwIfAborted();
  if (taken < sample.tokens.length) take({ tokens: sample.tokens.slice(taken), logProbs: sample.logProbs.slice(taken) });
  const own = turnTextOf(format, sample.tokens, call.stop);
  const atLimit = sample.stop === 'length';
  if (written) {
    tell(written.text.end(own));
    for (const delta of written.turn.end(atLimit)) give(delta);
  }
  const text = begun + own;
  const turn = format.opensThinking ? `<think>${text}` : text;
  const segments = parseTurn(turn, atLimit);
  // What was told counts, since that is what the client sends back.
  const answer = written ? answerIn(told) : answerOf(turn, segments, shape);
  const finishReason = atLimit ? 'length' : answer.calls.length > 0 ? 'tool_calls' : 'stop';
  return { id: `${id}/${index}`, index, sample, text, segments, answer, finishReason };
}

type Beginning =
  | { readonly kind: 'begun'; readonly text: string; readonly tokens: readonly number[] }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

/**
 * A turn that must be a call is begun for the model: as far as tokens go that it would write itself. A vocabulary may have one token for all
 * that follows `<tool_call>`; then the rest is the model's.
 */
function beginning({ toolChoice, tools }: ChatCall, format: ChatFormat): Beginning {
  if (toolChoice.kind === 'auto' || toolChoice.kind === 'none') return { kind: 'begun', text: '', tokens: [] };
  if (format.opensThinking) {
    const what = "this model's turns begin with thinking, so that a call cannot be made to come first";
    return { kind: 'refused', refusal: invalid(`tool_choice: ${what}; use "auto"`, 'tool_choice') };
  }
  const named = toolChoice.kind === 'named';
  const tool = named ? tools.find(({ name }) => name === toolChoice.name)! : tools[0]!;
  const whole = writeCall({ name: tool.name, arguments: likelyArguments(tool) });
  const wanted = whole.slice(0, whole.indexOf(named ? ' {' : ' "', whole.indexOf(named ? '"arguments":' : '"name":')));
  const tokens = format.encode(whole);
  let count = 0;
  while (count < tokens.length && wanted.startsWith(format.decode(tokens.slice(0, count + 1)))) count++;
  return { kind: 'begun', text: format.decode(tokens.slice(0, count)), tokens: tokens.slice(0, count) };
}

/** As a model would begin them: what comes next decides where tokens end. */
function likelyArguments({ parameters }: ToolDescription): Readonly<Record<string, unknown>> {
  const [first = 'value'] = Object.keys((parameters.properties ?? {}) as object);
  return { [first]: 'x' };
}

type Room = { readonly kind: 'room'; readonly tokens: number } | { readonly kind: 'refused'; readonly refusal: Refusal };

/** Tokens that an answer may have. */
function roomOf(call: ChatCall, { contextTokens = Number.POSITIVE_INFINITY, maxTokens }: CompletionSettings, prompt: number): Room {
  const left = contextTokens - prompt;
  if (left < 1) return { kind: 'refused', refusal: tooLong(contextTokens, prompt) };
  const tokens = Math.min(call.maxTokens ?? Number.POSITIVE_INFINITY, maxTokens ?? Number.POSITIVE_INFINITY, left);
  return { kind: 'room', tokens: Number.isFinite(tokens) ? tokens : DEFAULT_TOKENS };
}

export const tooLong = (context: number, prompt: number, about: '' | 'at least ' = ''): Refusal =>
  invalid(
    `This model's maximum context length is ${context} tokens, prompt and answer together. Your messages and tools have ${about}${prompt} tokens. Shorten them.`,
    'messages',
    'context_length_exceeded',
  );

/** Of a model without a limit of any kind. */
const DEFAULT_TOKENS = 16_384;

const seedsOf =
  ({ seed, n }: ChatCall) =>
  (choice: number): number =>
    seed === undefined ? randomInt(2 ** 47) : n === 1 ? Math.abs(seed) : deriveSeed(seed, choice);
