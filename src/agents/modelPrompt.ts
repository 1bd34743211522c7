/**
 * What the AI SDK asks a language model, in the words of chat completions. Parts that a text model cannot read are refused; settings without
 * a counterpart are warned of, as the SDK expects.
 */

/** Of the SDK's call options, what is read here. */
export interface ModelCallOptions {
  readonly prompt: readonly ModelMessage[];
  readonly maxOutputTokens?: number | undefined;
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly topK?: number | undefined;
  readonly presencePenalty?: number | undefined;
  readonly frequencyPenalty?: number | undefined;
  readonly stopSequences?: readonly string[] | undefined;
  readonly seed?: number | undefined;
  readonly responseFormat?: { readonly type: string } | undefined;
  readonly tools?: readonly ModelTool[] | undefined;
  readonly toolChoice?: { readonly type: string; readonly toolName?: string } | undefined;
  readonly abortSignal?: AbortSignal | undefined;
}

export type ModelMessage =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user' | 'assistant' | 'tool'; readonly content: readonly ModelPart[] };

/** Loose: the SDK knows more kinds than a text model can read. */
export interface ModelPart {
  readonly type: string;
  readonly text?: string;
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly input?: unknown;
  readonly output?: { readonly type: string; readonly value?: unknown; readonly reason?: string };
}

export interface ModelTool {
  readonly type: string;
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: unknown;
}

export type ModelWarning = { type: 'unsupported'; feature: string; details?: string };

const READABLE = {
  user: ['text'],
  assistant: ['text', 'reasoning', 'tool-call'],
  tool: ['tool-result'],
} as const;

/** What cannot be read of a request, as a sentence; undefined where all can be. */
export function foreignPart({ prompt, tools = [], responseFormat }: ModelCallOptions): string | undefined {
  for (const { role, content } of prompt) {
    if (typeof content === 'string') continue;
    const known: readonly string[] = role === 'system' ? [] : READABLE[role];
    const foreign = content.find(({ type }) => !known.includes(type));
    if (foreign) return `a part of kind ${JSON.stringify(foreign.type)} in a message of the ${role} cannot be read by a text model`;
  }
  const provider = tools.find(({ type }) => type !== 'function');
  if (provider) return `the tool ${JSON.stringify(provider.name)} is one that the provider runs; give the model tools of your own`;
  if (responseFormat?.type === 'json') return 'answers are text: ask for JSON in a message, or offer a tool that takes it';
  return undefined;
}

export interface WireRequest {
  readonly body: Readonly<Record<string, unknown>>;
  readonly warnings: ModelWarning[];
  /** Ids of calls whose results say that they failed. */
  readonly failed: readonly string[];
}

export function wireOf(model: string, options: ModelCallOptions): WireRequest {
  const { prompt, tools = [], toolChoice, stopSequences, presencePenalty, frequencyPenalty } = options;
  const warnings: ModelWarning[] = [];
  for (const [feature, value] of Object.entries({ presencePenalty, frequencyPenalty })) {
    if (value !== undefined && value !== 0) warnings.push({ type: 'unsupported', feature });
  }
  const failed: string[] = [];
  const body = {
    model,
    messages: prompt.flatMap((message) => wireMessages(message, failed)),
    ...(tools.length > 0 && { tools: tools.map(wireTool), tool_choice: wireChoice(toolChoice) }),
    ...given('max_completion_tokens', options.maxOutputTokens),
    ...given('temperature', options.temperature),
    ...given('top_p', options.topP),
    ...given('top_k', options.topK),
    ...given('seed', options.seed),
    ...(stopSequences && stopSequences.length > 0 && { stop: stopSequences }),
  };
  return { body, warnings, failed };
}

const given = (name: string, value: number | undefined): Readonly<Record<string, number>> => (value === undefined ? {} : { [name]: value });

const wireTool = ({ name, description, inputSchema }: ModelTool) => ({
  type: 'function',
  function: { name, ...(description !== undefined && { description }), ...(inputSchema !== undefined && { parameters: inputSchema }) },
});

function wireChoice(choice: ModelCallOptions['toolChoice']): unknown {
  return choice?.type === 'tool' ? { type: 'function', function: { name: choice.toolName } } : (choice?.type ?? 'auto');
}

function wireMessages(message: ModelMessage, failed: string[]): object[] {
  const { role, content } = message;
  if (typeof content === 'string') return [{ role, content }];
  if (role === 'tool') {
    return content.map(({ toolCallId, output }) => {
      if (output?.type.startsWith('error') && toolCallId !== undefined) failed.push(toolCallId);
      return { role, tool_call_id: toolCallId, content: resultText(output) };
    });
  }
  if (role !== 'assistant') return [{ role, content: textOf(content, 'text') }];
  const calls = content.filter(({ type }) => type === 'tool-call');
  const reasoning = textOf(content, 'reasoning');
  return [
    {
      role,
      content: textOf(content, 'text'),
      ...(reasoning !== '' && { reasoning_content: reasoning }),
      ...(calls.length > 0 && {
        tool_calls: calls.map(({ toolCallId, toolName, input }) => ({
          id: toolCallId,
          type: 'function',
          function: { name: toolName, arguments: typeof input === 'string' ? input : JSON.stringify(input ?? {}) },
        })),
      }),
    },
  ];
}

const textOf = (parts: readonly ModelPart[], kind: string): string =>
  parts.flatMap(({ type, text }) => (type === kind ? [text ?? ''] : [])).join('');

/** A tool's result as the SDK's own providers for chat completions write it. */
function resultText(output: ModelPart['output']): string {
  if (output === undefined) return '';
  if (output.type === 'execution-denied') return output.reason ?? 'Tool call execution denied.';
  return typeof output.value === 'string' && (output.type === 'text' || output.type === 'error-text')
    ? output.value
    : JSON.stringify(output.value ?? null);
}
