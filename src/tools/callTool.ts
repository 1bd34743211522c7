/**
 * Runs the calls of one rollout: looks the tool up, validates the arguments, executes with a time limit, shortens the result. What the
 * model did wrong is told to the model; what our machinery did wrong is `infra`. Does not parse turns and does not decide when to stop.
 */
import type { z } from 'zod';
import type { Problem } from '../domain/problem.js';
import type { CallSegment, CutOffCallSegment, MalformedCallSegment } from '../domain/segment.js';
import type { Reply } from '../domain/turn.js';
import { coerce } from './coerce.js';
import { Gate } from './gate.js';
import { describeTool, type ToolDescription } from './jsonSchema.js';
import { checkLimits, type Tool, type ToolOutcome } from './tool.js';
import { errorOf, messageOf, outcomeOf } from './toolOutcome.js';

/** What a call came to. `final` ends the rollout. */
export type CallOutcome =
  | { readonly kind: 'replied'; readonly reply: Reply; readonly final: boolean }
  | { readonly kind: 'infra'; readonly error: string };

/** A tool of any schema and state, as lists of tools hold it. */
// biome-ignore lint/suspicious/noExplicitAny: the type of a tool's state stands in both directions
export type AnyTool = Tool<any, any>;

/** The tools of a run, described once. */
export class Toolbox {
  readonly descriptions: readonly ToolDescription[];
  readonly #byName: ReadonlyMap<string, BoxedTool>;

  /** @throws RangeError when two tools share a name, one takes no object, or one has a limit that cannot be. */
  constructor(readonly tools: readonly AnyTool[]) {
    this.descriptions = tools.map(describeTool);
    for (const tool of tools) checkLimits(tool.name, tool);
    this.#byName = new Map(
      tools.map((tool, i) => {
        const { concurrency } = tool;
        const gate = typeof concurrency === 'number' ? new Gate(concurrency) : concurrency;
        return [tool.name, { tool, description: this.descriptions[i]!, gate }];
      }),
    );
    if (this.#byName.size !== tools.length) {
      const { name } = tools.find((tool, i) => tools.findIndex((other) => other.name === tool.name) !== i)!;
      throw new RangeError(`two tools have the same name: ${name}`);
    }
  }

  get names(): readonly string[] {
    return this.tools.map((tool) => tool.name);
  }

  find(name: string): BoxedTool | undefined {
    return this.#byName.get(name);
  }
}

interface BoxedTool {
  readonly tool: AnyTool;
  readonly description: ToolDescription;
  /** Shared by all rollouts. */
  readonly gate: Gate | undefined;
}

export interface ToolSessionOptions {
  readonly problem: Problem;
  readonly trajectoryId: string;
  readonly groupId?: string;
  /** Ends running calls. */
  readonly signal: AbortSignal;
  /** Wall-clock seconds of one call, where the tool itself says nothing. */
  readonly timeoutSeconds: number;
  /**
   * Makes a text as long as the model may read, and harmless for the template.
   * @param tokens the tool's own limit of a result, where it has one
   */
  readonly shorten: (text: string, tokens?: number) => string;
}

/** The tools as one rollout sees them, each with its own state. */
export class ToolSession {
  readonly #states = new Map<string, Promise<unknown>>();
  #calls = 0;

  constructor(
    private readonly toolbox: Toolbox,
    private readonly options: ToolSessionOptions,
  ) {}

  /** Never throws for what the model or the tool does. @throws the signal's reason when it is aborted meanwhile. */
  async call(segment: CallSegment): Promise<CallOutcome> {
    const known = this.toolbox.find(segment.name);
    if (known === undefined) return this.#refuse('unknownTool', unknownTool(segment.name, this.toolbox.names));
    const { tool, description, gate } = known;
    const args = await validate(tool.parameters, segment.arguments, description);
    if (!args.ok) return this.#refuse('badArguments', badArguments(segment.name, args.problem));
    const state = await this.#state(tool);
    if (!state.ok) return { kind: 'infra', error: `tool "${tool.name}" could not be set up: ${state.error}` };
    const leave = await gate?.enter(this.options.signal);
    const started = performance.now();
    try {
      const outcome = await this.#execute(tool, args.value, state.value);
      if (outcome.kind === 'infra') return outcome;
      const reply: Reply = {
        kind: 'executed',
        call: segment,
        success: outcome.kind === 'ok',
        text: this.options.shorten(outcome.text, tool.resultTokens),
        seconds: (performance.now() - started) / 1000,
      };
      return { kind: 'replied', reply, final: tool.final === true };
    } finally {
      leave?.();
    }
  }

