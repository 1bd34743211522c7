/**
 * Reads the body of a chat-completions request. What cannot be done is refused by name, never left out in silence; what has no bearing on the
 * answer is ignored. Knows the wire, not the model.
 */
import { z } from 'zod';
import type { Message, ToolCall } from '../domain/message.js';
import { described, type ToolDescription, toJsonSchema } from '../tools/jsonSchema.js';
import type { ChatCall, ToolChoice } from './chatCall.js';
import { invalid, type Refusal } from './refusal.js';

export type ReadCall = { readonly kind: 'call'; readonly call: ChatCall } | { readonly kind: 'refused'; readonly refusal: Refusal };

/** More answers than these are not made in one call. */
const MAX_CHOICES = 128;
const MAX_STOPS = 16;

const part = z.union([
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('refusal'), refusal: z.string() }).transform(({ refusal }) => ({ type: 'text' as const, text: refusal })),
]);
const content = z.union([z.string(), z.array(part)], {
  error: 'expected a text, or a list of text parts (images, audio and files cannot be read)',
});
const toolCall = z.object({
  id: z.string().min(1),
  type: z.literal('function').optional(),
  // A model may call what has no name; its client sends that back.
  function: z.object({ name: z.string(), arguments: z.string() }),
});
const message = z.discriminatedUnion('role', [
  z.object({ role: z.literal('system'), content }),
  z.object({ role: z.literal('developer'), content }),
  z.object({ role: z.literal('user'), content }),
  z.object({
    role: z.literal('assistant'),
    content: content.nullish(),
    reasoning_content: z.string().nullish(),
    reasoning: z.string().nullish(),
    tool_calls: z.array(toolCall).nullish(),
  }),
  z.object({ role: z.literal('tool'), content, tool_call_id: z.string() }),
]);
const functionTool = z.object({
  type: z.literal('function'),
  function: z.object({
    name: z.string().regex(/^[A-Za-z0-9_.-]{1,64}$/, 'expected 1 to 64 letters, digits, "_", "." or "-"'),
    description: z.string().nullish(),
    parameters: z.record(z.string(), z.unknown()).nullish(),
  }),
});
const namedChoice = z.object({ type: z.literal('function'), function: z.object({ name: z.string() }) });
const count = z.int().min(1);

const request = z.object({
  model: z.string(),
  messages: z.array(message).min(1),
  tools: z.array(functionTool).nullish(),
  tool_choice: z.union([z.enum(['auto', 'none', 'required']), namedChoice]).nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  temperature: z.number().min(0).max(10).nullish(),
  top_p: z.number().gt(0).max(1).nullish(),
  top_k: z.int().min(-1).nullish(),
  max_tokens: count.nullish(),
  max_completion_tokens: count.nullish(),
  n: count.max(MAX_CHOICES).nullish(),
  stop: z.union([z.string(), z.array(z.string()).max(MAX_STOPS)], `expected a text, or a list of at most ${MAX_STOPS}`).nullish(),
  seed: z.int().nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.int().nullish(),
  return_token_ids: z.boolean().nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
});
type Request = z.output<typeof request>;
type WireMessage = Request['messages'][number];

/** Without bearing on what is answered. */
const HARMLESS: ReadonlySet<string> = new Set([
  'metadata',
  'prompt_cache_key',
  'prompt_cache_retention',
  'safety_identifier',
  'service_tier',
  'store',
  'user',
  'verbosity',
]);

/** Fields that we have no use for, with the values that ask for nothing. */
const NEUTRAL: Readonly<Record<string, (value: unknown) => boolean>> = {
  frequency_penalty: (value) => value === 0,
  presence_penalty: (value) => value === 0,
  repetition_penalty: (value) => value === 1,
  min_p: (value) => value === 0,
  logit_bias: (value) => typeof value === 'object' && Object.keys(value as object).length === 0,
  response_format: (value) => (value as { type?: unknown } | null)?.type === 'text',
  modalities: (value) => Array.isArray(value) && value.every((item) => item === 'text'),
};

const INSTEAD: Readonly<Record<string, string>> = {
  functions: 'Use "tools".',
  function_call: 'Use "tool_choice".',
  response_format: 'Answers are text; ask for JSON in a message, or offer a tool.',
  top_logprobs: 'The log-prob of each sampled token is given with "logprobs": true.',
};

export function readChatCall(body: unknown): ReadCall {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return refuse('the body is no JSON object');
  const foreign = refuseForeign(body as Record<string, unknown>);
  if (foreign) return { kind: 'refused', refusal: foreign };
  const read = request.safeParse(body);
  if (!read.success) {
    const issue = firstIssue(read.error.issues[0]!);
    return refuse(`${issue.param ?? 'the body'}: ${issue.message}`, issue.param);
  }
  const { data } = read;
  if ((data.top_logprobs ?? 0) > 0) return refuse(cannot('top_logprobs'), 'top_logprobs');
  const tools = (data.tools ?? []).map(describe);
  const twice = tools.find(({ name }, i) => tools.findIndex((other) => other.name === name) !== i);
  if (twice) return refuse(`two tools have the name ${JSON.stringify(twice.name)}`, 'tools');
  const toolChoice = choiceOf(data.tool_choice);
  if (toolChoice.kind === 'named' && !tools.some(({ name }) => name === toolChoice.name)) {
    return refuse(`tool_choice names ${JSON.stringify(toolChoice.name)}, which is not among the tools`, 'tool_choice');
  }
  if (toolChoice.kind === 'required' && tools.length === 0)
    return refuse('tool_choice is "required", but no tools are given', 'tool_choice');
  const messages = readMessages(data.messages);
  if (messages.kind === 'refused') return messages;
  const maxTokens = data.max_completion_tokens ?? data.max_tokens;
  const stop = typeof data.stop === 'string' ? [data.stop] : (data.stop ?? []);
  return {
    kind: 'call',
    call: {
      model: data.model,
      messages: messages.messages,
      tools,
      toolChoice,
      callsPerTurn: data.parallel_tool_calls === false ? 1 : Number.POSITIVE_INFINITY,
      ...given('temperature', data.temperature),
      ...given('topP', data.top_p),
      ...given('topK', (data.top_k ?? 0) > 0 ? data.top_k : undefined),
      ...given('maxTokens', maxTokens),
      n: data.n ?? 1,
      stop: stop.filter((text) => text !== ''),
      ...given('seed', data.seed),
      logProbs: data.logprobs ?? false,
      tokenIds: data.return_token_ids ?? false,
      stream: data.stream ?? false,
      streamUsage: data.stream_options?.include_usage ?? false,
    },
  };
}

