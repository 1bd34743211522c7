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
 *   stage, `RUN@base` the model it began with, `RUN@NAME` the checkpoint of that name
 * @throws UserError where `@` names a stage of no run, or one without a checkpoint
 */
export function modelSource(model: string): ModelSource {
  if (isEndpoint(model)) return { kind: 'endpoint', name: model, model };
  const [folder, which] = splitRun(model);
  if (existsSync(join(folder, 'run.sqlite'))) return runSource(folder, which);
  if (which !== undefined && isStage(which))
    throw new UserError(`there is no run in ${folder}`, `@${which} goes with the folder of a run.`);
  return { kind: 'model', name: existsSync(model) ? basename(resolve(model)) : model, model };
}

/** The folder, and what stands behind its last `@`: a stage or a checkpoint's name. A folder that itself has such a name is left whole. */
export function splitRun(model: string): [folder: string, which: string | undefined] {
  const [, folder, which] = /^(.+)@([\w-]+)$/.exec(model) ?? [];
  return folder === undefined || existsSync(join(model, 'run.sqlite')) ? [model, undefined] : [folder, which];
}

const isStage = (which: string): which is Stage => ['base', 'sft', 'rl'].includes(which);

function runSource(folder: string, which: string | undefined): RunSource {
  const run = openRun(folder);
  try {
    const checkpoint = findCheckpoint(run, which);
    return {
      kind: 'run',
      name: `${basename(resolve(folder))}@${which ?? checkpoint?.stage ?? 'base'}`,
      folder: resolve(folder),
      recipe: run.info.recipe,
      ...(checkpoint && { checkpoint: checkpoint.path }),
    };
  } finally {
    run.close();
  }
}

/**
 * @param which a stage (its last checkpoint; `base`: none), or a checkpoint's name, as its path ends; absent: the last of all
 * @returns undefined for the model that the run began with
 * @throws UserError for what is not there, with what is
 */
export function findCheckpoint(run: Run, which: string | undefined): CheckpointRecord | undefined {
  const all = run.checkpoints();
  if (which === 'base') return undefined;
  if (which === undefined) return all.at(-1);
  if (!isStage(which)) {
    const named = all.find(({ path }) => nameOf(path) === which);
    if (named) return named;
    throw new UserError(
      `the run in ${run.folder} has no checkpoint ${which}`,
      all.length === 0 ? '@base takes the model it began with.' : `It has: ${all.map(({ path }) => `@${nameOf(path)}`).join(', ')}.`,
    );
  }
  const own = all.filter((checkpoint) => checkpoint.stage === which).sort((a, b) => a.step - b.step);
  const last = own.at(-1);
  if (last !== undefined) return last;
  const there = [...new Set(all.map((checkpoint) => checkpoint.stage))];
  throw new UserError(
    `the run in ${run.folder} has no checkpoint of its stage ${which}`,
    there.length === 0 ? '@base takes the model it began with.' : `It has: ${there.map((name) => `@${name}`).join(', ')}.`,
  );
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

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
