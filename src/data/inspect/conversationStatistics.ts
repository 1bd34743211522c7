/** How the conversations of a set use their tools. Reads conversations that are read already; does not judge whether they are right. */
import type { Message } from '../../domain/message.js';
import { extractAnswer } from '../../reward/extract.js';
import type { Conversation } from '../conversations/conversation.js';
import { tellsFailure } from '../toolText.js';
import { type LengthSummary, Lengths } from './lengths.js';
import { type Count, Tally } from './tally.js';

export interface ConversationStatistics {
  readonly conversations: number;
  /** Of all calls; each as far as the tools' texts tell. */
  readonly calls: { readonly total: number; readonly succeeded: number; readonly failed: number; readonly unanswered: number };
  readonly callsByName: readonly Count[];
  readonly callsPerConversation: LengthSummary | undefined;
  readonly messagesPerConversation: LengthSummary | undefined;
  /** Conversations with ... */
  readonly withCalls: number;
  readonly withFailure: number;
  /** ... a failed call, and later one that succeeded. */
  readonly withRecovery: number;
  /** ... text or thinking in front of a call. */
  readonly withAnalysis: number;
  readonly withThinking: number;
  readonly withSystem: number;
  readonly withTools: number;
  /** ... a boxed answer in the last message. */
  readonly withAnswer: number;
}

const NAMES_SHOWN = 20;

type Trait = 'calls' | 'failure' | 'recovery' | 'analysis' | 'thinking' | 'system' | 'tools' | 'answer';

export class ConversationCounter {
  readonly #names = new Tally();
  readonly #calls = new Lengths();
  readonly #messages = new Lengths();
  #conversations = 0;
  #total = 0;
  #succeeded = 0;
  #failed = 0;
  readonly #with: Record<Trait, number> = { calls: 0, failure: 0, recovery: 0, analysis: 0, thinking: 0, system: 0, tools: 0, answer: 0 };

  add({ messages, tools }: Conversation): void {
    this.#conversations++;
    this.#messages.add(messages.length);
    const calls = messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []));
    for (const { name } of calls) this.#names.add(name);
    this.#calls.add(calls.length);
    this.#total += calls.length;
    const results = resultsOf(messages).map(tellsFailure);
    const failed = results.filter(Boolean).length;
    this.#failed += failed;
    this.#succeeded += results.length - failed;
    const firstFailure = results.indexOf(true);
    const found: Record<Trait, boolean> = {
      calls: calls.length > 0,
      failure: firstFailure !== -1,
      recovery: firstFailure !== -1 && results.lastIndexOf(false) > firstFailure,
      analysis: messages.some((message) => message.role === 'assistant' && message.toolCalls !== undefined && wordsOf(message) !== ''),
      thinking: messages.some((message) => message.role === 'assistant' && thinks(message)),
      system: messages[0]?.role === 'system',
      tools: tools !== undefined && tools.length > 0,
      answer: answerOf(messages) !== undefined,
    };
    for (const [name, is] of Object.entries(found)) if (is) this.#with[name as Trait]++;
  }

  summary(): ConversationStatistics {
    return {
      conversations: this.#conversations,
      calls: {
        total: this.#total,
        succeeded: this.#succeeded,
        failed: this.#failed,
        unanswered: Math.max(0, this.#total - this.#succeeded - this.#failed),
      },
      callsByName: this.#names.list(NAMES_SHOWN),
      callsPerConversation: this.#calls.summary(),
      messagesPerConversation: this.#messages.summary(),
      withCalls: this.#with.calls,
      withFailure: this.#with.failure,
      withRecovery: this.#with.recovery,
      withAnalysis: this.#with.analysis,
      withThinking: this.#with.thinking,
      withSystem: this.#with.system,
      withTools: this.#with.tools,
      withAnswer: this.#with.answer,
    };
  }
}

/** Texts of the messages that answer a call: at most as many as the turn before them has calls. */
function resultsOf(messages: readonly Message[]): string[] {
  const texts: string[] = [];
  let open = 0;
  for (const message of messages) {
    if (message.role === 'assistant') open = message.toolCalls?.length ?? 0;
    else if (message.role === 'tool' && open > 0) {
      open--;
      texts.push(message.content);
    }
  }
  return texts;
}

type AssistantMessage = Extract<Message, { role: 'assistant' }>;

const wordsOf = ({ content, reasoning = '' }: AssistantMessage): string => (reasoning + content).replace(/<\/?think>/g, '').trim();
const thinks = ({ content, reasoning = '' }: AssistantMessage): boolean => reasoning.trim() !== '' || content.includes('<think>');

/** What the last message boxes; undefined where it boxes nothing, or is not the assistant's. */
export function answerOf(messages: readonly Message[]): string | undefined {
  const last = messages.at(-1);
  if (last?.role !== 'assistant' || (last.toolCalls?.length ?? 0) > 0) return undefined;
  return extractAnswer(last.content).answer;
}
