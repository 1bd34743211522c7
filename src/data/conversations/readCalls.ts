/** The field `tool_calls` of an assistant's message. */
import type { ToolCall } from '../../domain/message.js';
import { broken, checkDepth, isRecord, isText, parseExactJson, parseJsonText, shown } from './fields.js';

const HINT = 'A call is {"id": "call_1", "type": "function", "function": {"name": "...", "arguments": "{...}"}}.';

/** @throws UserError naming the call, counted from 1 */
export function readCalls(given: unknown, where: string): ToolCall[] {
  if (given === undefined || given === null) return [];
  const list = isText(given) ? parseJsonText(given, `${where}: tool_calls`) : given;
  if (!Array.isArray(list)) throw broken(where, 'tool_calls is not a list', HINT);
  return list.map((item: unknown, i) => readCall(item, `${where}: call ${i + 1}`));
}

function readCall(item: unknown, where: string): ToolCall {
  if (!isRecord(item)) throw broken(where, 'not an object', HINT);
  const called = item.function ?? item;
  if (!isRecord(called)) throw broken(where, '"function" is not an object', HINT);
  const { name } = called;
  if (!isText(name) || name === '') throw broken(where, 'has no name', HINT);
  const { id } = item;
  if (id !== undefined && id !== null && !isText(id)) throw broken(where, `its id is not a text: ${shown(id)}`, HINT);
  return { name, arguments: readArguments(called.arguments, where), ...(isText(id) && { id }) };
}

function readArguments(given: unknown, where: string): ToolCall['arguments'] {
  const at = `${where}: arguments`;
  const value = isText(given) ? parseExactJson(given, at) : given;
  if (!isRecord(value)) throw broken(at, `not a JSON object: ${shown(value)}`, HINT);
  checkDepth(value, at);
  return value;
}
