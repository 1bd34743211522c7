/** Chat completions with tools: what is sent, and what came back as one turn. Does not retry and does not run tools. */
import type { ToolDescription } from '../tools/jsonSchema.js';
import { EngineError } from './engineError.js';
import type { OpenAiClient } from './openaiClient.js';

export type WireMessage =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | { readonly role: 'assistant'; readonly content: string | null; readonly tool_calls?: readonly WireCall[] }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string };

export interface WireCall {
  readonly id: string;
  readonly type: 'function';
  /** `arguments` is JSON text. */
  readonly function: { readonly name: string; readonly arguments: string };
}

export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly WireMessage[];
  /** Empty: none are named to the server. */
  readonly tools: readonly ToolDescription[];
  readonly maxTokens: number;
  readonly temperature: number;
  readonly topP: number;
  /** An extension of vLLM and SGLang; others refuse it or leave it out of account. */
  readonly topK?: number;
  readonly seed?: number;
  readonly logProbs?: boolean;
  /** An extension of vLLM. */
  readonly tokenIds?: boolean;
  /** Newer hosted models know this name alone. */
  readonly completionLimit?: boolean;
}

export interface ChatTurn {
  readonly content: string;
  /** Thinking that the server took out of the content. */
  readonly reasoning: string;
  readonly calls: readonly WireCall[];
  readonly stop: 'stop' | 'length';
  /** As the server counts them. */
  readonly promptTokens?: number;
  readonly completionTokens?: number;
  /** Sampled ids with the log-prob of each, where the server gives both. */
  readonly sampled?: { readonly prompt: readonly number[]; readonly tokens: readonly number[]; readonly logProbs?: readonly number[] };
}

/** What one request came to. `tooLong`: the conversation no longer fits into the model's context. */
export type ChatOutcome = { readonly kind: 'turn'; readonly turn: ChatTurn } | { readonly kind: 'tooLong'; readonly message: string };

/** @throws EngineError: `user` when the server refuses the request, `server` when its answer is none, `connection` */
export async function chat(client: OpenAiClient, ask: ChatRequest, signal?: AbortSignal): Promise<ChatOutcome> {
  const { status, body } = await client.post('chat/completions', chatBody(ask), signal);
  if (status >= 200 && status < 300) return { kind: 'turn', turn: readTurn(body, client.url) };
  const message = client.messageOf(body);
  if (status === 400 && /context|maximum.{0,20}(length|tokens)|too (long|large)/i.test(message)) return { kind: 'tooLong', message };
  throw new EngineError('user', `${client.url} answers HTTP ${status}: ${message}`, status);
}

/** The request as JSON. */
export function chatBody(ask: ChatRequest): Record<string, unknown> {
  return {
    model: ask.model,
    messages: ask.messages,
    ...(ask.tools.length > 0 && { tools: ask.tools.map((tool) => ({ type: 'function', function: tool })) }),
    [ask.completionLimit === true ? 'max_completion_tokens' : 'max_tokens']: ask.maxTokens,
    temperature: ask.temperature,
    top_p: ask.topP,
    ...(ask.topK !== undefined && { top_k: ask.topK }),
    ...(ask.seed !== undefined && { seed: ask.seed }),
    ...(ask.logProbs === true && { logprobs: true }),
    ...(ask.tokenIds === true && { return_token_ids: true }),
  };
}

/** @throws EngineError (server) where a field is not what the protocol says */
export function readTurn(body: unknown, url: string): ChatTurn {
  const wrong = (what: string): EngineError => new EngineError('server', `${url}: the answer is no chat completion: ${what}`);
  if (typeof body !== 'object' || body === null) throw wrong('it is no JSON object');
  const choice = list(field(body, 'choices'))?.[0];
  const message = field(choice, 'message');
  if (typeof message !== 'object' || message === null) throw wrong('it has no message');
  const content = text(field(message, 'content'));
  if (content === undefined) throw wrong('its content is no text');
  const calls = (list(field(message, 'tool_calls')) ?? []).map((call, i): WireCall => {
    const name = field(field(call, 'function'), 'name');
    const given = field(field(call, 'function'), 'arguments');
    if (typeof name !== 'string') throw wrong('a tool call has no name');
    const id = field(call, 'id');
    const args = typeof given === 'string' ? given : JSON.stringify(given ?? {});
    return { id: typeof id === 'string' && id !== '' ? id : `call_${i}`, type: 'function', function: { name, arguments: args } };
  });
  const usage = field(body, 'usage');
  const promptTokens = wholeNumber(field(usage, 'prompt_tokens'));
  const completionTokens = wholeNumber(field(usage, 'completion_tokens'));
  const sampled = readSampled(body, choice);
  return {
    content,
    reasoning: text(field(message, 'reasoning_content') ?? field(message, 'reasoning')) ?? '',
    calls,
    stop: field(choice, 'finish_reason') === 'length' ? 'length' : 'stop',
    ...(promptTokens !== undefined && { promptTokens }),
    ...(completionTokens !== undefined && { completionTokens }),
    ...(sampled && { sampled }),
  };
}

function readSampled(body: unknown, choice: unknown): ChatTurn['sampled'] {
  const prompt = numbers(field(body, 'prompt_token_ids'));
  const tokens = numbers(field(choice, 'token_ids'));
  if (prompt === undefined || tokens === undefined) return undefined;
  const logProbs = numbers(list(field(field(choice, 'logprobs'), 'content'))?.map((entry) => field(entry, 'logprob')));
  return { prompt, tokens, ...(logProbs?.length === tokens.length && { logProbs }) };
}

/** Whether an answer carries log-probs at all, with ids or without. */
export const hasLogProbs = (body: unknown): boolean =>
  typeof field(list(field(field(list(field(body, 'choices'))?.[0], 'logprobs'), 'content'))?.[0], 'logprob') === 'number';

const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
const list = (value: unknown): readonly unknown[] | undefined => (Array.isArray(value) ? value : undefined);
/** A server that has nothing to say gives null. */
const text = (value: unknown): string | undefined =>
  value === null || value === undefined ? '' : typeof value === 'string' ? value : undefined;
const numbers = (value: unknown): number[] | undefined =>
  Array.isArray(value) && value.every((item): item is number => typeof item === 'number' && Number.isFinite(item)) ? value : undefined;
const wholeNumber = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined;
