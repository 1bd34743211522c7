/**
 * Whose rollouts are wanted: a model as it comes, a checkpoint of a run, or an endpoint; the recipe that says how it is asked; and the
 * sampler of those weights. Opens nothing but the run's record.
 */
import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { CheckpointRecord, Stage } from '../domain/event.js';
import { isEndpoint } from '../engine/openaiEndpoint.js';
import type { Sampler } from '../engine/sampler.js';
import { loadRecipe, packagedRecipes, resolveRecipe } from '../recipe/load.js';
import { type Recipe, type RecipeInput, recipeSchema } from '../recipe/schema.js';
import { openRun, type Run } from '../runs/reader.js';
import { UserError } from '../userError.js';
import type { Session } from './session.js';

export type ModelSource = NamedSource | RunSource;

export interface NamedSource {
  readonly kind: 'model' | 'endpoint';
  /** For reports: of a folder its own name. */
  readonly name: string;
  /** As it was asked for. */
  readonly model: string;
}

export interface RunSource {
  readonly kind: 'run';
  /** For reports: the folder's own name and the stage. */
  readonly name: string;
  readonly folder: string;
  readonly recipe: Recipe;
  /** Absent: the weights that the run began with. */
  readonly checkpoint?: string;
}

/**
 * @param model a model, `openai:URL#MODEL`, or the folder of a run: `RUN` is its last checkpoint, `RUN@sft` and `RUN@rl` the end of that
 *   stage, `RUN@base` the model it began with
 * @throws UserError where `@` names a stage of no run, or one without a checkpoint
 */
export function modelSource(model: string): ModelSource {
  if (isEndpoint(model)) return { kind: 'endpoint', name: model, model };
  const [, folder = model, stage] = /^(.+)@(base|sft|rl)$/.exec(model) ?? [];
  if (existsSync(join(folder, 'run.sqlite'))) return runSource(folder, stage as Stage | undefined);
  if (stage !== undefined) throw new UserError(`there is no run in ${folder}`, `@${stage} goes with the folder of a run.`);
  return { kind: 'model', name: existsSync(model) ? basename(resolve(model)) : model, model };
}

function runSource(folder: string, stage: Stage | undefined): RunSource {
  const run = openRun(folder);
  try {
    const checkpoint = stage === 'base' ? undefined : checkpointOf(run, stage);
    return {
      kind: 'run',
      name: `${basename(resolve(folder))}@${stage ?? checkpoint?.stage ?? 'base'}`,
      folder: resolve(folder),
      recipe: run.info.recipe,
      ...(checkpoint && { checkpoint: checkpoint.path }),
    };
  } finally {
    run.close();
  }
}

function checkpointOf(run: Run, stage: Stage | undefined): CheckpointRecord | undefined {
  const all = run.checkpoints();
  if (stage === undefined) return all.at(-1);
  const own = all.filter((checkpoint) => checkpoint.stage === stage).sort((a, b) => a.step - b.step);
  const last = own.at(-1);
  if (last !== undefined) return last;
  const there = [...new Set(all.map((checkpoint) => checkpoint.stage))];
  throw new UserError(
    `the run in ${run.folder} has no checkpoint of its stage ${stage}`,
    there.length === 0 ? '@base takes the model it began with.' : `It has: ${there.map((name) => `@${name}`).join(', ')}.`,
  );
}

/**
 * Prompt, tools and limits: the recipe that was asked for, else the run's own, else that of the model. The model is always the source's.
 * @throws UserError for a recipe that does not exist or a `set` that is wrong
 */
export async function recipeFor(
  source: ModelSource,
  asked: { readonly recipe?: string | RecipeInput; readonly set?: readonly string[] },
): Promise<Recipe> {
  const { set = [] } = asked;
  const own = source.kind === 'run' ? source.recipe : undefined;
  const model = source.kind === 'run' ? source.recipe.model : source.model;
  if (typeof asked.recipe === 'object') return resolveRecipe({ ...asked.recipe, model }, { set });
  if (own && asked.recipe === undefined) return { ...resolveRecipe(own, { set }), model };
  const named = asked.recipe ?? (model === 'smollm2-135m' ? 'demo' : packagedRecipes().includes(model) ? model : 'grpo-tcr');
  const { recipe } = await loadRecipe(named, { set });
  return recipeSchema.parse({ ...recipe, model });
}

/** Samples from the source's weights, in a session that was opened on its recipe and its folder's checkpoints. */
export async function samplerOf(session: Session, source: ModelSource, signal: AbortSignal): Promise<Sampler> {
  if (source.kind !== 'run' || source.checkpoint === undefined) return session.engine.baseSampler(session.recipe.model);
  const { model, trainUnembed, loraRank, seed } = session.recipe;
  const policy = await session.engine.createTrainer({ model, trainUnembed, loraRank, seed });
  await policy.load(source.checkpoint, { optimizer: false, policyVersion: 0 });
  return policy.publish(signal);
}
