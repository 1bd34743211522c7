import { describe, expect, it } from 'vitest';
import { readCapabilities } from '../engine/readCapabilities.js';
import { resolveRecipe } from '../recipe/load.js';
import type { RecipeInput } from '../recipe/schema.js';
import { checkRecipe, neededBy } from './requirements.js';

const stale = { async: { staleness: 1 }, algorithm: { oldLogProbs: 'trainer', truncatedImportanceSampling: 2 } };

const recipe = (rl: object) =>
  resolveRecipe({
    name: 'tiny',
    extends: 'nano',
    loraRank: 4,
    trainUnembed: false,
    engine: { allowMissing: ['loss:ppo.dual_clip'] },
    rl: { steps: 1, gradClip: 0, ...rl },
  } as RecipeInput);

describe('asynchronous training', () => {
  const capabilities = readCapabilities({ supported_models: [{ model_name: 'm' }] }, 'skyrl-jax').capabilities;

  it('needs snapshots that stay as they were, and is refused by a server that samples from the weights of the moment', () => {
    expect(neededBy(recipe(stale))).toContain('snapshots');
    expect(() => checkRecipe(recipe(stale), capabilities)).toThrow(/snapshots/);
    expect(neededBy(recipe({}))).not.toContain('snapshots');
    expect(() => checkRecipe(recipe({}), capabilities)).not.toThrow();
  });
});
