/** Calls and results that stand in the text of messages, as Hermes and Qwen write them. Takes time linear in the text. */
import { parseTurn } from '../../chat/parseTurn.js';
import type { ToolCall } from '../../domain/message.js';

const CALL_OPEN = '<tool_call>';
/** How many times its own length may be read in the search for where a turn's calls begin. */
const READINGS = 64;

/**
 * A turn that ends in calls, taken apart. A turn whose calls cannot be read, or with text between or behind them, stays as it is: its
 * order is part of what was written.
 */
export function hermesTurn(content: string): { readonly content: string; readonly toolCalls?: readonly ToolCall[] } {
  if (!content.includes(CALL_OPEN)) return { content };
  const segments = parseTurn(content);
  const first = segments.findIndex(({ kind }) => kind !== 'text' && kind !== 'thinking');
  if (first === -1) return { content };
  const toolCalls: ToolCall[] = [];
  for (const segment of segments.slice(first)) {
    if (segment.kind !== 'call') return { content };
    toolCalls.push({ name: segment.name, arguments: segment.arguments });
  }
  const start = startOfCalls(content, toolCalls.length);
  return start === undefined ? { content } : { content: content.slice(0, start).replace(/\n$/, ''), toolCalls };
}

/** Where the last `count` calls begin: a tag may also stand inside a call's own JSON. */
function startOfCalls(content: string, count: number): number | undefined {
  let budget = READINGS * content.length;
  for (let at = content.lastIndexOf(CALL_OPEN); at !== -1; at = at === 0 ? -1 : content.lastIndexOf(CALL_OPEN, at - 1)) {
    const segments = parseTurn(content.slice(at));
    if (segments.length === count && segments.every(({ kind }) => kind === 'call')) return at;
    budget -= content.length - at;
    if (budget < 0) return undefined;
  }
  return undefined;
}

const RESULT_OPEN = '<tool_response>';
const RESULT_CLOSE = '</tool_response>';

/** The results in a user's message that holds nothing else; undefined for any other. */
export function hermesResults(content: string): string[] | undefined {
  const results: string[] = [];
  const text = content.trim();
  for (let at = 0; at < text.length; ) {
    const close = text.indexOf(RESULT_CLOSE, at);
    if (!text.startsWith(RESULT_OPEN, at) || close === -1) return undefined;
    results.push(
      text
        .slice(at + RESULT_OPEN.length, close)
        .replace(/^\n/, '')
        .replace(/\n$/, ''),
    );
    at = close + RESULT_CLOSE.length;
    while (at < text.length && text[at]!.trim() === '') at++;
  }
  return results.length === 0 ? undefined : results;
}
