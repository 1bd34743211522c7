/**
 * An OpenAI-compatible endpoint (vLLM, SGLang, hosted) as a model to evaluate: its name on the command line, what it can do (asked for by a
 * few tokens at the start, never assumed), and why it cannot be trained. Does not run rollouts: see `rollout/endpointAgent.ts`.
 */
import type { ToolDescription } from '../tools/jsonSchema.js';
import { UserError } from '../userError.js';
import { EngineError } from './engineError.js';
import { type ChatRequest, chatBody, hasLogProbs } from './openaiChat.js';
import { OpenAiClient, type OpenAiClientOptions } from './openaiClient.js';

export interface EndpointAddress {
  readonly url: string;
  /** Absent: the only model that the endpoint serves. */
  readonly model?: string;
}

export interface EndpointAbilities {
  /** Calls come back as calls; else tools are described in the system text, and calls are read from the text. */
  readonly toolCalls: boolean;
  readonly logProbs: boolean;
  /** Ids of the prompt and of what was sampled (vLLM). */
  readonly tokenIds: boolean;
  /** Tokens of prompt and answer are counted; else only each turn has a token limit. */
  readonly usage: boolean;
  /** The limit is named `max_completion_tokens`. */
  readonly completionLimit: boolean;
  readonly contextTokens?: number;
}

export interface OpenAiEndpoint {
  readonly client: OpenAiClient;
  readonly model: string;
  readonly abilities: EndpointAbilities;
}

export interface EndpointOptions extends Omit<OpenAiClientOptions, 'url' | 'key'> {
  /** Name of the environment variable that holds the key. Default OPENAI_API_KEY. */
  readonly keyName?: string | undefined;
  readonly env?: NodeJS.ProcessEnv;
  /** That will be used: the endpoint is asked whether it takes any. */
  readonly tools: readonly ToolDescription[];
  readonly signal?: AbortSignal | undefined;
  /** Seconds for each of the few requests that ask what it can do. Default 300: a busy server may let even one token wait. */
  readonly openingSeconds?: number | undefined;
}

const OPENING_SECONDS = 300;
const SCHEME = 'openai:';

export const isEndpoint = (model: string): boolean => model.startsWith(SCHEME);

/** `openai:http://127.0.0.1:8000/v1#model`. @throws UserError */
export function parseEndpoint(name: string): EndpointAddress {
  const [url = '', ...rest] = name.slice(SCHEME.length).split('#');
  const model = rest.join('#');
  if (!/^https?:\/\/./.test(url))
    throw new UserError(`${JSON.stringify(name)} names no endpoint`, 'For example openai:http://127.0.0.1:8000/v1#my-model');
  return { url, ...(model !== '' && { model }) };
}

/** @throws UserError always, by name: an endpoint gives no gradients */
export function refuseTraining(name: string): never {
  const { url } = parseEndpoint(name);
  throw new UserError(
    `the endpoint ${url} can be evaluated, not trained: it lacks forward_backward, optim_step and samplers of the new weights`,
    'Give the model as a folder or a name of the hub; its weights are then trained by the embedded engine, or by engine.url.',
  );
}

/** Connects and asks what it can do. @throws UserError when it cannot be used as it is named */
export async function openEndpoint(name: string, options: EndpointOptions): Promise<OpenAiEndpoint> {
  const address = parseEndpoint(name);
  const keyName = options.keyName ?? 'OPENAI_API_KEY';
  const key = (options.env ?? process.env)[keyName] || undefined;
  if (options.keyName !== undefined && key === undefined)
    throw new UserError(`${keyName} is not set`, 'Set it to the key of the endpoint.');
  const client = new OpenAiClient({ ...options, url: address.url, key });
  try {
    const { model, contextTokens } = await chooseModel(client, address, keyName, options);
    return {
      client,
      model,
      abilities: { ...(await probe(client, model, options)), ...(contextTokens !== undefined && { contextTokens }) },
    };
  } catch (error) {
    await client.close();
    if (error instanceof EngineError) throw explained(error, keyName, key !== undefined);
    throw error;
  }
}

/** One line for a person: what the endpoint gives. */
export function describeAbilities({ toolCalls, logProbs, tokenIds, usage }: EndpointAbilities): string {
  const has = (what: string, yes: boolean): string => `${yes ? '' : 'no '}${what}`;
  return [has('tool calls', toolCalls), has('log-probs', logProbs), has('token ids', tokenIds), has('token counts', usage)].join(', ');
}

