/**
 * Evaluates a model or the outcome of a run on its own, outside of training: opens what is needed, measures, keeps every trajectory in a
 * run folder of its own.
 */
import { join } from 'node:path';
import type { Agent } from '../agents/agent.js';
import { agentOf, openAgent, recipeWithAgent } from '../agents/openAgent.js';
import type { BenchmarkChoice, LoadedBenchmark } from '../benchmarks/loadBenchmark.js';
import type { EventSink } from '../domain/event.js';
import type { Problem } from '../domain/problem.js';
import type { Environment } from '../environments/environment.js';
import { isGenerator, loadProblems } from '../problems/load.js';
import type { ProblemSource, Recipe, RecipeInput } from '../recipe/schema.js';
import type { Grader } from '../reward/grader.js';
import type { EndpointSettings } from '../session/endpointPolicy.js';
import { type ModelSource, modelSource, recipeFor, samplerOf } from '../session/modelSource.js';
import { type Log, runFolder, withRun } from '../session/withRun.js';
import { resolveModel } from '../setup/weights.js';
import type { AnyTool } from '../tools/callTool.js';
import { UserError } from '../userError.js';
import { atEndpoint } from './atEndpoint.js';
import { benchmarkRecipe, type Evaluation, extraOf, measure, openBenchmark } from './benchmarkRun.js';
import type { EvaluationResult, SamplingSetting } from './evaluate.js';
import { writeReport } from './report.js';

export interface EvaluateOptions<P extends Problem = Problem> {
  /**
   * A model as in a recipe; the folder of a run, whose last checkpoint is taken (`RUN@sft`: that of a stage); or an endpoint,
   * `openai:http://127.0.0.1:8000/v1#model`.
   */
  readonly model: string;
  /** Prompt, tools and limits: a recipe by name, file or object. Default: the run's own; `demo` or `nano` for those models, else `grpo-tcr`. */
  readonly recipe?: string | RecipeInput;
  readonly set?: readonly string[];
  /** A list, or a source as in a recipe: `calc`, `calc-small`, a file. Default: the recipe's evaluation problems. */
  readonly problems?: readonly P[] | ProblemSource;
  /** In place of problems and grader; with the paper's settings where these options are silent: 32 rollouts a problem at top-p 0.6. */
  readonly benchmark?: BenchmarkChoice;
  /** How many problems. Default: 128 of a generator, all of a file or a benchmark. */
  readonly count?: number;
  /** Rollouts a problem. Default 8. */
  readonly samples?: number;
  /** Default 1. */
  readonly temperature?: number;
  /** Default 1. */
  readonly topP?: number;
  /** Default: all tokens. */
  readonly topK?: number;
  /** Of an endpoint. */
  readonly endpoint?: EndpointSettings;
  readonly tools?: readonly AnyTool[];
  /** Takes each rollout through by itself, in place of the built-in loop. Not at an endpoint, which speaks no tokens. */
  readonly agent?: Agent<P>;
  /** What the rollouts happen in: its actions stand beside the tools, and a success is what it calls one. */
  readonly environment?: Environment<P>;
  readonly grader?: Grader<P>;
  /** Folder for the trajectories; default `runs/eval-<time>`. */
  readonly out?: string;
  readonly onEvent?: EventSink;
  readonly log?: Log;
  readonly onProgress?: (done: number, all: number) => void;
  readonly signal?: AbortSignal;
}

export interface Evaluated<P extends Problem = Problem> {
  readonly folder: string;
  readonly result: EvaluationResult<P>;
  readonly benchmark?: LoadedBenchmark;
}

/** @throws UserError for a model, run, recipe, endpoint, benchmark or problems file that cannot be used */
export async function evaluate<P extends Problem = Problem>(options: EvaluateOptions<P>): Promise<Evaluated<P>> {
  const signal = options.signal ?? new AbortController().signal;
  const log = options.log ?? (() => undefined);
  const source = modelSource(options.model);
  const benchmark = options.benchmark && (await openBenchmark(options.benchmark, options.count, log, signal));
  const own = await recipeFor(source, options);
  const agent = agentOf(options.agent, own);
  if (agent && source.kind === 'endpoint') {
    throw new UserError(
      'an agent is evaluated on a model that is sampled token by token, not at an OpenAI endpoint',
      'Name a model or a run.',
    );
  }
  const asked = benchmark ? benchmarkRecipe(own, benchmark, options.set ?? []) : own;
  const recipe = agent ? recipeWithAgent(asked, options) : asked;
  const { samples = benchmark ? 32 : 8, temperature = 1, topP = benchmark ? 0.6 : 1, topK } = options;
  const setting: SamplingSetting = { name: 'main', samples, temperature, topP, ...(topK !== undefined && { topK }) };
  const folder = runFolder(options.out, 'eval');
  if (source.kind !== 'endpoint') await resolveModel(recipe.model, { log });
  const problems = (benchmark?.problems ?? (await problemsOf(options, recipe))) as readonly P[];
  const evaluation: Evaluation<P> = { options, recipe, folder, problems, setting, benchmark, log, signal };
  const result = source.kind === 'endpoint' ? await atEndpoint(evaluation) : await withModel(evaluation, source, agent);
  writeReport(folder);
  return { folder, result, ...(benchmark && { benchmark }) };
}

async function withModel<P extends Problem>(
  evaluation: Evaluation<P>,
  source: ModelSource,
  agent: Agent<P> | undefined,
): Promise<EvaluationResult<P>> {
  const { options, recipe, folder, problems, log, signal } = evaluation;
  return withRun(
    {
      recipe,
      folder,
      ...(source.kind === 'run' && { checkpoints: join(source.folder, 'checkpoints') }),
      extra: { ...extraOf(evaluation), ...(source.kind === 'run' && { checkpoint: source.checkpoint ?? 'none' }) },
      ...(options.tools && { tools: options.tools }),
      ...(options.environment && { environment: options.environment }),
      log,
      onEvent: options.onEvent,
      signal,
      // An agent's prompts are known when it asks.
      prepare: (session) => (agent ? problems : session.fitting(problems, 'evaluation')),
    },
    async ({ session, sink, input }) => {
      const sampler = await samplerOf(session, source, signal);
      const rollout = session.rolloutSettings();
      const open = agent && (await openAgent(agent, { modelId: session.model.name, log }));
      try {
        const answerer = open ? { agent: open.on({ ...rollout, sampler, sampling: { temperature: 1, topP: 1 } }) } : { sampler, rollout };
        return await measure(evaluation, {
          answerer,
          problems: input,
          runner: session.runner,
          lockstep: recipe.engine.deterministic,
          sink,
        });
      } finally {
        await open?.close();
      }
    },
  );
}

async function problemsOf<P extends Problem>(options: EvaluateOptions<P>, recipe: Recipe): Promise<readonly Problem[]> {
  const wanted = options.problems ?? recipe.problems.evaluation;
  if (Array.isArray(wanted)) return wanted as readonly Problem[];
  const named = wanted as ProblemSource;
  // What is asked for here goes before the recipe's own number.
  const source = typeof named === 'string' || options.count === undefined ? named : { ...named, count: options.count };
  return loadProblems(source, { split: 'evaluation', seed: 0, ...countOf(source, options.count) });
}

/** How many problems: a generator would be endless, a file is taken whole. */
function countOf(source: ProblemSource, asked: number | undefined): { count?: number } {
  if (asked !== undefined) return { count: asked };
  const endless = typeof source === 'string' ? isGenerator(source) : !('file' in source);
  return endless ? { count: 128 } : {};
}
