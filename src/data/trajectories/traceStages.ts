/**
 * An agent's log has a line for each request, and each repeats the conversation so far. Finds the lines that say less than another one.
 * Holds some hundred bytes for each answer of the log, not its text.
 */
import { createHash } from 'node:crypto';
import type { Message } from '../../domain/message.js';

export type Standing = 'whole' | 'stage' | 'repeated';

export class TraceStages {
  /** Conversations up to an answer behind which another message stands. */
  readonly #begun = new Set<string>();
  readonly #seen = new Set<string>();

  /** First pass: every conversation that may take the place of its stages. */
  add(messages: readonly Message[]): void {
    for (const prefix of prefixesOf(messages).slice(0, -1)) this.#begun.add(prefix);
  }

  /**
   * Second pass, in the same order.
   * @returns `stage` where a longer conversation begins with it, `repeated` where an earlier line says the same
   */
  standing(messages: readonly Message[]): Standing {
    const whole = prefixesOf(messages).at(-1)!;
    if (this.#begun.has(whole)) return 'stage';
    if (this.#seen.has(whole)) return 'repeated';
    this.#seen.add(whole);
    return 'whole';
  }
}

/** Digests of the conversation up to each answer, and of all of it. */
function prefixesOf(messages: readonly Message[]): string[] {
  const prefixes: string[] = [];
  let digest = '';
  for (const [i, message] of messages.entries()) {
    digest = createHash('sha256')
      .update(digest + said(message))
      .digest('base64')
      .slice(0, 20);
    if (message.role === 'assistant' || i === messages.length - 1) prefixes.push(digest);
  }
  return prefixes;
}

/** Thinking is not sent back to a server, and space around a text is often lost on the way. */
function said(message: Message): string {
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []).map(({ name, arguments: args }) => [name, args]) : [];
  return JSON.stringify([message.role, message.content.trim(), calls]);
}
