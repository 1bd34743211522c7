/**
 * Evaluates a model or the outcome of a run on its own, outside of training: opens what is needed, measures, keeps every trajectory in a
 * run folder of its own.
 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { EventSink } from '../domain/event.js';
import type { Problem } from '../domain/problem.js';
import type { Sampler } from '../engine/sampler.js';
import { isGenerator, loadProblems } from '../problems/load.js';
import { deriveSeed } from '../random.js';
import { loadRecipe, packagedRecipes, resolveRecipe } from '../recipe/load.js';
import { type ProblemSource, type Recipe, type RecipeInput, recipeSchema } from '../recipe/schema.js';
import type { Grader } from '../reward/grader.js';
import { mathGrader } from '../reward/mathGrader.js';
import { openRun } from '../runs/reader.js';
import type { Session } from '../session/session.js';
import { type Log, runFolder, withRun } from '../session/withRun.js';
import { resolveModel } from '../setup/weights.js';
import type { AnyTool } from '../tools/callTool.js';
import { UserError } from '../userError.js';
import { type EvaluationResult, evaluatePolicy, type SamplingSetting } from './evaluate.js';
import { writeReport } from './report.js';

export interface EvaluateOptions<P extends Problem = Problem> {
  /** A model as in a recipe, or the folder of a run, whose last checkpoint is taken. */
  readonly model: string;
  /** Prompt, tools and limits: a recipe by name, file or object. Default: the run's own; `demo` or `nano` for those models, else `grpo-tcr`. */
  readonly recipe?: string | RecipeInput;
  readonly set?: readonly string[];
  /** A list, or a source as in a recipe: `calc`, `calc-small`, a JSON Lines file. Default: the recipe's evaluation problems. */
  readonly problems?: readonly P[] | ProblemSource;
  /** How many problems. Default: 128 of a generator, all of a file. */
  readonly count?: number;
  /** Rollouts a problem. Default 8. */
  readonly samples?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly tools?: readonly AnyTool[];
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
}

/** @throws UserError for a model, run, recipe or problems file that cannot be used */
export async function evaluate<P extends Problem = Problem>(options: EvaluateOptions<P>): Promise<Evaluated<P>> {
  const signal = options.signal ?? new AbortController().signal;
  const log = options.log ?? (() => undefined);
  const source = existsSync(join(options.model, 'run.sqlite')) ? runOf(options.model) : undefined;
  const recipe = await recipeOf(options, source?.recipe);
  const { samples = 8, temperature = 1, topP = 1, tools, onEvent } = options;
  const setting: SamplingSetting = { name: 'main', samples, temperature, topP };
  const folder = runFolder(options.out, 'eval');
  await resolveModel(recipe.model, { log });
  const wanted = options.problems ?? recipe.problems.evaluation;
  const problems = Array.isArray(wanted)
    ? (wanted as readonly P[])
    : ((await loadProblems(wanted as ProblemSource, {
        split: 'evaluation',
        seed: 0,
        ...countOf(wanted as ProblemSource, options.count),
      })) as P[]);

  return withRun(
    {
      recipe,
      folder,
      ...(source && { sessionFolder: source.folder, extra: { checkpoint: source.checkpoint ?? 'none' } }),
      ...(tools && { tools }),
      log,
      onEvent,
      signal,
      prepare: (session) => session.fitting(problems, 'evaluation'),
    },
    async ({ session, sink, input }) => {
      const [result] = await evaluatePolicy({
        sampler: await samplerOf(session, source?.checkpoint, signal),
        problems: input,
        settings: [setting],
        rollout: session.rolloutSettings(),
        grader: options.grader ?? mathGrader,
        stage: 'base',
        step: 0,
        seed: deriveSeed(recipe.seed, 'evaluation'),
        concurrency: 256,
        lockstep: recipe.engine.deterministic,
        sink,
        signal,
        ...(options.onProgress && { onProgress: options.onProgress }),
      });
      writeReport(folder);
      return { folder, result: result! };
    },
  );
}

/** How many problems: a generator would be endless, a file is taken whole. */
function countOf(source: ProblemSource, asked: number | undefined): { count?: number } {
  if (asked !== undefined) return { count: asked };
  const endless = typeof source === 'string' ? isGenerator(source) : source.kind !== 'jsonl';
  return endless ? { count: 128 } : {};
}

async function samplerOf(session: Session, checkpoint: string | undefined, signal: AbortSignal): Promise<Sampler> {
  if (checkpoint === undefined) return session.engine.baseSampler(session.recipe.model);
  const { model, trainUnembed, loraRank, seed } = session.recipe;
  const policy = await session.engine.createTrainer({ model, trainUnembed, loraRank, seed });
  await policy.load(checkpoint, { optimizer: false, policyVersion: 0 });
  return policy.publish(signal);
}

function runOf(folder: string): { folder: string; recipe: Recipe; checkpoint?: string } {
  const run = openRun(folder);
  try {
    const checkpoint = run.checkpoints().at(-1)?.path;
    return { folder: resolve(folder), recipe: run.info.recipe, ...(checkpoint !== undefined && { checkpoint }) };
  } finally {
    run.close();
  }
}

async function recipeOf<P extends Problem>(options: EvaluateOptions<P>, own: Recipe | undefined): Promise<Recipe> {
  const { set = [], model } = options;
  if (typeof options.recipe === 'object') return resolveRecipe({ ...options.recipe, model });
  if (own && options.recipe === undefined) {
    if (set.length > 0) throw new UserError('--set goes with --recipe: a run brings its own recipe', 'Name a recipe with --recipe.');
    return own;
  }
  const named = options.recipe ?? (model === 'smollm2-135m' ? 'demo' : packagedRecipes().includes(model) ? model : 'grpo-tcr');
  const { recipe } = await loadRecipe(named, { set });
  return recipeSchema.parse({ ...recipe, model: own?.model ?? model });
}
