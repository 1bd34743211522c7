/** How the evaluations of a run sample, by its recipe. Pure. */
import type { Recipe } from '../recipe/schema.js';
import type { SamplingSetting } from './evaluate.js';

/**
 * The main sampling of the recipe, and the extra ones of its tables with one rollout a problem each.
 * @param extra whether those are wanted
 */
export function samplingSettings(recipe: Pick<Recipe, 'evaluation'>, extra: boolean): SamplingSetting[] {
  const { samples, temperature, topP, topK } = recipe.evaluation;
  const main: SamplingSetting = { name: 'main', samples, temperature, topP, ...(topK !== undefined && { topK }) };
  if (!extra) return [main];
  const known: Record<(typeof recipe.evaluation.extra)[number], SamplingSetting> = {
    topP06: { name: 'topP06', samples: 1, temperature: 1, topP: 0.6 },
    greedy: { name: 'greedy', samples: 1, temperature: 0, topP: 1 },
  };
  return [main, ...recipe.evaluation.extra.map((name) => known[name])];
}
