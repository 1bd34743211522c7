/** Messages of a file as a chat template is given them. */
import type { Message } from '../../domain/message.js';

/** A message as the model would write it: thinking in front of the content, calls without the ids that a file gives them. */
export function asWritten(message: Message): Message {
  if (message.role !== 'assistant') return message;
  const { content, reasoning, toolCalls = [] } = message;
  return {
    role: 'assistant',
    content: reasoning === undefined || reasoning === '' ? content : `<think>\n${reasoning}\n</think>\n\n${content}`,
    ...(toolCalls.length > 0 && { toolCalls: toolCalls.map(({ name, arguments: args }) => ({ name, arguments: args })) }),
  };
}
