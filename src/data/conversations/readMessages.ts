/** Messages of a row in OpenAI form, one raw object after the other, as our messages. */
import type { Message } from '../../domain/message.js';
import { broken, isRecord, isText, shown } from './fields.js';
import { hermesResults, hermesTurn } from './hermesText.js';
import { readCalls } from './readCalls.js';

type Raw = Readonly<Record<string, unknown>>;

const ROLES_HINT = 'Roles are system, user, assistant and tool.';
const CONTENT_HINT = 'Content is a text, null, or a list of {"type": "text", "text": ...}.';

/** @throws UserError naming the row and the message, counted from 1 */
export function readMessages(raw: readonly Raw[], where: string): Message[] {
  const messages: Message[] = [];
  for (const [i, item] of raw.entries()) messages.push(...readMessage(item, `${where}: message ${i + 1}`, messages.at(-1)));
  return messages;
}

/**
 * One message; several where a user's message holds the results of several calls.
 * @param before the message in front of it: results answer its calls
 */
export function readMessage(item: Raw, where: string, before: Message | undefined): Message[] {
  const { role } = item;
  if (role === undefined || role === null) throw broken(where, 'has no role', ROLES_HINT);
  if (item.function_call !== undefined && item.function_call !== null) {
    throw broken(where, 'has "function_call", the old form of a call', 'Write it as "tool_calls", and its result as role "tool".');
  }
  const content = readContent(item.content, where);
  switch (role) {
    case 'system':
      return [{ role: 'system', content: content ?? missing(where) }];
    case 'user': {
      const text = content ?? missing(where);
      const results = before?.role === 'assistant' && before.toolCalls !== undefined ? hermesResults(text) : undefined;
      return results?.map((result): Message => ({ role: 'tool', content: result })) ?? [{ role: 'user', content: text }];
    }
    case 'tool': {
      const name = optionalText(item, 'name', where);
      const callId = optionalText(item, 'tool_call_id', where);
      return [{ role: 'tool', content: content ?? '', ...(name !== undefined && { name }), ...(callId !== undefined && { callId }) }];
    }
    case 'assistant':
      return [readAssistant(item, content, where)];
    default:
      throw broken(where, `the role is ${shown(role)}`, ROLES_HINT);
  }
}

function readAssistant(item: Raw, content: string | undefined, where: string): Message {
  const calls = readCalls(item.tool_calls, where);
  const reasoning = optionalText(item, 'reasoning_content', where);
  const thinking = reasoning === undefined ? {} : { reasoning };
  if (calls.length > 0) return { role: 'assistant', content: content ?? '', ...thinking, toolCalls: calls };
  if (content === undefined) {
    if (reasoning === undefined) throw broken(where, 'has neither content nor calls', CONTENT_HINT);
    return { role: 'assistant', content: '', ...thinking };
  }
  return { role: 'assistant', ...hermesTurn(content), ...thinking };
}

/** @returns undefined for null and for nothing */
function readContent(content: unknown, where: string): string | undefined {
  if (content === undefined || content === null) return undefined;
  if (isText(content)) return content;
  if (!Array.isArray(content)) throw broken(where, `content is ${shown(content)}`, CONTENT_HINT);
  return content
    .map((part: unknown) => {
      if (isText(part)) return part;
      if (!isRecord(part) || (part.type ?? 'text') !== 'text' || !isText(part.text)) {
        throw broken(where, `a part of its content is no text: ${shown(isRecord(part) ? (part.type ?? part) : part)}`, CONTENT_HINT);
      }
      return part.text;
    })
    .join('');
}

function missing(where: string): never {
  throw broken(where, 'has no content', CONTENT_HINT);
}

function optionalText(item: Raw, field: string, where: string): string | undefined {
  const value = item[field];
  if (value === undefined || value === null) return undefined;
  if (!isText(value)) throw broken(where, `${field} is not a text: ${shown(value)}`);
  return value;
}