type Given<K extends string, V> = { readonly [key in K]?: V };
const given = <K extends string, V>(key: K, value: V | null | undefined): Given<K, V> =>
  (value === null || value === undefined ? {} : { [key]: value }) as Given<K, V>;

const refuse = (message: string, param?: string): { readonly kind: 'refused'; readonly refusal: Refusal } => ({
  kind: 'refused',
  refusal: invalid(message, param),
});

const cannot = (field: string): string => [`${field} is not offered by this server.`, INSTEAD[field] ?? ''].join(' ').trim();

function refuseForeign(body: Readonly<Record<string, unknown>>): Refusal | undefined {
  for (const [name, value] of Object.entries(body)) {
    if (name in request.shape || HARMLESS.has(name) || value === null || value === undefined) continue;
    const neutral = Object.hasOwn(NEUTRAL, name) ? NEUTRAL[name] : undefined;
    if (neutral?.(value)) continue;
    return invalid(cannot(name), name);
  }
  return undefined;
}

/** The innermost fault of those that a union lists. */
function firstIssue(issue: z.core.$ZodIssue, path: readonly PropertyKey[] = []): { readonly param?: string; readonly message: string } {
  const whole = [...path, ...issue.path];
  const param = whole.reduce<string>(
    (text, key) => (typeof key === 'number' ? `${text}[${key}]` : text === '' ? String(key) : `${text}.${String(key)}`),
    '',
  );
  return { ...(param !== '' && { param }), message: issue.message };
}

function describe({ function: { name, description, parameters } }: z.output<typeof functionTool>): ToolDescription {
  return {
    name,
    description: description ?? '',
    parameters: toJsonSchema(described(z.unknown(), parameters ?? { type: 'object', properties: {} })),
  };
}

function choiceOf(given: Request['tool_choice']): ToolChoice {
  if (given === null || given === undefined) return { kind: 'auto' };
  return typeof given === 'string' ? { kind: given } : { kind: 'named', name: given.function.name };
}

const textOf = (given: string | readonly { readonly text: string }[] | null | undefined): string =>
  typeof given === 'string' ? given : (given ?? []).map(({ text }) => text).join('');

type ReadMessages =
  | { readonly kind: 'messages'; readonly messages: readonly Message[] }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

function readMessages(wire: readonly WireMessage[]): ReadMessages {
  const messages: Message[] = [];
  /** Calls of the last assistant message that wait for their results, in order. */
  let open: { readonly ids: readonly string[]; readonly results: Map<string, string> } | undefined;
  const flush = (): void => {
    for (const id of open?.ids ?? []) {
      const result = open!.results.get(id);
      if (result !== undefined) messages.push({ role: 'tool', content: result, callId: id });
    }
    open = undefined;
  };
  for (const [i, given] of wire.entries()) {
    if (given.role === 'tool') {
      const id = given.tool_call_id;
      if (!open?.ids.includes(id))
        return refuse(
          `messages[${i}] answers the call ${JSON.stringify(id)}, which the assistant message before it does not make`,
          `messages[${i}].tool_call_id`,
        );
      if (open.results.has(id))
        return refuse(`messages[${i}] answers the call ${JSON.stringify(id)} a second time`, `messages[${i}].tool_call_id`);
      open.results.set(id, textOf(given.content));
      continue;
    }
    flush();
    if (given.role === 'assistant') {
      const calls: ToolCall[] = [];
      for (const [k, call] of (given.tool_calls ?? []).entries()) {
        const args = readArguments(call.function.arguments);
        const param = `messages[${i}].tool_calls[${k}]`;
        if (args === undefined)
          return refuse(`${param}.function.arguments is no JSON object, which chat templates need`, `${param}.function.arguments`);
        if (calls.some(({ id }) => id === call.id)) return refuse(`${param}.id is that of another call of this message`, `${param}.id`);
        calls.push({ id: call.id, name: call.function.name, arguments: args });
      }
      const reasoning = given.reasoning_content ?? given.reasoning ?? '';
      messages.push({
        role: 'assistant',
        content: textOf(given.content),
        ...(reasoning !== '' && { reasoning }),
        ...(calls.length > 0 && { toolCalls: calls }),
      });
      open = { ids: calls.map(({ id }) => id!), results: new Map() };
      continue;
    }
    const role = given.role === 'developer' ? 'system' : given.role;
    const before = messages.at(-1);
    const text = textOf(given.content);
    // Templates know one system text.
    if (role === 'system' && messages.length === 1 && before?.role === 'system')
      messages[0] = { role, content: `${before.content}\n\n${text}` };
    else messages.push({ role, content: text });
  }
  flush();
  return { kind: 'messages', messages };
}

/** No arguments may be the empty text. */
function readArguments(text: string): Readonly<Record<string, unknown>> | undefined {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
