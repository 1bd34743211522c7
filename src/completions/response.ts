/** Completions as the protocol writes them: whole, and as the chunks of a stream. Knows nothing of how they came about. */
import type { ChatFormat } from '../chat/chatFormat.js';
import type { SamplePart } from '../engine/sampler.js';
import type { Answer } from './answer.js';
import type { Choice, Completion, ExecutedCall, FinishReason } from './complete.js';
import type { AnswerDelta } from './turnStream.js';

type Bytes = Pick<ChatFormat, 'decode' | 'bytesOf'>;

/** The body `chat.completion`. */
export function wireCompletion(completion: Completion, format: Bytes): object {
  const { id, created, call, choices, promptTokens, policyVersion } = completion;
  return {
    id,
    object: 'chat.completion',
    created,
    model: call.model,
    system_fingerprint: fingerprint(policyVersion),
    choices: choices.map((choice) => wireChoice(choice, completion, format)),
    usage: wireUsage(completion),
    ...(call.tokenIds && { prompt_token_ids: promptTokens }),
  };
}

function wireChoice({ index, answer, finishReason, sample, executed }: Choice, { call }: Completion, format: Bytes): object {
  return {
    index,
    message: wireMessage(answer),
    finish_reason: finishReason,
    logprobs: call.logProbs ? wireLogProbs(sample, format) : null,
    ...(call.tokenIds && { token_ids: sample.tokens }),
    ...(executed && { executed_tool_calls: executed }),
  };
}

/** The assistant's message as a client gets it, and sends it back. */
export function wireMessage({ content, reasoning, calls }: Answer): object {
  return {
    role: 'assistant',
    content: content === '' && calls.length > 0 ? null : content,
    refusal: null,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ id, name, arguments: args }) => ({
        id,
        type: 'function',
        function: { name, arguments: JSON.stringify(args) },
      })),
    }),
  };
}

/** Of every token that was sampled, thinking, calls and the end of the turn included; the raw distribution at temperature 1. */
export function wireLogProbs({ tokens, logProbs }: SamplePart, format: Bytes): object {
  return {
    content: tokens.map((token, i) => ({
      token: format.decode([token]),
      logprob: logProbs[i],
      bytes: Array.from(format.bytesOf(token)),
      top_logprobs: [],
    })),
    refusal: null,
  };
}

export function wireUsage({ promptTokens, choices }: Completion): object {
  const sampled = choices.reduce((sum, { sample }) => sum + sample.tokens.length, 0);
  return { prompt_tokens: promptTokens.length, completion_tokens: sampled, total_tokens: promptTokens.length + sampled };
}

/** Who a stream's chunks are of. */
export interface ChunkHead {
  readonly id: string;
  readonly created: number;
  readonly model: string;
  readonly policyVersion: number;
}

/** One `chat.completion.chunk`; without a choice it carries the usage alone. */
export function wireChunk(head: ChunkHead, choice: ChunkChoice | undefined, usage?: object): object {
  const { id, created, model, policyVersion } = head;
  return {
    id,
    object: 'chat.completion.chunk',
    created,
    model,
    system_fingerprint: fingerprint(policyVersion),
    choices: choice
      ? [
          {
            index: choice.index,
            delta: choice.delta,
            finish_reason: choice.finishReason ?? null,
            ...(choice.logProbs && { logprobs: choice.logProbs }),
            ...(choice.executed && { executed_tool_calls: choice.executed }),
          },
        ]
      : [],
    ...(usage && { usage }),
  };
}

export interface ChunkChoice {
  readonly index: number;
  readonly delta: object;
  readonly finishReason?: FinishReason;
  readonly logProbs?: object;
  /** With the last chunk of a choice. */
  readonly executed?: readonly ExecutedCall[];
}

export function wireDelta(delta: AnswerDelta): object {
  switch (delta.kind) {
    case 'content':
      return { content: delta.text };
    case 'reasoning':
      return { reasoning_content: delta.text };
    case 'call': {
      const call = { name: delta.name, arguments: JSON.stringify(delta.arguments) };
      return { tool_calls: [{ index: delta.index, id: delta.id, type: 'function', function: call }] };
    }
  }
}

const fingerprint = (policyVersion: number): string => `toolwise-policy-${policyVersion}`;
