/** Lengths in tokens of a real tokenizer, laid out by the model's own chat template: what training and sampling will see. */
import { ChatFormat } from '../../chat/chatFormat.js';
import { systemText } from '../../chat/prompts.js';
import type { Message } from '../../domain/message.js';
import type { Problem } from '../../domain/problem.js';
import { resolveModel } from '../../setup/weights.js';
import { codeInterpreter } from '../../tools/codeInterpreter.js';
import { describeTool, type ToolDescription } from '../../tools/jsonSchema.js';
import type { Conversation } from '../conversations/conversation.js';

export interface TokenMeter {
  /** The model, for people. */
  readonly name: string;
  /** Of a problem's prompt, with the system text and the tools. */
  prompt(problem: Problem): number;
  /** Of a conversation: up to the assistant's first message, the whole, and what the assistant wrote. */
  conversation(conversation: Conversation): { readonly prompt: number; readonly whole: number; readonly written: number };
}

/** The code interpreter as a model is told of it; nothing is run. */
const INTERPRETER: ToolDescription = describeTool(
  codeInterpreter({ name: 'none', run: async () => ({ kind: 'infra', error: 'not to be run' }), close: async () => undefined }),
);

/** @throws UserError where there is no such model, or it has no usable tokenizer or chat template */
export async function openTokenMeter(model: string, log: (line: string) => void): Promise<TokenMeter> {
  const { folder } = await resolveModel(model, { log });
  const format = await ChatFormat.load(folder);
  const system = systemText('deliberative');
  return {
    name: model,
    prompt({ question }) {
      const messages: Message[] = [
        { role: 'system', content: system },
        { role: 'user', content: question },
      ];
      return format.prompt(messages, [INTERPRETER]).length;
    },
    conversation({ messages, tools = [] }) {
      if (!messages.some(({ role }) => role === 'assistant')) {
        const { length } = format.prompt(messages, tools);
        return { prompt: length, whole: length, written: 0 };
      }
      const { promptTokens, tokens, mask } = format.demonstration(messages, tools);
      let written = 0;
      for (const bit of mask) written += bit;
      return { prompt: promptTokens.length, whole: promptTokens.length + tokens.length, written };
    },
  };
}
