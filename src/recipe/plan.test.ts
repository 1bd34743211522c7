import { describe, expect, it } from 'vitest';
import { loadRecipe } from './load.js';
import { duration, estimateTime, type MeasuredSpeed, planLines } from './plan.js';

const recipeOf = async (name: string, ...set: string[]) => (await loadRecipe(name, { set })).recipe;
const facts = { parameters: 100e6, vocabulary: 50_000 };
const machine = { cores: 2, gpu: false, freeDisk: 100e9, folder: '/runs' };
const measured: MeasuredSpeed = {
  run: 'runs/earlier',
  generation: 200,
  training: 100,
  sftTraining: 150,
  tokensPerRollout: 50,
  tokensPerDemonstration: 60,
};

describe('the time a run takes', () => {
  it('is what an earlier run measured, for the rollouts of this one', async () => {
    const recipe = await recipeOf('demo', 'rl.steps=10', 'rl.groupsPerStep=8', 'rl.groupSize=8', 'rl.epochs=2', 'sft.epochs=2');
    const need = estimateTime(recipe, 2, facts, measured)!;
    expect(need.step).toEqual({ generation: (64 * 50) / 200, training: (64 * 50 * 2) / 100 });
    expect(need.rl).toBe(10 * (16 + 64));
    expect(need.bound).toBe(false);
    const count = recipe.sft!.demonstrations as { count: number };
    expect(need.sft).toBeCloseTo((2 * count.count * 60) / 150);
    const lines = planLines(recipe, machine, facts, measured).join('\n');
    expect(lines).toContain('Time of a step: about 80 s (rollouts 16 s, training 64 s)');
    expect(lines).toContain('from runs/earlier: 200 sampled, 100 trained, 150 trained in sft tokens a second');
  });

  it('never takes rollouts for longer than the recipe allows', async () => {
    const recipe = await recipeOf('demo', 'limits.turnTokens=null', 'limits.toolTokens=10', 'limits.responseTokens=20');
    expect(estimateTime(recipe, 2, facts, measured)!.step!.generation).toBe((64 * 20) / 200);
  });

  it('is from a table where nothing was measured: an upper bound that grows with the model and shrinks with the cores', async () => {
    const recipe = await recipeOf('demo');
    const small = estimateTime(recipe, 2, facts)!;
    const large = estimateTime(recipe, 2, { parameters: 400e6 })!;
    expect(small.bound).toBe(true);
    expect(large.step!.training / small.step!.training).toBeCloseTo(4);
    expect(estimateTime(recipe, 4, facts)!.step!.training * 2).toBeCloseTo(small.step!.training);
    const text = planLines(recipe, machine, facts).join('\n');
    expect(text).toContain('Time of a step: at most');
    expect(text).toContain('from a table for 2 cores, nothing is measured here: another processor may differ by a factor of 3');
    expect(planLines(await recipeOf('demo', 'engine.threads=1'), machine, facts).join('\n')).toContain('for 1 core,');
  });

  it('counts a KL term and the recomputing of old log-probs', async () => {
    const plain = await recipeOf('nano', 'rl.algorithm.oldLogProbs=sampler');
    const withKl = await recipeOf('nano', 'rl.algorithm.oldLogProbs=trainer', 'rl.algorithm.klCoefficient=0.001');
    const training = (recipe: typeof plain) => estimateTime(recipe, 1, facts)!.step!.training;
    expect(training(withKl) / training(plain)).toBeCloseTo(10 / 6);
  });

  it('is not made up: without a size, on an unmeasured GPU, or where another server computes', async () => {
    expect(planLines(await recipeOf('demo'), machine)).toEqual(['Time: not estimated, the size of the model is not known yet']);
    expect(planLines(await recipeOf('demo', 'engine.device=cuda'), machine, facts)[0]).toContain('no run on a GPU has been measured here');
    expect(planLines(await recipeOf('demo'), { ...machine, gpu: true }, facts)[0]).toContain('no run on a GPU has been measured here');
    expect(planLines(await recipeOf('demo', 'engine.device=cpu'), { ...machine, gpu: true }, facts)[0]).toContain('Time of a step');
    expect(planLines(await recipeOf('demo', 'engine.url=https://engine.example'), machine, facts)).toHaveLength(1);
    const files = planLines(await recipeOf('ra-sft', 'sft.demonstrations.file=a.jsonl'), machine, facts).join('\n');
    expect(files).not.toMatch(/Time of the run.*sft \d/);
  });

  it('is told to the unit that matters', () => {
    expect([0.123, 9.4, 60, 600, 7200, 4e5].map(duration)).toEqual(['0.12 s', '9.4 s', '60 s', '10 min', '2 h', '5 days']);
  });
});

describe('the disk that checkpoints need', () => {
  it('is 12 bytes a trained weight, for those that are kept and the one being written', async () => {
    const recipe = await recipeOf('demo', 'checkpoints.keep=2');
    expect(planLines(recipe, machine, facts).at(-1)).toBe('Disk: up to 6 checkpoints of 1.2 GB, 7.2 GB in all; 100.0 GB free at /runs');
    expect(planLines(recipe, { ...machine, freeDisk: 1e9 }, facts).at(-1)).toContain(': not enough');
  });
});
