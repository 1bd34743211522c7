/** What an MCP server answers to a call, as the text that a model reads. Images, sound and files are told in a few words. */
import type { ToolOutcome } from '../tool.js';

/** Of a result, what is looked at; servers send more. */
export interface McpResult {
  readonly content?: readonly Record<string, unknown>[] | undefined;
  readonly structuredContent?: unknown;
  readonly isError?: boolean | undefined;
}

export function outcomeOf({ content = [], structuredContent, isError = false }: McpResult): ToolOutcome {
  const text = content.map(textOf).join('\n');
  const whole = text === '' && structuredContent !== undefined ? JSON.stringify(structuredContent) : text;
  return { kind: isError ? 'error' : 'ok', text: whole === '' && isError ? 'Error: the call failed.' : whole };
}

function textOf(part: Record<string, unknown>): string {
  switch (part.type) {
    case 'text':
      return word(part.text);
    case 'image':
    case 'audio':
      return left(part.type, word(part.mimeType), sizeOf(part.data));
    case 'resource_link':
      return left('link to', word(part.uri), word(part.name), word(part.mimeType));
    case 'resource': {
      const { uri, text, blob, mimeType } = (part.resource ?? {}) as Record<string, unknown>;
      return typeof text === 'string' ? text : left('file', word(uri), word(mimeType), sizeOf(blob));
    }
    default:
      return left('content');
  }
}

const word = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Of base64. */
const sizeOf = (data: unknown): string => (typeof data === 'string' ? `${Math.floor((data.length * 3) / 4)} bytes` : '');

/** A few words, whatever the server put in them. */
function left(what: string, ...about: readonly string[]): string {
  const known = about.filter((part) => part !== '').map((part) => part.slice(0, 200));
  return `[${what}${known.length === 0 ? '' : ` ${known.join(', ')}`}: not shown, only text can be read]`;
}
