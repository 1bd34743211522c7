/** What a recipe needs from an engine, by name; refused before anything is computed. */
import type { EngineCapabilities } from '../engine/capabilities.js';
import { type CapabilityName, requireCapabilities } from '../engine/requireCapabilities.js';
import type { Recipe } from '../recipe/schema.js';

/**
 * @returns lines to print: what the run goes without
 * @throws UserError with everything that is missing
 */
export function checkRecipe(recipe: Recipe, capabilities: EngineCapabilities): string[] {
  const missing = requireCapabilities(neededBy(recipe), capabilities, recipe.engine.allowMissing);
  return missing.map((name) => `the engine has no ${name}; allowed by engine.allowMissing`);
}

export function neededBy(recipe: Recipe): CapabilityName[] {
  const { sft, rl, stages, trainUnembed, engine } = recipe;
  const runs = (stage: 'sft' | 'rl'): boolean => stages.includes(stage);
  const clips = (runs('sft') && (sft?.gradClip ?? 0) > 0) || (runs('rl') && (rl?.gradClip ?? 0) > 0);
  const algorithm = runs('rl') ? rl?.algorithm : undefined;
  const custom = algorithm && (algorithm.ratio === 'sequence' || algorithm.klCoefficient > 0 || algorithm.entropyCoefficient > 0);
  return [
    'sum_reduction',
    recipe.loraRank > 0 ? 'lora' : 'full_fine_tune',
    ...(trainUnembed ? [] : [recipe.loraRank > 0 ? ('train_unembed' as const) : ('frozen_unembed' as const)]),
    ...(clips ? (['grad_clip_norm'] as const) : []),
    ...(runs('rl') && rl?.async !== undefined ? (['snapshots'] as const) : []),
    ...(algorithm && algorithm.klCoefficient > 0 ? (['second_model'] as const) : []),
    ...(engine.deterministic ? (['lockstep'] as const) : []),
    ...(runs('sft') ? (['loss:cross_entropy'] as const) : []),
    ...(algorithm ? ([custom ? 'loss:importance_sampling' : 'loss:ppo'] as const) : []),
    ...(algorithm?.dualClip !== undefined && !custom ? (['loss:ppo.dual_clip'] as const) : []),
  ];
}
