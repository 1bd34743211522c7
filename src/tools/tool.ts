/** What a policy can call. Does not run the agent loop: see `rollout/`. */
import type { z } from 'zod';
import type { Problem } from '../domain/problem.js';

export interface ToolContext<State = unknown, P extends Problem = Problem> {
  readonly problem: P;
  readonly trajectoryId: string;
  /** What `setUp` returned for this rollout. */
  readonly state: State;
  readonly signal: AbortSignal;
}

/** The text the model reads, whether the call did what it was asked, or that our own machinery failed (which is never scored). */
export type ToolOutcome =
  | { readonly kind: 'ok'; readonly text: string }
  | { readonly kind: 'error'; readonly text: string }
  | { readonly kind: 'infra'; readonly error: string };

export interface Tool<Schema extends z.ZodType = z.ZodType, State = unknown> {
  /** Letters, digits, `_` and `-`. */
  readonly name: string;
  readonly description: string;
  readonly parameters: Schema;
  /** Arguments are validated before. A thrown error is told to the model as an error of the call. */
  execute(args: z.output<Schema>, context: ToolContext<State>): Promise<string | ToolOutcome> | string | ToolOutcome;
  /** Once a rollout, before its first call. */
  setUp?(context: Omit<ToolContext, 'state'>): Promise<State> | State;
  /** Once a rollout, whatever happened. */
  tearDown?(state: State): Promise<void> | void;
  /** The rollout ends after this call. */
  readonly final?: boolean;
}

/** Defines a tool; argument types follow from the schema. */
export function tool<Schema extends z.ZodType, State = undefined>(definition: Tool<Schema, State>): Tool<Schema, State> {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(definition.name)) {
    throw new RangeError(`tool name ${JSON.stringify(definition.name)} must be 1 to 64 letters, digits, "_" or "-"`);
  }
  return definition;
}
