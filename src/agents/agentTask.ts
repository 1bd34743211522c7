/** What passes between a rollout and whoever works on it, of any kind of agent. */
import type { Problem } from '../domain/problem.js';
import type { AgentAnswer } from './agent.js';
import type { AgentModel } from './agentModel.js';

/** What the agent's side of a rollout came to. */
export type AgentEnd =
  | { readonly kind: 'answered'; readonly answer: Exclude<AgentAnswer, string> }
  | { readonly kind: 'failed'; readonly error: string }
  /** No rollout of it can work. */
  | { readonly kind: 'unusable'; readonly error: string };

/** What an agent is given to work with. */
export interface AgentTask<P extends Problem = Problem> {
  readonly problem: P;
  readonly trajectoryId: string;
  readonly groupId: string;
  readonly modelId: string;
  readonly model: AgentModel;
  readonly rolloutUrl: string;
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Resolves where an end is posted. */
  readonly posted: Promise<AgentEnd>;
  readonly signal: AbortSignal;
  /** After the signal an agent has so long to end. */
  readonly graceMs: number;
  readonly onNotice: (text: string) => void;
}

/** What programs and services read, as JSON with more beside; whole numbers too large for it become texts. @throws TypeError for cycles */
export function taskJson({ problem, trajectoryId, groupId, modelId, rolloutUrl }: AgentTask, more: object = {}): string {
  const task = { problem, trajectoryId, groupId, model: modelId, rolloutUrl, ...more };
  return JSON.stringify(task, (_, value) => (typeof value === 'bigint' ? String(value) : value));
}

/** Of whatever was thrown. */
export function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? `${error.name === 'Error' ? '' : `${error.name}: `}${error.message}` : String(error);
  } catch {
    return 'it threw something that is no error';
  }
}
