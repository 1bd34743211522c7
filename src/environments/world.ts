/**
 * One rollout of an environment: holds the state, takes one action at a time, adds up the rewards, asks for the score, tears down. Whatever
 * the environment itself fails to do is `infra`. Does not know turns or tokens.
 */
import type { EnvironmentOutcome } from '../domain/environmentOutcome.js';
import type { Problem } from '../domain/problem.js';
import { sumReward } from '../domain/reward.js';
import type { StopReason } from '../domain/stopReason.js';
import type { ToolOutcome } from '../tools/tool.js';
import type { EndScore, Rules, Start, StepResult, StepReward } from './environment.js';
import { withinSeconds } from './withinSeconds.js';

export interface StartInput<P extends Problem = Problem> {
  readonly problem: P;
  readonly trajectoryId: string;
  /** Of the start; see `ResetContext`. */
  readonly seed: number;
  readonly signal: AbortSignal;
  /** Makes the first observation as long as the model may read, and harmless for the template. */
  readonly shorten?: (text: string) => string;
}

export type Started<P extends Problem = Problem> =
  | { readonly kind: 'started'; readonly world: World<P> }
  | { readonly kind: 'infra'; readonly error: string };

/** What a rollout came to. */
export type Finished =
  | { readonly kind: 'finished'; readonly outcome: EnvironmentOutcome }
  | { readonly kind: 'infra'; readonly error: string };

/** How the loop says that a rollout is over. */
export interface RolloutEnd {
  readonly stopReason: StopReason;
  readonly finalText: string;
  readonly signal: AbortSignal;
}

export const STEP_PART = 'env/step';
export const FINAL_PART = 'env/final';

const OVER = 'Error: the task is over; this call was not run.';

/**
 * @param known told of the world before anything can act in it
 * @throws the signal's reason when it is aborted meanwhile; a state that comes too late is torn down
 */
export async function startWorld<P extends Problem>(
  rules: Rules,
  input: StartInput<P>,
  known: (world: World<P>) => void,
): Promise<Started<P>> {
  const { problem, trajectoryId, seed, signal, shorten = (text) => text } = input;
  const where = `environment "${rules.name}"`;
  const { result, late } = withinSeconds(rules.resetSeconds, signal, (own) => rules.reset(problem, { seed, trajectoryId, signal: own }));
  try {
    const start: Start<unknown> = await result;
    const question = [problem.question, shorten(start.observation ?? '')].filter((text) => text !== '').join('\n\n');
    const world = new World(rules, { ...problem, question }, problem, start.state);
    known(world);
    return { kind: 'started', world };
  } catch (error) {
    void late.then(({ state }) => rules.tearDown?.(state)).catch(() => undefined);
    signal.throwIfAborted();
    return { kind: 'infra', error: `${where} could not be reset: ${messageOf(error)}` };
  }
}

export class World<P extends Problem = Problem> {
  readonly #rules: Rules;
  readonly #original: P;
  readonly #state: unknown;
  readonly #rewards = new Map<string, number>();
  #steps = 0;
  #done = false;
  /** Why the state can no longer be trusted. */
  #broken: string | undefined;
  /** The step that runs; the next one waits for it. */
  #last: Promise<unknown> = Promise.resolve();
  #closed: Promise<string | undefined> | undefined;

  /** @param problem with the first observation behind its question: a copy of this rollout's own */
  constructor(
    rules: Rules,
    readonly problem: P,
    original: P,
    state: unknown,
  ) {
    this.#rules = rules;
    this.#original = original;
    this.#state = state;
  }

  /** Whether an action ended the task. */
  get done(): boolean {
    return this.#done;
  }

  /** One action; actions that come at once are taken one after the other. Never throws. */
  step(action: string, args: unknown, signal: AbortSignal): Promise<ToolOutcome> {
    const step = this.#last.then(() => this.#step(action, args, signal));
    this.#last = step;
    return step;
  }

