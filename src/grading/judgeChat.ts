/** Asks the judge's endpoint for one reply. Whatever the endpoint does wrong comes back as a value. */
import { EngineError } from '../engine/engineError.js';
import { OpenAiClient, type OpenAiClientOptions } from '../engine/openaiClient.js';

export interface JudgeEndpoint extends OpenAiClientOptions {
  readonly model: string;
  /** For one reply, waiting for a busy endpoint included. Default 300. */
  readonly timeoutSeconds?: number;
}

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

export type ChatOutcome = { readonly kind: 'said'; readonly text: string } | { readonly kind: 'failed'; readonly error: string };

export interface JudgeChat {
  /** @throws the signal's reason */
  ask(messages: readonly ChatMessage[], maxTokens: number, signal: AbortSignal): Promise<ChatOutcome>;
  close(): Promise<void>;
}

/** @throws UserError for an address that is no URL, or one to which the key must not be sent */
export function openJudge({ model, timeoutSeconds = 300, ...options }: JudgeEndpoint): JudgeChat {
  const client = new OpenAiClient(options);
  return {
    async ask(messages, maxTokens, signal) {
      const limit = AbortSignal.timeout(timeoutSeconds * 1000);
      const body = { model, messages, temperature: 0, max_tokens: maxTokens };
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