  /** What the model reads for a call that cannot be read. */
  refuse(segment: MalformedCallSegment | CutOffCallSegment): Reply {
    const [problem, text] =
      segment.kind === 'malformedCall'
        ? (['malformed', `Error: the call could not be read. ${segment.problem}`] as const)
        : (['cutOff', 'Error: the call was cut off at the token limit. Write it again, shorter.'] as const);
    return { kind: 'refused', problem, text: this.options.shorten(text) };
  }

  /** What the model reads for a call beyond the number allowed in a turn. */
  refuseFurther(allowed: number): Reply {
    const text = `Error: only ${allowed} ${allowed === 1 ? 'call is' : 'calls are'} allowed in a turn; this one was not run.`;
    return { kind: 'refused', problem: 'tooManyCalls', text: this.options.shorten(text) };
  }

  /** Tears down what was set up. Returns what went wrong, for a person to read; never throws. */
  async close(): Promise<string[]> {
    const problems: string[] = [];
    for (const [name, state] of this.#states) {
      try {
        await this.toolbox.find(name)?.tool.tearDown?.(await state.catch(() => undefined));
      } catch (error) {
        problems.push(`tool "${name}" could not be torn down: ${messageOf(error)}`);
      }
    }
    this.#states.clear();
    return problems;
  }

  #refuse(problem: 'unknownTool' | 'badArguments', text: string): CallOutcome {
    return { kind: 'replied', reply: { kind: 'refused', problem, text: this.options.shorten(text) }, final: false };
  }

  async #state(tool: AnyTool): Promise<{ ok: true; value: unknown } | { ok: false; error: string }> {
    if (tool.setUp === undefined) return { ok: true, value: undefined };
    const { problem, trajectoryId, groupId, signal } = this.options;
    let state = this.#states.get(tool.name);
    if (state === undefined) {
      const setUp = tool.setUp.bind(tool);
      state = (async () => setUp({ problem, trajectoryId, signal, ...(groupId !== undefined && { groupId }) }))();
      this.#states.set(tool.name, state);
    }
    try {
      return { ok: true, value: await untilAborted(state, signal) };
    } catch (error) {
      signal.throwIfAborted();
      this.#states.delete(tool.name);
      return { ok: false, error: messageOf(error) };
    }
  }

  async #execute(tool: AnyTool, args: unknown, state: unknown): Promise<ToolOutcome> {
    const { problem, trajectoryId, groupId, signal } = this.options;
    const timeoutSeconds = tool.timeoutSeconds ?? this.options.timeoutSeconds;
    const callId = `${trajectoryId}:${this.#calls++}`;
    const call = new AbortController();
    const stop = (): void => call.abort(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    const timer = setTimeout(() => call.abort(new TimeLimit()), timeoutSeconds * 1000);
    try {
      const context = { problem, trajectoryId, state, signal: call.signal, callId, ...(groupId !== undefined && { groupId }) };
      const run = (async () => tool.execute(args, context))();
      return outcomeOf(await untilAborted(run, call.signal));
    } catch (error) {
      signal.throwIfAborted();
      if (call.signal.aborted) return { kind: 'error', text: `Error: the call was stopped after ${timeoutSeconds} s.` };
      return errorOf(error);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    }
  }
}

class TimeLimit extends Error {
  override readonly name = 'TimeLimit';
}

/** The promise, or a rejection with the signal's reason, whichever is first. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

type Validated = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string };

/** As they are, else mended. A check of the tool's own that throws refuses them. */
async function validate(schema: z.ZodType, args: unknown, description: ToolDescription): Promise<Validated> {
  try {
    const first = await schema.safeParseAsync(args);
    if (first.success) return { ok: true, value: first.data };
    const second = await schema.safeParseAsync(coerce(args, description.parameters));
    if (second.success) return { ok: true, value: second.data };
    const issues = second.error.issues.slice(0, 3).map((issue) => {
      const field = issue.path.length === 0 ? '' : `"${issue.path.map(String).join('.')}": `;
      return field + issue.message;
    });
    return { ok: false, problem: issues.join('; ') };
  } catch (error) {
    return { ok: false, problem: messageOf(error) };
  }
}

const unknownTool = (name: string, known: readonly string[]): string =>
  `Error: there is no tool ${JSON.stringify(name)}. ${known.length === 0 ? 'There are no tools.' : `Known: ${known.join(', ')}.`}`;

const badArguments = (name: string, problem: string): string => `Error: wrong arguments for ${name}: ${problem}.`;
