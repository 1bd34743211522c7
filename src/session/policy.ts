/**
 * Anything that answers, opened to sample many graded rollouts from: a model, a checkpoint of a run, a model of a Tinker server, or an
 * OpenAI-compatible endpoint; the same agent loop as in training, tools included. Keeps no rollouts: each goes to the caller as soon as it
 * is graded. Does not train and writes no run.
 */
import { setMaxListeners } from 'node:events';
import { join } from 'node:path';
import type { Problem } from '../domain/problem.js';
import type { Rollout, Trajectory } from '../domain/trajectory.js';
import type { Verdict } from '../domain/verdict.js';
import { deriveSeed } from '../random.js';
import type { Recipe, RecipeInput } from '../recipe/schema.js';
import type { Grader } from '../reward/grader.js';
import { openProblemGrader } from '../reward/problemGrader.js';
import type { RolloutAgent } from '../rollout/endpointAgent.js';
import { promptLimit, promptOf, type RolloutSettings } from '../rollout/episode.js';
import { type RolloutPlan, streamRollouts } from '../rollout/scheduler.js';
import type { CodeRunner } from '../sandbox/codeRunner.js';
import type { AnyTool } from '../tools/callTool.js';
import type { ToolDescription } from '../tools/jsonSchema.js';
import { UserError } from '../userError.js';
import { type EndpointSettings, openEndpointPolicy } from './endpointPolicy.js';
import { type ModelSource, modelSource, recipeFor, samplerOf } from './modelSource.js';
import { Session } from './session.js';
import type { Log } from './withRun.js';

