/**
 * Remembers what a tool answered: the rollouts of a group repeat each other's calls, and an effect should happen once. Equal calls at the same
 * time are one. The oldest answers are forgotten where they get too many. A failure of the machinery is never remembered.
 */
import type { z } from 'zod';
import { Answers } from './answers.js';
import { canonicalJson } from './canonicalJson.js';
import { SharedCall } from './sharedCall.js';
import type { Tool, ToolContext, ToolOutcome } from './tool.js';
import { errorOf, messageOf, outcomeOf } from './toolOutcome.js';

/** Who shares answers: all rollouts, those of one group, or the calls of one rollout. */
export type CacheScope = 'run' | 'group' | 'rollout';

export interface CacheOptions<Args = unknown> {
  readonly scope: CacheScope;
  /** What makes two calls the same; default: equal arguments. Undefined: this call is executed and not remembered. */
  readonly key?: (args: Args, context: Pick<ToolContext, 'problem' | 'groupId' | 'trajectoryId'>) => string | undefined;
  /** Whether errors are remembered too. Default: no, the next call tries again. */
  readonly errors?: boolean;
  /** Answers that are kept. Default 10,000. */
  readonly maxEntries?: number;
}

const MOST_ENTRIES = 10_000;
/** Characters of all answers together. */
const MOST_CHARACTERS = 64 * 2 ** 20;

/**
 * The same tool, whose calls are executed once for equal arguments. Answers live as long as the tool that is returned: a tool of `train` as
 * long as the run. Its `setUp` runs only in rollouts that execute a call.
 * @throws RangeError where `maxEntries` is no count
 */
export function cached<Schema extends z.ZodType, State>(
  tool: Tool<Schema, State>,
  options: CacheOptions<z.output<Schema>>,
): Tool<Schema, CachedRollout<Schema, State>> {
  const { maxEntries = MOST_ENTRIES, scope } = options;
  if (!Number.isSafeInteger(maxEntries) || maxEntries < 1) {
    throw new RangeError(`tool "${tool.name}": maxEntries is ${maxEntries}, not a whole number above 0`);
  }
  const memory = (): Memory => ({ answers: new Answers(maxEntries, MOST_CHARACTERS), running: new Map() });
  const shared = memory();
  const { setUp: _, tearDown: __, ...rest } = tool;
  return {
    ...rest,
    setUp: (context) => new CachedRollout(tool, scope === 'rollout' ? memory() : shared, context),
    execute: async (args, context) => {
      const { state, signal } = context;
      signal.throwIfAborted();
      const key = keyOf(args, context, options);
      if (key === undefined) return state.execute(args, context);
      const { answers, running } = state.memory;
      const known = answers.get(key);
      if (known !== undefined) return known;
      const call = running.get(key) ?? state.share(key, args, context, options.errors === true);
      return call.join(signal);
    },
    tearDown: (state) => state.tearDown(),
    notes: [...(tool.notes ?? []), `tool ${tool.name}: equal calls ${WITHIN[scope]} are executed once (cache)`],
  };
}

const WITHIN = { run: 'of the run', group: 'of a group', rollout: 'of a rollout' };

interface Memory {
  readonly answers: Answers<ToolOutcome>;
  readonly running: Map<string, SharedCall<ToolOutcome>>;
}

/** The tool in one rollout: set up when a call is executed here, torn down when nobody waits for what is executed here. */
export class CachedRollout<Schema extends z.ZodType, State> {
  readonly #tool: Tool<Schema, State>;
  readonly #context: Omit<ToolContext, 'state'>;
  readonly #here = new Set<Promise<unknown>>();
  #state: Promise<State> | undefined;

  constructor(
    tool: Tool<Schema, State>,
    readonly memory: Memory,
    context: Omit<ToolContext, 'state'>,
  ) {
    this.#tool = tool;
    this.#context = context;
  }

  /** Begins a call that others may join. */
  share(key: string, args: z.output<Schema>, context: Omit<ToolContext, 'state'>, errors: boolean): SharedCall<ToolOutcome> {
    const { answers, running } = this.memory;
    let abandon: () => void = () => undefined;
    const abandoned = new Promise<void>((resolve) => {
      abandon = resolve;
    });
    const forget = (): void => {
      if (running.get(key) === call) running.delete(key);
    };
    const call: SharedCall<ToolOutcome> = new SharedCall(
      (signal) => this.execute(args, { ...context, signal }),
      () => {
        forget();
        abandon();
      },
    );
    running.set(key, call);
    const done = call.outcome.then((outcome) => {
      forget();
      const kept = outcome.kind === 'ok' || (outcome.kind === 'error' && errors);
      if (kept && !call.abandoned) answers.set(key, outcome, outcome.text.length);
    });
    const over = Promise.race([done, abandoned]);
    this.#here.add(over);
    void over.then(() => this.#here.delete(over));
    return call;
  }

  /** Never throws. */
  async execute(args: z.output<Schema>, context: Omit<ToolContext, 'state'>): Promise<ToolOutcome> {
    const { name, setUp } = this.#tool;
    let state: State;
    try {
      this.#state ??= (async () => setUp?.call(this.#tool, this.#context) as State)();
      state = await this.#state;
    } catch (error) {
      this.#state = undefined;
      return { kind: 'infra', error: `tool "${name}" could not be set up: ${messageOf(error)}` };
    }
    try {
      return outcomeOf(await this.#tool.execute(args, { ...context, state }));
    } catch (error) {
      return errorOf(error);
    }
  }

  async tearDown(): Promise<void> {
    await Promise.all(this.#here);
    if (this.#state !== undefined) await this.#tool.tearDown?.(await this.#state);
  }
}

function keyOf<Args>(args: Args, context: ToolContext, { scope, key }: CacheOptions<Args>): string | undefined {
  const { groupId, trajectoryId } = context;
  const own = key ? key(args, context) : plainKey(args);
  if (own === undefined) return undefined;
  const within = { run: '', group: groupId ?? trajectoryId, rollout: '' }[scope];
  return `${within}\n${own}`;
}

/** Undefined for arguments that have no JSON: equal ones cannot be told. */
function plainKey(args: unknown): string | undefined {
  try {
    return canonicalJson(args);
  } catch {
    return undefined;
  }
}
