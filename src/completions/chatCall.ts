/** A chat-completions request in the words of this project: plain data, whatever wire it came by. Does not say how it is answered. */
import type { Message } from '../domain/message.js';
import type { ToolDescription } from '../tools/jsonSchema.js';

export interface ChatCall {
  /** As the client names it. */
  readonly model: string;
  /** Tool messages stand in the order of the calls that they answer; a system text of several messages is one. */
  readonly messages: readonly Message[];
  /** What the model is told it can call. */
  readonly tools: readonly ToolDescription[];
  readonly toolChoice: ToolChoice;
  /** Calls beyond these are left out of the answer. */
  readonly callsPerTurn: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  /** Tokens of one answer. */
  readonly maxTokens?: number;
  /** Answers wanted. */
  readonly n: number;
  readonly stop: readonly string[];
  readonly seed?: number;
  readonly logProbs: boolean;
  /** The ids of the prompt and of the answers are wanted too. */
  readonly tokenIds: boolean;
  readonly stream: boolean;
  /** A last chunk tells what was used. */
  readonly streamUsage: boolean;
}

export type ToolChoice =
  | { readonly kind: 'auto' }
  /** What looks like a call is text. */
  | { readonly kind: 'none' }
  /** The turn begins with a call. */
  | { readonly kind: 'required' }
  | { readonly kind: 'named'; readonly name: string };

/** Whether calls in the model's text are taken for calls, rather than for text. */
export const takesCalls = ({ tools, toolChoice }: Pick<ChatCall, 'tools' | 'toolChoice'>): boolean =>
  tools.length > 0 && toolChoice.kind !== 'none';
