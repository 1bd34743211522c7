/** Texts by which messages are compared: equal for what only was written down differently. */
import type { Message } from '../domain/message.js';
import type { ToolDescription } from '../tools/jsonSchema.js';
import type { Answer } from './answer.js';

/** JSON with its keys in order. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonicalJson(inner)}`).join(',')}}`;
}

export const canonicalTools = (tools: readonly ToolDescription[]): string => canonicalJson(tools);

/** Without ids, thinking, and space around an assistant's text. */
export function canonicalMessage(message: Message): string {
  switch (message.role) {
    case 'assistant':
      return canonicalJson([
        message.role,
        message.content.trim(),
        (message.toolCalls ?? []).map(({ name, arguments: args }) => [name, args]),
      ]);
    default:
      return canonicalJson([message.role, message.content]);
  }
}

/**
 * Whether a client's assistant message is this answer of ours. Thinking may be left out. Arguments may have been read and written again:
 * other order of keys and, where the id is ours, a number for a numeral, defaults filled in, unknown keys dropped.
 */
export function isEcho(message: Extract<Message, { role: 'assistant' }>, answer: Answer): boolean {
  const { toolCalls = [], content, reasoning = '' } = message;
  if (content.trim() !== answer.content.trim() || toolCalls.length !== answer.calls.length) return false;
  if (reasoning.trim() !== '' && reasoning.trim() !== answer.reasoning.trim()) return false;
  return toolCalls.every((call, i) => {
    const own = answer.calls[i]!;
    if (call.name !== own.name) return false;
    return canonicalJson(call.arguments) === canonicalJson(own.arguments) || (call.id === own.id && similar(own.arguments, call.arguments));
  });
}

function similar(own: unknown, given: unknown): boolean {
  if (Array.isArray(own)) return Array.isArray(given) && own.length === given.length && own.every((item, i) => similar(item, given[i]));
  if (isRecord(own)) return isRecord(given) && Object.keys(own).every((key) => !(key in given) || similar(own[key], given[key]));
  return own === given || String(own) === String(given) || canonicalJson(parsed(own)) === canonicalJson(parsed(given));
}

/** A text that is JSON, as what it says. */
function parsed(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
