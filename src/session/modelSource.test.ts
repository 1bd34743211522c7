import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packagedRecipe } from '../recipe/load.js';
import { RunWriter } from '../runs/writer.js';
import { temporaryFolder } from '../tables/testSupport.js';
import { modelSource, recipeFor } from './modelSource.js';

const folder = temporaryFolder();
let runs = 0;
function run(...checkpoints: readonly ['sft' | 'rl', number, string][]): string {
  const path = join(folder.path, `run-${runs++}`);
  const recipe = { ...packagedRecipe('demo'), model: 'org/own' };
  const writer = RunWriter.create(path, { recipe, model: { name: 'org/own' }, versions: {}, seed: 1 });
  for (const [stage, step, reason] of checkpoints) {
    const record = { path: `tinker://m/weights/${stage}-${step}`, stage, step, policyVersion: step, optimizer: false, reason };
    writer.sink({ kind: 'checkpoint', record });
  }
  writer.close();
  return path;
}

describe('whose rollouts are wanted', () => {
  it('is a checkpoint of a run, the last one or that of a stage', () => {
    const path = run(['sft', 16, 'end of sft'], ['rl', 20, 'best'], ['rl', 48, 'end of rl']);
    expect(modelSource(path)).toMatchObject({ kind: 'run', folder: path, checkpoint: 'tinker://m/weights/rl-48' });
    expect(modelSource(`${path}@rl`)).toMatchObject({ checkpoint: 'tinker://m/weights/rl-48' });
    expect(modelSource(`${path}@sft`)).toMatchObject({ checkpoint: 'tinker://m/weights/sft-16' });
    const base = modelSource(`${path}@base`);
    expect(base).toMatchObject({ kind: 'run', name: expect.stringMatching(/^run-\d+@base$/) });
    expect(base).not.toHaveProperty('checkpoint');
  });

  it('says which stages there are where the wanted one has no checkpoint, and where there is no run', () => {
    const path = run(['sft', 16, 'end of sft']);
    expect(() => modelSource(`${path}@rl`)).toThrow(/has no checkpoint of its stage rl/);
    expect(() => modelSource(`${path}@rl`)).toThrow(expect.objectContaining({ hint: 'It has: @sft.' }));
    expect(() => modelSource(`${folder.path}/nothing@sft`)).toThrow(/there is no run in/);
  });

  it('is an endpoint or a model by its name', () => {
    expect(modelSource('openai:http://127.0.0.1:1/v1#m')).toMatchObject({ kind: 'endpoint', name: 'openai:http://127.0.0.1:1/v1#m' });
    expect(modelSource('org/model')).toEqual({ kind: 'model', name: 'org/model', model: 'org/model' });
    expect(modelSource(folder.path)).toEqual({ kind: 'model', name: basename(folder.path), model: folder.path });
  });
});

describe('the recipe of a source', () => {
  it('is that of the run, with what is set over it, and never another model', async () => {
    const source = modelSource(run(['sft', 16, 'end of sft']));
    const recipe = await recipeFor(source, { set: ['limits.turns=2', 'model=nano'] });
    expect(recipe.limits.turns).toBe(2);
    expect(recipe.model).toBe('org/own');
    await expect(recipeFor(source, { set: ['limits.trns=2'] })).rejects.toThrow(/trns/);
  });

  it('is one by name or object for that model', async () => {
    expect(await recipeFor(modelSource('nano'), {})).toMatchObject({ name: 'nano', model: 'nano' });
    expect(await recipeFor(modelSource('org/x'), { recipe: 'demo' })).toMatchObject({ name: 'demo', model: 'org/x' });
    const object = await recipeFor(modelSource('org/x'), { recipe: packagedRecipe('nano'), set: ['seed=7'] });
    expect(object).toMatchObject({ name: 'nano', model: 'org/x', seed: 7 });
  });
});