export interface PolicyOptions<P extends Problem = Problem> {
  /**
   * A model as in a recipe (with `engine.url` in the recipe: of that Tinker server); a run's folder, `RUN` for its last checkpoint,
   * `RUN@base`, `RUN@sft` or `RUN@rl` for the end of a stage; or `openai:URL#MODEL`.
   */
  readonly model: string;
  /** Prompt, tools and limits. Default: the run's own; `demo` or `nano` for those models, else `grpo-tcr`. */
  readonly recipe?: string | RecipeInput;
  readonly set?: readonly string[];
  /** Tools of the user's own. */
  readonly tools?: readonly AnyTool[];
  /** Default: by the kind of the problem. */
  readonly grader?: Grader<P>;
  /** The engine's log lies here, and so would its checkpoints. */
  readonly folder: string;
  readonly endpoint?: EndpointSettings;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** `verdict` is `infra` where the rollout was lost, or where grading failed through no fault of the answer. */
export interface GradedRollout<P extends Problem = Problem> {
  readonly rollout: Rollout<P>;
  readonly verdict: Verdict;
}

export interface SampleOptions<P extends Problem = Problem> {
  /** Rollouts a problem. */
  readonly samples: number;
  readonly temperature: number;
  readonly topP: number;
  /** Each rollout's random numbers come from this, the problem's id and the number of the sample: not from what else is sampled. */
  readonly seed: number;
  /** Rollouts in flight at once. Default 256; at an endpoint its requests at once. */
  readonly concurrency?: number;
  /** True for a sample that is there already: it is left out. */
  readonly skip?: (problem: P, sample: number) => boolean;
  /** Told each rollout as soon as it is graded. Awaited. */
  readonly onRollout?: (graded: GradedRollout<P>, problem: P, sample: number) => void | Promise<void>;
  /** Told the rollouts of a problem as soon as all are graded; those left out by `skip` are not among them. Awaited. */
  readonly onGroup?: (graded: readonly GradedRollout<P>[], problem: P) => void | Promise<void>;
  readonly onProgress?: (done: number, all: number) => void;
  /** Default: the policy's own. */
  readonly signal?: AbortSignal;
}

export interface Policy<P extends Problem = Problem> {
  /** For reports: a model's name, a run's with its stage, an endpoint's address and model. No folders. */
  readonly name: string;
  /** What was sampled from: hash of the weights and path of the checkpoint, or the endpoint's address and model. */
  readonly fingerprint: string;
  readonly recipe: Recipe;
  /** What an answer depends on beside weights and sampling: prompt, tools, limits, sandbox. Plain data, fit for hashing. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** The tools that are offered. */
  readonly tools: readonly ToolDescription[];
  /** The system message; empty: none. */
  readonly system: string;
  /** Tokens of the prompt with the tools' schema; undefined at an endpoint, whose tokenizer is not ours. */
  promptTokens(problem: P): number | undefined;
  /** Tokens that a prompt may have; undefined at an endpoint. */
  readonly promptLimit: number | undefined;
  /** The sandbox, where a tool runs programs. */
  readonly runner?: CodeRunner;
  /** Rollouts in flight at once, where `sample` is not told otherwise. */
  readonly concurrency?: number;
  /**
   * @throws UserError when a prompt is longer than `promptLimit` (before anything is sampled) or a problem cannot be graded
   * @throws InfrastructureStop after many losses in a row; EngineError (user) where an endpoint refuses; the signal's reason
   */
  sample(problems: readonly P[], options: SampleOptions<P>): Promise<void>;
}

/** What differs between those who answer. */
interface Opened extends Pick<Policy, 'name' | 'fingerprint' | 'promptTokens' | 'promptLimit' | 'tools' | 'system'> {
  readonly how: (sampling: RolloutSettings['sampling']) => RolloutSettings | RolloutAgent;
  readonly runner: CodeRunner | undefined;
  readonly concurrency: number;
  close(): Promise<void>;
}

/** Opens a policy, works with it, closes it, however the work ends. @throws UserError for what the user can mend */
export async function withPolicy<T, P extends Problem = Problem>(
  options: PolicyOptions<P>,
  work: (policy: Policy<P>) => Promise<T>,
): Promise<T> {
  setMaxListeners(0, options.signal);
  const source = modelSource(options.model);
  const recipe = await recipeFor(source, options);
  const opened = source.kind === 'endpoint' ? await atEndpoint(options, recipe) : await inSession(options, source, recipe);
  const judged = openProblemGrader({ runner: opened.runner, sandbox: recipe.sandbox.kind });
  const grader: Grader<P> = options.grader ?? judged.grader;
  try {
    const { how, close: _, runner, ...parts } = opened;
    return await work({
      ...parts,
      ...(runner && { runner }),
      recipe,
      settings: settingsOf(opened, recipe),
      sample: (problems, sampling) => sample(opened, recipe, { ...options, grader }, problems, sampling),
    });
  } finally {
    await judged.close();
    await opened.close();
  }
}

async function inSession<P extends Problem>(options: PolicyOptions<P>, source: ModelSource, recipe: Recipe): Promise<Opened> {
  const { folder, tools, log, signal } = options;
  const session = await Session.open({
    recipe,
    folder,
    ...(source.kind === 'run' && { checkpoints: join(source.folder, 'checkpoints') }),
    ...(tools && { tools }),
    log,
    warn: (line) => log(line, 'warning'),
    signal,
  });
  try {
    const sampler = await samplerOf(session, source, signal);
    const shared = session.rolloutSettings();
    return {
      name: source.name,
      fingerprint: [session.model.hash, ...(source.kind === 'run' && source.checkpoint ? [source.checkpoint] : [])].join(' '),
      tools: session.toolbox.descriptions,
      system: shared.system,
      promptTokens: (problem) => promptOf(problem, shared).length,
      promptLimit: promptLimit(shared),
      how: (sampling) => ({ ...shared, sampler, sampling }),
      runner: session.runner,
      concurrency: 256,
      close: () => session.close(),
    };
  } catch (error) {
    await session.close();
    throw error;
  }
}

async function atEndpoint<P extends Problem>(options: PolicyOptions<P>, recipe: Recipe): Promise<Opened> {
  const { model, tools, endpoint, log, signal } = options;
  const { name, agent, system, toolbox, runner, concurrency, close } = await openEndpointPolicy({
    model,
    recipe,
    tools,
    endpoint,
    log,
    signal,
  });
  return {
    name,
    fingerprint: name,
    tools: toolbox.descriptions,
    system,
    promptTokens: () => undefined,
    promptLimit: undefined,
    how: () => agent,
    runner,
    concurrency,
    close,
  };
}

function settingsOf({ tools, system }: Opened, { prompt, limits, sandbox, engine }: Recipe): Record<string, unknown> {
  const { timeoutSeconds, memoryMb } = sandbox;
  return { system, toolsIn: prompt.tools, tools, limits, sandbox: { timeoutSeconds, memoryMb }, dtype: engine.dtype };
}

async function sample<P extends Problem>(
  opened: Opened,
  recipe: Recipe,
  policy: PolicyOptions<P> & { readonly grader: Grader<P> },
  problems: readonly P[],
  options: SampleOptions<P>,
): Promise<void> {
  const { temperature, topP, seed, concurrency = opened.concurrency, signal = policy.signal } = options;
  const plans = plansOf(problems, options);
  const { grader } = policy;
  const verdicts = new Map<string, Verdict>();
  let done = 0;
  setMaxListeners(0, signal);
  await streamRollouts(plans, opened.how({ temperature, topP }), {
    runSeed: seed,
    step: 'policy',
    concurrency,
    lockstep: recipe.engine.deterministic,
    signal,
    onRollout: async (rollout, plan) => {
      const verdict = await verdictOf(rollout, grader, signal);
      verdicts.set(plan.trajectoryId, verdict);
      await options.onRollout?.({ rollout, verdict }, plan.problem, plan.sample);
      options.onProgress?.(++done, plans.length);
    },
    onGroup: async (rollouts) => {
      const graded = rollouts.map((rollout) => {
        const { trajectoryId } = rollout.kind === 'finished' ? rollout.trajectory : rollout;
        const verdict = verdicts.get(trajectoryId)!;
        verdicts.delete(trajectoryId);
        return { rollout, verdict };
      });
      await options.onGroup?.(graded, problemOf(rollouts[0]!));
    },
  });
}

function plansOf<P extends Problem>(problems: readonly P[], options: SampleOptions<P>): RolloutPlan<P>[] {
  const { samples, temperature, topP, skip } = options;
  const seen = new Map<string, number>();
  return problems.flatMap((problem) => {
    const before = seen.get(problem.id) ?? 0;
    seen.set(problem.id, before + 1);
    const groupId = before === 0 ? problem.id : `${problem.id}#${before + 1}`;
    const occurrence = deriveSeed('problem', groupId);
    return Array.from({ length: samples }, (_, sample): RolloutPlan<P> => {
      return { problem, groupId, trajectoryId: `${groupId}/${sample}`, occurrence, sample, sampling: { temperature, topP } };
    }).filter((plan) => skip?.(problem, plan.sample) !== true);
  });
}

const problemOf = <P extends Problem>(rollout: Rollout<P>): P =>
  rollout.kind === 'finished' ? rollout.trajectory.problem : rollout.problem;

async function verdictOf<P extends Problem>(rollout: Rollout<P>, grader: Grader<P>, signal: AbortSignal): Promise<Verdict> {
  if (rollout.kind === 'infra') return { kind: 'infra', error: rollout.error };
  return gradeSafely(rollout.trajectory, grader, signal);
}

/** A grader that breaks tells nothing about the answer. @throws UserError, since it is a mistake in the problems; the signal's reason */
async function gradeSafely<P extends Problem>(trajectory: Trajectory<P>, grader: Grader<P>, signal: AbortSignal): Promise<Verdict> {
  try {
    return await grader(trajectory, { signal });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof UserError) throw error;
    return { kind: 'infra', error: error instanceof Error ? `${error.name}: ${error.message}` : String(error) };
  }
}
