/**
 * Asks the judge's endpoint for one reply. Whatever the endpoint does wrong comes back as a value, but for the first question, which is there
 * to find out before anything is graded whether anybody answers at that address.
 */
import { EngineError } from '../engine/engineError.js';
import { OpenAiClient, type OpenAiClientOptions } from '../engine/openaiClient.js';
import { UserError } from '../userError.js';

export interface JudgeEndpoint extends OpenAiClientOptions {
  readonly model: string;
  /** For one reply, waiting for a busy endpoint included. Default 300. */
  readonly timeoutSeconds?: number;
  /** For the answer to the first question. Default 60. */
  readonly probeSeconds?: number;
}

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

export type ChatOutcome = { readonly kind: 'said'; readonly text: string } | { readonly kind: 'failed'; readonly error: string };

export interface JudgeChat {
  /**
   * Asks for one token, once. A busy endpoint (429, 5xx) counts as one that answers.
   * @throws UserError where nobody answers, or what answers refuses the question; the signal's reason
   */
  probe(signal: AbortSignal): Promise<void>;
  /** @throws the signal's reason */
  ask(messages: readonly ChatMessage[], maxTokens: number, signal: AbortSignal): Promise<ChatOutcome>;
  close(): Promise<void>;
}

/** @throws UserError for an address that is no URL, or one to which the key must not be sent */
export function openJudge({ model, timeoutSeconds = 300, probeSeconds = 60, ...options }: JudgeEndpoint): JudgeChat {
  const client = new OpenAiClient(options);
  return {
    async probe(signal) {
      const once = new OpenAiClient({ ...options, attempts: 1 });
      try {
        await probe(once, model, probeSeconds, signal);
      } finally {
        await once.close();
      }
    },
    async ask(messages, maxTokens, signal) {
      const limit = AbortSignal.timeout(timeoutSeconds * 1000);
      const body = questionOf(model, messages, maxTokens);
      try {
        const answer = await client.post('chat/completions', body, AbortSignal.any([signal, limit]));
        if (answer.status !== 200)
          return { kind: 'failed', error: `${client.url} answers HTTP ${answer.status}: ${client.messageOf(answer.body)}` };
        const content = contentOf(answer.body);
        return content === undefined
          ? { kind: 'failed', error: `${client.url} answers what is no chat completion: ${client.messageOf(answer.body)}` }
          : { kind: 'said', text: content };
      } catch (error) {
        signal.throwIfAborted();
        if (limit.aborted) return { kind: 'failed', error: `${client.url} did not answer within ${timeoutSeconds} s` };
        if (error instanceof EngineError) return { kind: 'failed', error: error.message };
        throw error;
      }
    },
    close: () => client.close(),
  };
}

function contentOf(body: unknown): string | undefined {
  const choices = (body as { choices?: unknown } | null)?.choices;
  const content: unknown = Array.isArray(choices) ? choices[0]?.message?.content : undefined;
  return typeof content === 'string' ? content : undefined;
}

const questionOf = (model: string, messages: readonly ChatMessage[], maxTokens: number): object => ({
  model,
  messages,
  temperature: 0,
  max_tokens: maxTokens,
});

async function probe(client: OpenAiClient, model: string, seconds: number, signal: AbortSignal): Promise<void> {
  const limit = AbortSignal.timeout(seconds * 1000);
  const where = 'Is it running, and is the address right up to and with /v1?';
  try {
    const hello: ChatMessage = { role: 'user', content: 'Say hi.' };
    const answer = await client.post('chat/completions', questionOf(model, [hello], 1), AbortSignal.any([signal, limit]));
    if (answer.status === 200 && Array.isArray((answer.body as { choices?: unknown } | null)?.choices)) return;
    if (answer.status === 200)
      throw new UserError(`${client.url} answers what is no chat completion: ${client.messageOf(answer.body)}`, where);
    const told = `the judge ${client.url} answers HTTP ${answer.status}: ${client.messageOf(answer.body)}`;
    const key = answer.status === 401 || answer.status === 403;
    throw new UserError(told, key ? 'Set its key in the variable that --api-key-env names.' : `${where} Does it serve ${model}?`);
  } catch (error) {
    signal.throwIfAborted();
    if (limit.aborted) throw new UserError(`the judge ${client.url} did not answer within ${seconds} s`, where);
    if (!(error instanceof EngineError)) throw error;
    if (error.category === 'server') return;
    throw new UserError(error.category === 'user' ? error.message : `nobody answers as the judge: ${error.message}`, where);
  }
}
