/** One assistant turn and what came back for its calls. */
import type { CallSegment, Segment } from './segment.js';

export interface Turn {
  /** The text the model wrote, without its end-of-turn token. */
  readonly text: string;
  readonly segments: readonly Segment[];
  /** Whether the model ended the turn itself or ran into a token limit. */
  readonly stop: 'stop' | 'length';
  /** Tokens written by the model in this turn, end-of-turn included. */
  readonly tokens: number;
  /** Version of the policy that sampled it. */
  readonly policyVersion: number;
  /** One reply a call, in order; empty where the turn called nothing or the rollout ended first. */
  readonly replies: readonly Reply[];
}

/** What the model reads after a call: the result of an execution, or why there was none. `text` is exactly what it reads. */
export type Reply =
  | { readonly kind: 'executed'; readonly call: CallSegment; readonly success: boolean; readonly text: string; readonly seconds: number }
  | { readonly kind: 'refused'; readonly problem: CallProblem; readonly text: string };

/** Each mistake has its own message; `tooManyCalls`: more calls in a turn than are allowed. */
export type CallProblem = 'malformed' | 'cutOff' | 'unknownTool' | 'badArguments' | 'tooManyCalls';