  /**
   * The score, once the rollout is over. Nothing may act afterwards.
   * @throws the signal's reason when it is aborted meanwhile
   */
  async finish({ stopReason, finalText, signal }: RolloutEnd): Promise<Finished> {
    const rules = this.#rules;
    if (this.#broken !== undefined) return { kind: 'infra', error: this.#broken };
    const ending = { problem: this.#original, steps: this.#steps, done: this.#done, stopReason, finalText };
    try {
      const score = await withinSeconds(rules.resetSeconds, signal, (own) => rules.score(this.#state, { ...ending, signal: own })).result;
      const { success, reward } = readScore(score);
      this.#add(FINAL_PART, reward);
      const rewards = sumReward(Object.fromEntries(this.#rewards)).parts;
      return { kind: 'finished', outcome: { environment: rules.name, steps: this.#steps, done: this.#done, success, rewards } };
    } catch (error) {
      signal.throwIfAborted();
      return { kind: 'infra', error: `environment "${rules.name}" could not score: ${messageOf(error)}` };
    }
  }

  /** Tears down, once, however often it is called. Returns what went wrong, for a person to read; never throws. */
  close(): Promise<string | undefined> {
    this.#closed ??= this.#tearDown();
    return this.#closed;
  }

  async #step(action: string, args: unknown, signal: AbortSignal): Promise<ToolOutcome> {
    const { name, actions, stepSeconds } = this.#rules;
    if (this.#broken !== undefined) return { kind: 'infra', error: this.#broken };
    if (this.#done || this.#closed !== undefined) return { kind: 'error', text: OVER };
    const context = { problem: this.#original, steps: this.#steps };
    try {
      const { result } = withinSeconds(stepSeconds, signal, (own) => actions[action]!.step(this.#state, args, { ...context, signal: own }));
      const stepped = readStep(await result);
      if (stepped.kind === 'infra') return this.#break(`environment "${name}", action "${action}": ${stepped.error}`);
      this.#steps++;
      if (stepped.reward !== undefined) this.#add(STEP_PART, stepped.reward);
      this.#done = stepped.done;
      return { kind: 'ok', text: stepped.observation };
    } catch (error) {
      return this.#break(`environment "${name}", action "${action}": ${messageOf(error)}`);
    }
  }

  /** An action that ended in the middle leaves a state that nobody knows: neither a further step nor a score may come of it. */
  #break(error: string): ToolOutcome {
    this.#broken ??= error;
    return { kind: 'infra', error };
  }

  /** @throws RangeError for a number that is not finite, by name */
  #add(name: string, reward: StepReward): void {
    const { parts } = sumReward(typeof reward === 'number' ? { [name]: reward } : reward);
    for (const [part, value] of Object.entries(parts)) this.#rewards.set(part, (this.#rewards.get(part) ?? 0) + value);
  }

  async #tearDown(): Promise<string | undefined> {
    const { name, tearDown, resetSeconds } = this.#rules;
    await this.#last;
    if (tearDown === undefined) return undefined;
    try {
      await withinSeconds(resetSeconds, new AbortController().signal, () => tearDown.call(this.#rules, this.#state)).result;
      return undefined;
    } catch (error) {
      return `environment "${name}" could not be torn down: ${messageOf(error)}`;
    }
  }
}

type ReadStep =
  | { readonly kind: 'stepped'; readonly observation: string; readonly reward: StepReward | undefined; readonly done: boolean }
  | { readonly kind: 'infra'; readonly error: string };

function readStep(result: StepResult): ReadStep {
  if (typeof result === 'string') return { kind: 'stepped', observation: result, reward: undefined, done: false };
  if ('kind' in result) return result;
  const { observation, reward, done = false } = result;
  return { kind: 'stepped', observation, reward, done };
}

function readScore(score: EndScore): { readonly success: boolean; readonly reward: StepReward } {
  const { success, reward } = typeof score === 'boolean' ? { success: score } : { reward: undefined, ...score };
  return { success, reward: reward ?? Number(success) };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
