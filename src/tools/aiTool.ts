/** The tool object of Vercel's AI SDK (version 6) as far as we use it: shapes, so that the SDK is no dependency. */

/** What `tool()` and `dynamicTool()` return. */
export interface AiTool {
  readonly description?: string | undefined;
  /** A zod or other standard schema, `jsonSchema(...)`, or a function that returns one. */
  readonly inputSchema?: unknown;
  /** `provider`: the model's own server runs it. */
  readonly type?: 'function' | 'dynamic' | 'provider' | undefined;
  readonly needsApproval?: unknown;
  // A method, so that tools of any input fit.
  execute?(input: never, options: never): unknown;
  toModelOutput?(options: never): unknown;
}

/** What `execute` is told beside its input. */
export interface AiCallOptions {
  readonly toolCallId: string;
  /** The question of the problem, as a user's message. */
  readonly messages: readonly { readonly role: 'user'; readonly content: string }[];
  readonly abortSignal: AbortSignal;
}

/** What the SDK makes of a schema. */
export interface AiSchema {
  readonly jsonSchema: unknown;
  readonly validate?: ((value: unknown) => unknown) | undefined;
}

const SCHEMA = Symbol.for('vercel.ai.schema');

export const isAiSchema = (value: unknown): value is AiSchema => typeof value === 'object' && value !== null && SCHEMA in value;
