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

describe('a SkyRL server with FSDP or Megatron', () => {
  const capabilities = readCapabilities({ supported_models: [{ model_name: 'm' }] }, 'skyrl').capabilities;
  const whole = { ...recipe({}), loraRank: 0, trainUnembed: true };

  it('trains all weights by rank 0, but leaves none of them frozen', () => {
    expect(() => checkRecipe(whole, capabilities)).not.toThrow();
    expect(() => checkRecipe({ ...whole, trainUnembed: false }, capabilities)).toThrow(/frozen_unembed/);
    expect(() => checkRecipe(recipe({}), capabilities)).not.toThrow();
  });

  it('has no room for the reference of a KL term, which is told before anything is computed', () => {
    const withKl = recipe({ algorithm: { klCoefficient: 0.001 } });
    expect(() => checkRecipe(withKl, capabilities)).toThrow(/second_model/);
    expect(() => checkRecipe(withKl, readCapabilities({}, 'skyrl-jax').capabilities)).not.toThrow();
  });
});

describe('asynchronous training', () => {
  const capabilities = readCapabilities({ supported_models: [{ model_name: 'm' }] }, 'skyrl-jax').capabilities;

  it('needs snapshots that stay as they were, and is refused by a server that samples from the weights of the moment', () => {
    expect(neededBy(recipe(stale))).toContain('snapshots');
    expect(() => checkRecipe(recipe(stale), capabilities)).toThrow(/snapshots/);
    expect(neededBy(recipe({}))).not.toContain('snapshots');
    expect(() => checkRecipe(recipe({}), capabilities)).not.toThrow();
  });
});
