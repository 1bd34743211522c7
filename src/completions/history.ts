/**
 * Conversations as tokens. Where the messages of a call begin with one that was answered here, its prompt is the tokens as they were, what
 * was sampled included, and only what came new is tokenised: tokens are never made twice, and a server's prompts are those of training.
 * Everything else is rendered from scratch. Keeps no texts; forgets the longest unused first.
 */
import { createHash } from 'node:crypto';
import type { ChatFormat } from '../chat/chatFormat.js';
import type { Message } from '../domain/message.js';
import type { Answer } from './answer.js';
import { canonicalMessage, canonicalTools, isEcho } from './canonical.js';
import type { ChatCall } from './chatCall.js';
import { invalid, type Refusal } from './refusal.js';

export interface TokenHistoryOptions {
  /** Tokens kept in all. Default 4 million. */
  readonly maxTokens?: number;
}

/** Where a call stands. */
export interface Place {
  /** The ids up to where the assistant begins to write. */
  readonly tokens: readonly number[];
  /** The earlier answer that this goes on from: its prompt and what was sampled are the first `length` tokens. */
  readonly continues?: Continued;
  /** Names the messages; for `remember`. */
  readonly key: string;
}

export interface Continued {
  readonly id: string;
  readonly length: number;
}

export type Placed = { readonly kind: 'placed'; readonly place: Place } | { readonly kind: 'refused'; readonly refusal: Refusal };

export interface RememberedAnswer {
  readonly id: string;
  readonly answer: Answer;
  /** As they were sampled, the end of the turn included where the model wrote it. */
  readonly tokens: readonly number[];
}

/** One answer. Its tokens are those of its parent, `between`, then `sampled`. */
interface Entry {
  readonly id: string;
  readonly key: string;
  readonly parent: Entry | undefined;
  readonly between: Int32Array;
  readonly sampled: Int32Array;
  readonly length: number;
  readonly answer: Answer;
}

const MAX_TOKENS = 4_000_000;

export class TokenHistory {
  readonly #format: ChatFormat;
  readonly #maxTokens: number;
  /** In order of use, the longest unused first. A parent is always younger than its children, so that none is left without. */
  readonly #entries = new Map<string, Entry>();
  readonly #byKey = new Map<string, Entry[]>();
  #tokens = 0;

  constructor(format: ChatFormat, options: TokenHistoryOptions = {}) {
    this.#format = format;
    this.#maxTokens = options.maxTokens ?? MAX_TOKENS;
  }

  /** Tokens kept. */
  get size(): number {
    return this.#tokens;
  }

  /** The prompt of a call. Refused where the template cannot render its messages. */
  place({ messages, tools }: Pick<ChatCall, 'messages' | 'tools'>): Placed {
    let key = digest('', canonicalTools(tools));
    let last: { readonly entry: Entry; readonly index: number } | undefined;
    for (const [index, message] of messages.entries()) {
      const entry = message.role === 'assistant' ? this.#answered(key, message) : undefined;
      if (entry) last = { entry, index };
      key = entry ? digest('', entry.id) : digest(key, canonicalMessage(message));
    }
    try {
      if (last === undefined) return { kind: 'placed', place: { key, tokens: this.#format.prompt(this.#harmless(messages), tools) } };
      const { entry, index } = last;
      this.#touch(entry);
      const ended = entry.sampled.length > 0 && this.#format.isStop(entry.sampled.at(-1)!);
      const tokens = tokensOf(entry);
      if (!ended) tokens.push(...this.#format.closing());
      for (const id of this.#format.following(this.#harmless(messages.slice(index + 1)))) tokens.push(id);
      return { kind: 'placed', place: { key, tokens, continues: { id: entry.id, length: entry.length } } };
    } catch (error) {
      const what = error instanceof Error ? error.message : String(error);
      return { kind: 'refused', refusal: invalid(`the model's chat template cannot render these messages: ${what}`, 'messages') };
    }
  }

  /** Keeps an answer, so that a later call may go on from it. */
  remember(place: Place, { id, answer, tokens }: RememberedAnswer): void {
    const parent = place.continues && this.#entries.get(place.continues.id);
    const before = parent?.length ?? 0;
    const entry: Entry = {
      id,
      key: place.key,
      parent,
      between: Int32Array.from(place.tokens.slice(before)),
      sampled: Int32Array.from(tokens),
      length: place.tokens.length + tokens.length,
      answer,
    };
    this.#entries.set(id, entry);
    const same = this.#byKey.get(place.key);
    if (same) same.push(entry);
    else this.#byKey.set(place.key, [entry]);
    this.#tokens += own(entry);
    this.#touch(entry);
    this.#forget();
  }

  /** The newest answer to these messages that the client's message repeats. */
  #answered(key: string, message: Extract<Message, { role: 'assistant' }>): Entry | undefined {
    const answers = this.#byKey.get(key) ?? [];
    const ids = new Set(message.toolCalls?.map((call) => call.id));
    const echoed = answers.filter((entry) => isEcho(message, entry.answer));
    return echoed.findLast(({ answer }) => answer.calls.some((call) => ids.has(call.id))) ?? echoed.at(-1);
  }

  /** Counts as used: the answer, then those that it goes on from. */
  #touch(entry: Entry): void {
    for (let at: Entry | undefined = entry; at !== undefined; at = at.parent) {
      if (!this.#entries.delete(at.id)) continue;
      this.#entries.set(at.id, at);
    }
  }

  #forget(): void {
    for (const entry of this.#entries.values()) {
      if (this.#tokens <= this.#maxTokens) return;
      this.#entries.delete(entry.id);
      this.#tokens -= own(entry);
      const same = this.#byKey.get(entry.key)!.filter((other) => other !== entry);
      if (same.length === 0) this.#byKey.delete(entry.key);
      else this.#byKey.set(entry.key, same);
    }
  }

  /** Control tokens in texts from outside are broken up: in a tool's as in a rollout, in a user's only those that no text needs. */
  #harmless(messages: readonly Message[]): Message[] {
    return messages.map((message) => {
      if (message.role === 'tool') return { role: 'tool', content: this.#format.neutralise(message.content) };
      if (message.role === 'user') return { ...message, content: this.#format.neutraliseSpecial(message.content) };
      if (message.role !== 'assistant' || message.reasoning === undefined || message.reasoning.trim() === '') return message;
      return { ...message, content: `<think>\n${message.reasoning.trim()}\n</think>\n\n${message.content}` };
    });
  }
}

/** Tokens that an entry keeps itself. */
const own = ({ between, sampled }: Entry): number => between.length + sampled.length;

function tokensOf(entry: Entry): number[] {
  const parts: Int32Array[] = [];
  for (let at: Entry | undefined = entry; at !== undefined; at = at.parent) parts.push(at.sampled, at.between);
  return parts.reverse().flatMap((part) => Array.from(part));
}

const digest = (before: string, text: string): string => createHash('sha256').update(before).update('\0').update(text).digest('base64');
