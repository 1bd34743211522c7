/** A chat message as people write it. Does not know tokens or templates: see `chat/`. */
export type Message =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user'; readonly content: string }
  | {
      readonly role: 'assistant';
      readonly content: string;
      /** Thinking that a file keeps apart from the content. */
      readonly reasoning?: string;
      readonly toolCalls?: readonly ToolCall[];
    }
  | {
      readonly role: 'tool';
      readonly content: string;
      readonly name?: string;
      /** The id of the call that this answers, where a file names it. */
      readonly callId?: string;
    };

/** A tool call with its arguments as an object (templates want the object, the OpenAI wire the string). */
export interface ToolCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** As a file names it; templates and endpoints do not see it. */
  readonly id?: string;
}
