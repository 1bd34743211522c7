import { describe, expect, it } from 'vitest';
import { describeRecipe, rewardTable } from './describe.js';
import { loadRecipe } from './load.js';
import { estimateMemory } from './memory.js';

const recipeOf = async (name: string, ...set: string[]) => (await loadRecipe(name, { set })).recipe;

describe('a recipe in words', () => {
  it('tells stages, updates, tokens and losses', async () => {
    const text = describeRecipe(await recipeOf('demo')).join('\n');
    expect(text).toContain('2 epochs in batches of 8, 16 updates');
    expect(text).toContain('8 steps of 8 problems x 8 rollouts, 4 updates a step (32 in all)');
    expect(text).toContain('at most 12,800 of responses');
    expect(text).toContain('ratio of each token in [0.8, 1.28], negative advantages at most 10 times');
    expect(text).toContain('Memory: not estimated');
    const sequence = describeRecipe(await recipeOf('grpo-scr')).join('\n');
    expect(sequence).toContain('ratio of each sequence in [0.9997, 1.0004], mean over the tokens of a sequence, then over sequences');
    expect(describeRecipe(await recipeOf('grpo-t')).join('\n')).toContain('KL term: 0.001 x k3');
    expect(text).not.toContain('tries');
    const refreshed = await recipeOf('demo', 'rl.refresh={everySteps: 4, problems: 64, size: 1024}');
    expect(describeRecipe(refreshed)).toContain(
      '  problems: every 4 steps the policy tries 64 training problems 8 times each; it goes on with 1,024, difficulty uniform',
    );
  });

  it('tells only of the stages that are run', async () => {
    const text = describeRecipe(await recipeOf('ra-sft')).join('\n');
    expect(text).toContain('Stage sft');
    expect(text).not.toMatch(/Stage rl|Reward|Loss/);
  });

  it('shows what right and wrong answers are paid by calls', async () => {
    const rules = (await recipeOf('grpo-tcr')).rl!.reward;
    const numbers = (line: string) => line.trim().split(/\s+/).slice(1).map(Number);
    const [, right, wrong, length] = rewardTable(rules);
    expect(numbers(right!)).toEqual([1, 1.1, 1.2, 1.3, 1.4]);
    expect(numbers(wrong!)).toEqual([-1, -0.9, -0.8, -0.7, -0.6]);
    expect(length).toContain("model's tokens): 0 at 12,288, -0.5 at 14,336, -1 at 16,384; -1 where a token limit cut it");
    const [, rightAsReleased] = rewardTable({ ...rules, reference: true });
    expect(numbers(rightAsReleased!)).toEqual([1, 1, 1, 1, 1]);
  });
});

describe('memory need', () => {
  const facts = { parameters: 100e6, embeddingParameters: 30e6, vocabulary: 50_000 };

  it('counts 16 bytes a trained weight and the compute copies of trainer and sampler', async () => {
    const recipe = await recipeOf('nano');
    expect(estimateMemory(recipe, facts, 'bfloat16')).toEqual({ weights: 100e6 * (16 + 4), logits: 160 * 50_000 * 12, dtype: 'bfloat16' });
    expect(estimateMemory(recipe, facts, 'float32').weights).toBe(100e6 * (16 + 8));
  });

  it('saves moments and gradients of frozen embeddings, and adds a copy for a KL term', async () => {
    const frozen = await recipeOf('nano', 'trainUnembed=false');
    expect(estimateMemory(frozen, facts, 'bfloat16').weights).toBe(100e6 * (16 + 4) - 30e6 * 12);
    const withKl = await recipeOf('nano', 'rl.algorithm.klCoefficient=0.001');
    expect(estimateMemory(withKl, facts, 'bfloat16').weights).toBe(100e6 * (16 + 6));
  });

  it('is told for both number formats where the engine will choose', async () => {
    const lines = describeRecipe(await recipeOf('demo'), facts).filter((line) => line.startsWith('Memory'));
    expect(lines.map((line) => line.split(':')[0])).toEqual(['Memory in bfloat16', 'Memory in float32']);
  });
});
