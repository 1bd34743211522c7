/** E-mail addresses, keys and the like in a conversation: where they are, and the conversation with a stand-in for each. */
import type { Message } from '../../domain/message.js';
import { findPrivate, type PrivateKind } from '../privacy.js';
import type { Trace } from './traceRow.js';

export interface PrivatePlace {
  readonly kind: PrivateKind;
  /** For example `message 3`. */
  readonly place: string;
  /** Masked. */
  readonly excerpt: string;
}

/** In messages, arguments, tools' schemas and the id. Numbers of calls are not looked at. */
export function privateIn(trace: Trace): PrivatePlace[] {
  const found: PrivatePlace[] = [];
  changed(trace, (text, place) => {
    for (const { kind, excerpt } of findPrivate(text)) found.push({ kind, place, excerpt });
    return text;
  });
  return found;
}

/** Each find becomes `[email-1]`, `[key-1]` and so on: one that occurs again in the conversation gets the same name. */
export function redacted(trace: Trace): Trace {
  const names = new Map<string, string>();
  const counts = new Map<PrivateKind, number>();
  const nameOf = (kind: PrivateKind, secret: string): string => {
    const known = names.get(secret);
    if (known !== undefined) return known;
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    const name = `[${kind}-${count}]`;
    names.set(secret, name);
    return name;
  };
  return changed(trace, (text) => {
    let clean = '';
    let at = 0;
    for (const { kind, index, length } of findPrivate(text)) {
      clean += text.slice(at, index) + nameOf(kind, text.slice(index, index + length));
      at = index + length;
    }
    return clean + text.slice(at);
  });
}

type Change = (text: string, place: string) => string;

function changed(trace: Trace, change: Change): Trace {
  const { tools } = trace;
  return {
    ...trace,
    id: change(trace.id, 'id'),
    messages: trace.messages.map((message, i) => changedMessage(message, change, `message ${i + 1}`)),
    ...(tools && { tools: deeply(tools, change, 'tools') as NonNullable<Trace['tools']> }),
  };
}

function changedMessage(message: Message, change: Change, place: string): Message {
  const content = change(message.content, place);
  if (message.role !== 'assistant') return { ...message, content };
  const { reasoning, toolCalls } = message;
  return {
    ...message,
    content,
    ...(reasoning !== undefined && { reasoning: change(reasoning, `${place}, thinking`) }),
    ...(toolCalls && {
      toolCalls: toolCalls.map((call) => ({
        ...call,
        arguments: deeply(call.arguments, change, `${place}, call of ${call.name}`) as typeof call.arguments,
      })),
    }),
  };
}

/** Every text in a value, names of fields too: people are keys of maps now and then. */
function deeply(value: unknown, change: Change, place: string): unknown {
  if (typeof value === 'string') return change(value, place);
  if (Array.isArray(value)) return value.map((item) => deeply(item, change, place));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [change(name, place), deeply(item, change, place)]));
}
