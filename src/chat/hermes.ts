/** Writes what `parseTurn.ts` reads: Hermes calls, tool results for templates without a tool role, tools for those without a tool list. */
import type { ToolCall } from '../domain/message.js';
import type { ToolDescription } from '../tools/jsonSchema.js';

export const writeCall = (call: ToolCall): string =>
  `<tool_call>\n${spacedJson({ name: call.name, arguments: call.arguments })}\n</tool_call>`;

export const writeToolResponse = (text: string): string => `<tool_response>\n${text}\n</tool_response>`;

/** What a system message says about the tools. */
export function writeToolList(tools: readonly ToolDescription[]): string {
  const list = tools.map(({ name, description, parameters }) => JSON.stringify({ name, description, parameters }));
  return `Tools:\n${list.join('\n')}\nTo call one:\n<tool_call>\n{"name": ..., "arguments": {...}}\n</tool_call>`;
}

/** JSON with a space after colons and commas, as chat templates print it and models were trained to write it. */
export function spacedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spacedJson).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
    return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}: ${spacedJson(inner)}`).join(', ')}}`;
  }
  return JSON.stringify(value) ?? 'null';
}
