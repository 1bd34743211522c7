/** What a policy can call. Does not run the agent loop: see `rollout/`. */
import type { z } from 'zod';
import type { Problem } from '../domain/problem.js';
import { Gate } from './gate.js';

export interface ToolContext<State = unknown, P extends Problem = Problem> {
  readonly problem: P;
  readonly trajectoryId: string;
  /** What `setUp` returned for this rollout. */
  readonly state: State;
  readonly signal: AbortSignal;
  /** The rollouts of one occurrence of a problem share it; absent where nobody groups rollouts. */
  readonly groupId?: string;
  /** Of this call: no other call of the rollout has it. */
  readonly callId?: string;
}

/** The text the model reads, whether the call did what it was asked, or that our own machinery failed (which is never scored). */
export type ToolOutcome =
  | { readonly kind: 'ok'; readonly text: string }
  | { readonly kind: 'error'; readonly text: string }
  | { readonly kind: 'infra'; readonly error: string };

/** What every tool may say of its calls, wherever it comes from. */
export interface ToolLimits {
  /** Wall-clock seconds of one call, without the wait for its place; default: the rollout's (300 s). */
  readonly timeoutSeconds?: number;
  /** Calls that run at once, over all rollouts; further ones wait. Tools with the same `Gate` share its places. Default: no limit. */
  readonly concurrency?: number | Gate;
  /** Tokens of one result, in place of the recipe's `limits.toolTokens`; head and tail are kept. */
  readonly resultTokens?: number;
  /** The rollout ends after this call. */
  readonly final?: boolean;
}

export interface Tool<Schema extends z.ZodType = z.ZodType, State = unknown> extends ToolLimits {
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
  /** Where it comes from, for the list at the start of a run, such as `AI SDK`. Default: your program. */
  readonly source?: string;
  /** What a person should know of it, said once at the start of a run. */
  readonly notes?: readonly string[];
}

const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** Defines a tool; argument types follow from the schema. @throws RangeError for a name or a limit that cannot be */
export function tool<Schema extends z.ZodType, State = undefined>(definition: Tool<Schema, State>): Tool<Schema, State> {
  const { name } = definition;
  if (!NAME.test(name)) throw new RangeError(`tool name ${JSON.stringify(name)} must be 1 to 64 letters, digits, "_" or "-"`);
  checkLimits(name, definition);
  return definition;
}

/** @throws RangeError by the tool's name */
export function checkLimits(name: string, { timeoutSeconds, concurrency, resultTokens }: Omit<ToolLimits, 'final'>): void {
  const positive = (value: number | undefined): boolean => value === undefined || (Number.isFinite(value) && value > 0);
  const count = (value: number | undefined): boolean => value === undefined || (Number.isSafeInteger(value) && value > 0);
  if (!positive(timeoutSeconds)) throw new RangeError(`tool "${name}": timeoutSeconds is ${timeoutSeconds}, not above 0`);
  if (!(concurrency instanceof Gate) && !count(concurrency))
    throw new RangeError(`tool "${name}": concurrency is ${concurrency}, not a whole number above 0`);
  if (!count(resultTokens)) throw new RangeError(`tool "${name}": resultTokens is ${resultTokens}, not a whole number above 0`);
}
