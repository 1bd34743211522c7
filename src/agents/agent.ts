/**
 * An agent that exists already, as it is trained: a function, a program in any language, or a service at an address. Each takes one problem
 * through to an answer by itself, with its own prompts, tools and loop; only its model is ours. Does not run it: see `agentRollout.ts`.
 */
import { hostName, isLoopback } from '../access.js';
import type { Problem } from '../domain/problem.js';
import { UserError } from '../userError.js';
import type { AgentModel } from './agentModel.js';

/** The rollout that an agent works on. */
export interface AgentRollout<P extends Problem = Problem> {
  readonly problem: P;
  /** Aborted at the rollout's deadline, and when the run is stopped. */
  readonly signal: AbortSignal;
  readonly trajectoryId: string;
  /** The rollouts of one occurrence of a problem share it. */
  readonly groupId: string;
}

/** What an agent is given for one rollout. */
export interface AgentContext<P extends Problem = Problem, State = undefined> extends AgentRollout<P> {
  /** The policy, as a language model of the AI SDK. */
  readonly model: AgentModel;
  /** The policy, as an OpenAI-compatible endpoint: for the OpenAI client, or plain fetch. */
  readonly baseUrl: string;
  /** Goes with `baseUrl`, and is good for this rollout only. */
  readonly apiKey: string;
  /** What `setUp` returned. */
  readonly state: State;
}

/** The text that is graded; or with a reward, which then stands in place of grader and reward of the run. */
export type AgentAnswer = string | { readonly answer?: string; readonly reward?: number | Readonly<Record<string, number>> };

export interface AgentOptions {
  /**
   * What becomes of a rollout whose agent throws: it is lost and scores nothing, as when the machinery fails; or it counts as a rollout
   * without an answer. Default `lost`. Say `wrong` where the agent throws because of what the model wrote.
   */
  readonly failure?: 'lost' | 'wrong';
  /** Failures in a row that stop the run. Default 16. */
  readonly failuresInARow?: number;
  /** Rollouts that have the agent at work at once; others wait. Default: as many as the recipe has in flight; of programs 16. */
  readonly concurrency?: number;
}

export interface AgentFunction<P extends Problem = Problem, State = undefined> extends AgentOptions {
  run(context: AgentContext<P, State>): Promise<AgentAnswer> | AgentAnswer;
  /** Once a rollout, before `run`; for what its tools work on. */
  setUp?(rollout: AgentRollout<P>): Promise<State> | State;
  /** Once a rollout that was set up, whatever happened, when `run` has ended. */
  tearDown?(state: State): Promise<void> | void;
}

export interface AgentProgram extends AgentOptions {
  /** The program and its arguments. It runs with your rights, without the sandbox: it is your own. */
  readonly command: readonly string[];
  /** Laid over the environment of this process. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

export interface AgentService extends AgentOptions {
  /** Asked by POST for each rollout. On this machine, since the recording endpoint is reached from this machine only. */
  readonly url: string;
}

/** As `agent`, `agentCommand` and `agentAt` make it. */
export type Agent<P extends Problem = Problem> =
  // biome-ignore lint/suspicious/noExplicitAny: the type of the state stands in both directions
  | { readonly kind: 'function'; readonly definition: AgentFunction<P, any> }
  | { readonly kind: 'program'; readonly definition: AgentProgram }
  | { readonly kind: 'service'; readonly definition: AgentService };

/** A function, alone or with what it sets up and tears down for each rollout. @throws UserError for options that cannot be */
export function agent<P extends Problem = Problem>(run: AgentFunction<P>['run']): Agent<P>;
export function agent<P extends Problem = Problem, State = undefined>(definition: AgentFunction<P, State>): Agent<P>;
export function agent<P extends Problem, State>(given: AgentFunction<P>['run'] | AgentFunction<P, State>): Agent<P> {
  if (typeof given === 'function') return { kind: 'function', definition: { run: given } };
  checkOptions(given);
  return { kind: 'function', definition: given };
}

/**
 * A program, started once a rollout. It reads one JSON object from its standard input (`problem`, `trajectoryId`, `groupId`, `model`,
 * `rolloutUrl`), finds the policy at OPENAI_BASE_URL with OPENAI_API_KEY, and prints its answer, or posts it to `rolloutUrl/end`.
 *
 * @throws UserError where there is no program, or for options that cannot be
 */
export function agentCommand(command: readonly string[], options: Omit<AgentProgram, 'command'> = {}): Agent {
  if (command.length === 0 || command.some((part) => typeof part !== 'string') || command[0] === '') {
    throw new UserError('the command of an agent is a list of texts, the program first', "For example ['python', 'agent.py'].");
  }
  checkOptions(options);
  return { kind: 'program', definition: { ...options, command } };
}

/**
 * A service of your own. It is sent what a program reads, `baseUrl` and `apiKey` beside, and answers with its answer as JSON, or with status
 * 202 and posts the answer to `rolloutUrl/end` later.
 *
 * @throws UserError where the address is not of this machine, or for options that cannot be
 */
export function agentAt(url: string, options: Omit<AgentService, 'url'> = {}): Agent {
  const { protocol, hostname } = URL.canParse(url) ? new URL(url) : { protocol: '', hostname: '' };
  if (protocol !== 'http:' && protocol !== 'https:') throw new UserError(`${JSON.stringify(url)} is no http address of an agent`);
  if (!isLoopback(hostName(hostname))) {
    throw new UserError(
      `the agent at ${url} is on another machine, from where the recording endpoint (127.0.0.1) is not reached`,
      'Run the agent on this machine, or start it by a command.',
    );
  }
  checkOptions(options);
  return { kind: 'service', definition: { ...options, url } };
}

function checkOptions({ failuresInARow, concurrency }: AgentOptions): void {
  for (const [name, value] of Object.entries({ failuresInARow, concurrency })) {
    if (value !== undefined && !(Number.isSafeInteger(value) && value > 0)) {
      throw new UserError(`the agent's ${name} is ${value}, not a whole number above 0`);
    }
  }
}

/** What an agent came to, as a JSON object of its own says it; or what is wrong with it. */
export function readAnswer(
  given: unknown,
): { readonly kind: 'answer'; readonly answer: Exclude<AgentAnswer, string> } | { readonly kind: 'bad'; readonly problem: string } {
  if (typeof given === 'string') return { kind: 'answer', answer: { answer: given } };
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return bad(`is ${given === null ? 'null' : typeof given}`);
  const { answer, reward } = given as { readonly answer?: unknown; readonly reward?: unknown };
  if (answer !== undefined && answer !== null && typeof answer !== 'string') return bad('has an "answer" that is no text');
  if (!isReward(reward)) return bad('has a "reward" that is neither a finite number nor finite numbers by name');
  const text = answer ?? undefined;
  if (text === undefined && reward === undefined) return bad('has neither "answer" nor "reward"');
  return { kind: 'answer', answer: { ...(text !== undefined && { answer: text }), ...(reward !== undefined && { reward }) } };
}

const bad = (problem: string): { readonly kind: 'bad'; readonly problem: string } => ({ kind: 'bad', problem });

function isReward(value: unknown): value is Exclude<AgentAnswer, string>['reward'] {
  if (value === undefined || typeof value === 'number') return value === undefined || Number.isFinite(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((part) => typeof part === 'number' && Number.isFinite(part));
}
