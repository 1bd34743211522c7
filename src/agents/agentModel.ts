/**
 * The policy as a language model of the AI SDK (its specification v3), written out here so that nothing of the SDK is needed at run time. A
 * request goes the same way as one over HTTP. Does not know rollouts.
 */
import type { ChatCall } from '../completions/chatCall.js';
import type { Completion, CompletionOutcome } from '../completions/complete.js';
import { readChatCall } from '../completions/request.js';
import { foreignPart, type ModelCallOptions, type ModelWarning, wireOf } from './modelPrompt.js';

/** Fits the SDK's `LanguageModelV3`. */
export interface AgentModel {
  readonly specificationVersion: 'v3';
  readonly provider: string;
  readonly modelId: string;
  readonly supportedUrls: Record<string, RegExp[]>;
  doGenerate(options: ModelCallOptions): Promise<ModelResult>;
  /** The whole answer at once, as a stream: a rollout's samples are taken in one piece. */
  doStream(options: ModelCallOptions): Promise<{ stream: ReadableStream<ModelStreamPart> }>;
}

export interface ModelResult {
  content: ModelContent[];
  finishReason: ModelFinish;
  usage: ModelUsage;
  warnings: ModelWarning[];
  response: { id: string; timestamp: Date; modelId: string };
}

export type ModelContent =
  | { type: 'text'; text: string }
  | { type: 'reasoning'; text: string }
  | { type: 'tool-call'; toolCallId: string; toolName: string; input: string };

export interface ModelFinish {
  unified: 'stop' | 'length' | 'tool-calls';
  raw: string;
}

export interface ModelUsage {
  inputTokens: { total: number; noCache: undefined; cacheRead: undefined; cacheWrite: undefined };
  outputTokens: { total: number; text: undefined; reasoning: undefined };
}

export type ModelStreamPart =
  | { type: 'stream-start'; warnings: ModelWarning[] }
  | { type: 'response-metadata'; id: string; timestamp: Date; modelId: string }
  | { type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end' | 'tool-input-end'; id: string }
  | { type: 'text-delta' | 'reasoning-delta' | 'tool-input-delta'; id: string; delta: string }
  | { type: 'tool-input-start'; id: string; toolName: string }
  | Extract<ModelContent, { type: 'tool-call' }>
  | { type: 'finish'; finishReason: ModelFinish; usage: ModelUsage };

/** A request that was refused: the rollout ran into a limit, or the policy cannot do what is asked. */
export class ModelRefusal extends Error {
  override readonly name = 'ModelRefusal';
  constructor(
    message: string,
    readonly statusCode: number,
    readonly code?: string,
  ) {
    super(message);
  }
}

export interface ModelParts {
  readonly modelId: string;
  readonly answer: (call: ChatCall, options: { readonly signal?: AbortSignal }) => Promise<CompletionOutcome>;
  /** Told the ids of calls whose execution failed, as the SDK marks them. */
  readonly callFailed: (callId: string) => void;
}

export function agentModel({ modelId, answer, callFailed }: ModelParts): AgentModel {
  const ask = async (options: ModelCallOptions): Promise<ModelResult> => {
    const foreign = foreignPart(options);
    if (foreign !== undefined) throw new ModelRefusal(foreign, 400);
    const { body, warnings, failed } = wireOf(modelId, options);
    for (const id of failed) callFailed(id);
    const read = readChatCall(body);
    if (read.kind === 'refused') throw refusalOf(read);
    const outcome = await answer(read.call, options.abortSignal ? { signal: options.abortSignal } : {});
    if (outcome.kind === 'refused') throw refusalOf(outcome);
    return resultOf(outcome.completion, modelId, warnings);
  };
  return {
    specificationVersion: 'v3',
    provider: 'toolwise',
    modelId,
    supportedUrls: {},
    doGenerate: ask,
    doStream: async (options) => {
      const parts = partsOf(await ask(options));
      return {
        stream: new ReadableStream<ModelStreamPart>({
          start(controller) {
            for (const part of parts) controller.enqueue(part);
            controller.close();
          },
        }),
      };
    },
  };
}

const refusalOf = ({ refusal }: Extract<CompletionOutcome, { kind: 'refused' }>): ModelRefusal =>
  new ModelRefusal(refusal.message, refusal.status, refusal.code);

function resultOf({ id, created, promptTokens, choices }: Completion, modelId: string, warnings: ModelWarning[]): ModelResult {
  const { answer, finishReason, sample } = choices[0]!;
  const content: ModelContent[] = [];
  if (answer.reasoning !== '') content.push({ type: 'reasoning', text: answer.reasoning });
  if (answer.content !== '') content.push({ type: 'text', text: answer.content });
  for (const call of answer.calls) {
    content.push({ type: 'tool-call', toolCallId: call.id, toolName: call.name, input: JSON.stringify(call.arguments) });
  }
  return {
    content,
    finishReason: { unified: finishReason === 'tool_calls' ? 'tool-calls' : finishReason, raw: finishReason },
    usage: {
      inputTokens: { total: promptTokens.length, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: sample.tokens.length, text: undefined, reasoning: undefined },
    },
    warnings,
    response: { id, timestamp: new Date(created * 1000), modelId },
  };
}

function partsOf({ content, finishReason, usage, warnings, response }: ModelResult): ModelStreamPart[] {
  const parts: ModelStreamPart[] = [
    { type: 'stream-start', warnings },
    { type: 'response-metadata', ...response },
  ];
  for (const [i, part] of content.entries()) {
    if (part.type === 'tool-call') {
      const id = part.toolCallId;
      parts.push({ type: 'tool-input-start', id, toolName: part.toolName }, { type: 'tool-input-delta', id, delta: part.input });
      parts.push({ type: 'tool-input-end', id }, part);
      continue;
    }
    const id = String(i);
    parts.push({ type: `${part.type}-start`, id }, { type: `${part.type}-delta`, id, delta: part.text }, { type: `${part.type}-end`, id });
  }
  return [...parts, { type: 'finish', finishReason, usage }];
}
