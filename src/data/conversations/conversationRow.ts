/** A conversation as a row of an SFT set: what `conversation.ts` reads. Does not write files. */
import { isDeepStrictEqual } from 'node:util';
import type { Message } from '../../domain/message.js';
import type { ToolDescription } from '../../tools/jsonSchema.js';
import { UserError } from '../../userError.js';
import { isRecord, isText } from './fields.js';
import { readMessage } from './readMessages.js';
import { readTools } from './readTools.js';

type Values = Readonly<Record<string, unknown>>;

/**
 * `messages` in OpenAI form, calls with their arguments as JSON text; `tools` as a nested list of OpenAI tool schemas.
 *
 * @param extra columns beside them
 * @param original the row that the conversation was read from: whatever still says the same is kept as it stands there, other columns too
 */
export function conversationRow(
  messages: readonly Message[],
  tools?: readonly ToolDescription[],
  extra: Values = {},
  original: Values = {},
): Record<string, unknown> {
  const row: Record<string, unknown> = { ...original, messages: writtenMessages(messages, original.messages) };
  if (sameTools(tools, original.tools)) {
    if (original.tools !== undefined) row.tools = original.tools;
  } else if (tools === undefined) delete row.tools;
  else row.tools = tools.map((tool) => ({ type: 'function', function: { ...tool } }));
  return { ...row, ...extra };
}

/** One message in OpenAI form. */
export function writeMessage(message: Message): Record<string, unknown> {
  const { role, content } = message;
  if (role === 'tool') {
    const { callId, name } = message;
    return { role, content, ...(callId !== undefined && { tool_call_id: callId }), ...(name !== undefined && { name }) };
  }
  if (role !== 'assistant') return { role, content };
  const { reasoning, toolCalls = [] } = message;
  return {
    role,
    content,
    ...(reasoning !== undefined && { reasoning_content: reasoning }),
    ...(toolCalls.length > 0 && { tool_calls: toolCalls.map(writeCall) }),
  };
}

const writeCall = ({ id, name, arguments: args }: NonNullable<Extract<Message, { role: 'assistant' }>['toolCalls']>[number]) => ({
  ...(id !== undefined && { id }),
  type: 'function',
  function: { name, arguments: JSON.stringify(args) },
});

function writtenMessages(messages: readonly Message[], original: unknown): unknown {
  const list = isText(original) ? parsed(original) : original;
  if (!Array.isArray(list)) return messages.map(writeMessage);
  const written: unknown[] = [];
  let at = 0;
  let same = true;
  for (const item of list as unknown[]) {
    const read = reading(item, messages[at - 1]);
    if (read === undefined || !isDeepStrictEqual(read, messages.slice(at, at + read.length))) {
      same = false;
      break;
    }
    written.push(item);
    at += read.length;
  }
  if (same && at === messages.length) return original;
  return [...written, ...messages.slice(at).map(writeMessage)];
}

/** Undefined where it cannot be read. */
function reading(item: unknown, before: Message | undefined): Message[] | undefined {
  if (!isRecord(item)) return undefined;
  try {
    return readMessage(item, '', before);
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function sameTools(tools: readonly ToolDescription[] | undefined, original: unknown): boolean {
  try {
    return isDeepStrictEqual(tools, readTools(original, ''));
  } catch (error) {
    if (error instanceof UserError) return false;
    throw error;
  }
}