async function chooseModel(
  client: OpenAiClient,
  { model }: EndpointAddress,
  keyName: string,
  { signal, openingSeconds = OPENING_SECONDS }: EndpointOptions,
): Promise<{ model: string; contextTokens?: number }> {
  const { status, body } = await client.get('models', signal, openingSeconds);
  if (status === 401 || status === 403)
    throw new EngineError('user', `${client.url} answers HTTP ${status}: ${client.messageOf(body)}`, status);
  const data = (body as { data?: unknown } | null)?.data;
  const served =
    status === 200 && Array.isArray(data)
      ? data.filter((entry): entry is { id: string; max_model_len?: unknown } => typeof entry?.id === 'string')
      : undefined;
  const chosen = model ?? (served?.length === 1 ? served[0]!.id : undefined);
  if (chosen === undefined) {
    const names = served?.slice(0, 10).map(({ id }) => id) ?? [];
    throw new UserError(
      `which model of ${client.url}?${names.length > 0 ? ` It serves: ${names.join(', ')}` : ''}`,
      `Name it behind the address: openai:${client.url}#${names[0] ?? 'MODEL'}`,
    );
  }
  const entry = served?.find(({ id }) => id === chosen);
  if (served !== undefined && served.length > 0 && served.length <= 10 && entry === undefined)
    throw new UserError(
      `${client.url} does not serve ${chosen}; it serves: ${served.map(({ id }) => id).join(', ')}`,
      `Is ${keyName} that of this endpoint?`,
    );
  const context = entry?.max_model_len;
  return { model: chosen, ...(typeof context === 'number' && { contextTokens: context }) };
}

/** One token at a time, with less each time the server refuses. */
async function probe(client: OpenAiClient, model: string, options: EndpointOptions): Promise<EndpointAbilities> {
  let ask: ChatRequest = {
    model,
    messages: [{ role: 'user', content: 'Say hi.' }],
    tools: options.tools,
    maxTokens: 1,
    temperature: 1,
    topP: 1,
    logProbs: true,
    tokenIds: true,
  };
  for (;;) {
    const { status, body } = await client.post(
      'chat/completions',
      chatBody(ask),
      options.signal,
      options.openingSeconds ?? OPENING_SECONDS,
    );
    if (status >= 200 && status < 300) {
      const { usage, prompt_token_ids: ids } = body as { usage?: { completion_tokens?: unknown }; prompt_token_ids?: unknown };
      return {
        toolCalls: options.tools.length > 0 && ask.tools.length > 0,
        logProbs: ask.logProbs === true && hasLogProbs(body),
        tokenIds: ask.tokenIds === true && Array.isArray(ids),
        usage: typeof usage?.completion_tokens === 'number',
        completionLimit: ask.completionLimit === true,
      };
    }
    const message = client.messageOf(body);
    const less = status === 400 || status === 404 || status === 422 ? lessThan(ask, message) : undefined;
    if (less === undefined) throw new EngineError('user', `${client.url} answers HTTP ${status}: ${message}`, status);
    ask = less;
  }
}

/** Without what the message complains about; else without the next extra; undefined where nothing is left to go without. */
function lessThan(ask: ChatRequest, message: string): ChatRequest | undefined {
  if (/max_completion_tokens/.test(message) && ask.completionLimit !== true) return { ...ask, completionLimit: true };
  if (/tool/i.test(message) && ask.tools.length > 0) return { ...ask, tools: [] };
  if (/logprob/i.test(message) && ask.logProbs === true) return { ...ask, logProbs: false };
  if (ask.tokenIds === true) return { ...ask, tokenIds: false };
  if (ask.logProbs === true) return { ...ask, logProbs: false };
  if (ask.tools.length > 0) return { ...ask, tools: [] };
  return undefined;
}

function explained(error: EngineError, keyName: string, hasKey: boolean): UserError {
  if (error.status === 401 || error.status === 403)
    return new UserError(
      error.message,
      hasKey ? `Is ${keyName} the key of this endpoint?` : `Set ${keyName}, or name another variable with --api-key-env.`,
    );
  if (error.category === 'connection') return new UserError(error.message, 'Is it running, and is the address right up to and with /v1?');
  return new UserError(error.message);
}
