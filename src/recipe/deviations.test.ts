import { describe, expect, it } from 'vitest';
import { comparedPaths, deviations } from './deviations.js';
import { loadRecipe } from './load.js';
import { flatten } from './merge.js';

describe('deviations from the paper', () => {
  it("are none for the paper's own recipes", async () => {
    for (const name of ['ra-sft', 'grpo-t', 'grpo-tcr', 'grpo-scr', 'demyagent-4b'])
      expect(deviations((await loadRecipe(name)).recipe)).toEqual([]);
  });

  it('are listed by path with both values, a stage without a counterpart against ra-sft', async () => {
    const found = deviations((await loadRecipe('demo')).recipe);
    expect(found).toContainEqual({ path: 'rl.learningRate', paper: '1e-6', here: '3e-5' });
    expect(found).toContainEqual({ path: 'sft.epochs', paper: '5', here: '2' });
    expect(found).toContainEqual({ path: 'limits.turnTokens', paper: 'absent', here: '80' });
    expect(found).toContainEqual({ path: 'trainUnembed', paper: 'true', here: 'false' });
    expect(found.find(({ path }) => path === 'rl.algorithm.oldLogProbs')?.note).toContain('saves a forward pass');
  });

  it('name what repeats a fault of the released code', async () => {
    const set = ['sft.mask=reference', 'rl.reward.grader=reference'];
    const found = deviations((await loadRecipe('demo', { set })).recipe);
    expect(found.find(({ path }) => path === 'sft.mask')).toMatchObject({ paper: 'absent', here: 'reference' });
    expect(found.find(({ path }) => path === 'rl.reward.grader')).toMatchObject({ paper: 'absent', here: 'reference' });
  });

  it('leave out stages that are not run', async () => {
    const { recipe } = await loadRecipe('demo', { set: ['stages=[rl]'] });
    expect(deviations(recipe).filter(({ path }) => path.startsWith('sft.'))).toEqual([]);
  });

  it('follow what extends a recipe of the paper, to the last changed value', async () => {
    const { recipe } = await loadRecipe('grpo-tcr', { set: ['rl.algorithm.clipHigh=0.315'] });
    expect(deviations(recipe)).toEqual([{ path: 'rl.algorithm.clipHigh', paper: '0.28', here: '0.315' }]);
    const [refresh] = deviations((await loadRecipe('grpo-tcr', { set: ['rl.refresh.everySteps=50'] })).recipe);
    expect(refresh).toMatchObject({ path: 'rl.refresh', paper: 'absent', here: '{ everySteps: 50, samples: 8, target: uniform }' });
  });

  it('overlook nothing of the stages and limits but what the paper has no counterpart for', async () => {
    const { recipe } = await loadRecipe('demo', {
      set: ['rl.algorithm.truncatedImportanceSampling=2', 'rl.algorithm.oldLogProbs=trainer'],
    });
    const compared = comparedPaths();
    const overlooked = [...flatten({ sft: recipe.sft, rl: recipe.rl, limits: recipe.limits }).keys()].filter(
      (leaf) => !compared.some((path) => leaf === path || leaf.startsWith(`${path}.`)),
    );
    expect(overlooked).toEqual(['rl.concurrency', 'limits.malformedInARow', 'limits.deadlineSeconds']);
  });
});
