/**
 * A task of several steps, as its author writes it: a start, actions that change a state, and a score at the end. Knows no tokens and no
 * turns: `world.ts` runs one rollout of it, the rollout loop lets the policy act.
 */
import type { z } from 'zod';
import type { Problem } from '../domain/problem.js';
import type { StopReason } from '../domain/stopReason.js';
import { type AnyTool, Toolbox } from '../tools/callTool.js';
import { tool } from '../tools/tool.js';
import { type Started, type StartInput, startWorld, type World } from './world.js';

/** A number, or numbers by name; each name's sum over the rollout becomes one part of its reward. */
export type StepReward = number | Readonly<Record<string, number>>;

export interface ResetContext {
  /** For whatever is random about the start. Equal for all rollouts of a group, since they are compared with each other. */
  readonly seed: number;
  readonly trajectoryId: string;
  /** Ends with `resetSeconds`, or with the run. */
  readonly signal: AbortSignal;
}

export interface Start<State> {
  /** Of this rollout alone; actions may change it. */
  readonly state: State;
  /** What the model sees of it: stands behind the problem's question. */
  readonly observation?: string;
}

export interface StepContext<P extends Problem = Problem> {
  readonly problem: P;
  /** Actions taken before this one. */
  readonly steps: number;
  /** Ends with `stepSeconds`, or with the rollout. */
  readonly signal: AbortSignal;
}

/** A text is an observation without more. An action that the rules forbid is an observation too, not an exception. */
export type StepResult =
  | string
  | {
      readonly observation: string;
      /** A bare number is the part `env/step`. */
      readonly reward?: StepReward;
      /** The task is over; further calls are refused. */
      readonly done?: boolean;
    }
  /** The environment itself failed: the rollout is lost and has no score. So it is when an action throws. */
  | { readonly kind: 'infra'; readonly error: string };

export interface Action<State, Schema extends z.ZodType = z.ZodType, P extends Problem = Problem> {
  readonly description: string;
  /** A `z.object`; arguments are checked before the step. */
  readonly parameters: Schema;
  step(state: State, args: z.output<Schema>, context: StepContext<P>): StepResult | Promise<StepResult>;
}

/** How a rollout ended, for the score. */
export interface Ending<P extends Problem = Problem> {
  readonly problem: P;
  readonly steps: number;
  /** Whether an action ended the task. */
  readonly done: boolean;
  readonly stopReason: StopReason;
  /** The assistant's text after its last call, where the task asks for an answer. */
  readonly finalText: string;
  readonly signal: AbortSignal;
}

export type EndScore =
  | boolean
  | {
      readonly success: boolean;
      /** A bare number is the part `env/final`; absent: 1 for a success, 0 otherwise. */
      readonly reward?: StepReward;
    };

export interface EnvironmentDefinition<P extends Problem, State, Schemas extends Readonly<Record<string, z.ZodType>>> {
  readonly name: string;
  /** Begins one rollout. What it throws is a failure of the environment. */
  reset(problem: P, context: ResetContext): Start<State> | Promise<Start<State>>;
  /** By the names that the model calls. */
  readonly actions: { readonly [Name in keyof Schemas]: Action<State, Schemas[Name], P> };
  /** Once, at the end, whoever ended the rollout. A boolean says success, and pays 1 for it. */
  score(state: State, ending: Ending<P>): EndScore | Promise<EndScore>;
  /** Once, whatever happened, where `reset` came to a state. */
  tearDown?(state: State): Promise<void> | void;
  /** Wall-clock seconds that `reset` (and `score`, and `tearDown`) may take. Default 60. */
  readonly resetSeconds?: number;
  /** Wall-clock seconds of one step. Default 60. */
  readonly stepSeconds?: number;
}

/** What `train` and `evaluate` take. Made by `environment`. */
export interface Environment<P extends Problem = Problem> {
  readonly name: string;
  /** Its actions, as the model is offered them. They work in rollouts that `start` began. */
  readonly tools: readonly AnyTool[];
  /**
   * Begins one rollout.
   * @throws the signal's reason when it is aborted meanwhile
   */
  start<Q extends P>(input: StartInput<Q>): Promise<Started<Q>>;
}

const DEFAULT_SECONDS = 60;

/**
 * Defines an environment. The type of the state follows from `reset` (write it before `actions`), the types of the arguments from the schemas.
 *
 * @throws RangeError for a name that no tool may have, no actions, or limits that are no positive number of seconds
 */
export function environment<P extends Problem, State, Schemas extends Readonly<Record<string, z.ZodType>>>(
  definition: EnvironmentDefinition<P, State, Schemas>,
): Environment<P> {
  const { name, resetSeconds = DEFAULT_SECONDS, stepSeconds = DEFAULT_SECONDS } = definition;
  for (const [key, seconds] of Object.entries({ resetSeconds, stepSeconds })) {
    if (!(seconds > 0)) throw new RangeError(`environment "${name}": ${key} is ${seconds}; it must be above 0`);
  }
  const rules: Rules = { ...(definition as unknown as AnyDefinition), resetSeconds, stepSeconds };
  /** The world of a rollout, by its own copy of the problem: that is how the actions, which are tools, find their state. */
  const worlds = new WeakMap<Problem, World>();
  const tools = Object.entries(rules.actions).map(([action, { description, parameters }]) =>
    tool({
      name: action,
      description,
      parameters,
      setUp: ({ problem }): World => {
        const world = worlds.get(problem);
        if (world === undefined) throw new Error(`"${action}" belongs to the environment "${name}", which this rollout did not start`);
        return world;
      },
      execute: (args, { state: world, signal }) => world.step(action, args, signal),
    }),
  );
  if (tools.length === 0) throw new RangeError(`environment "${name}" has no actions`);
  new Toolbox(tools);
  return {
    name,
    tools,
    start: (input) =>
      startWorld(rules, input, (world) => {
        worlds.set(world.problem, world);
      }),
  };
}

/** A definition whose types of state and arguments are no longer of interest. */
// biome-ignore lint/suspicious/noExplicitAny: the types of state and problem stand in both directions
export type AnyDefinition = EnvironmentDefinition<any, unknown, Record<string, z.ZodType>>;

/** A definition with its defaults. */
export type Rules = AnyDefinition & { readonly resetSeconds: number; readonly stepSeconds: number };
