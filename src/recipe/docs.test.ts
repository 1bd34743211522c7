import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { keysAt } from './jsonShape.js';
import { loadRecipe, packagedRecipes, resolveRecipe } from './load.js';

const page = readFileSync(new URL('../../docs/recipes.md', import.meta.url), 'utf8');
const blocks = (language: string): string[] =>
  [...page.matchAll(/```(\w+)\n([\s\S]*?)```/g)].filter((m) => m[1] === language).map((m) => m[2]!);

describe('the page on recipes', () => {
  it('names every packaged recipe and every key', () => {
    const places = [
      [],
      ['engine'],
      ['agent'],
      ['mcp', 0],
      ['prompt'],
      ['sandbox'],
      ['limits'],
      ['problems'],
      ['problems', 'train'],
      ['sft'],
      ['sft', 'demonstrations'],
      ['sft', 'schedule'],
    ];
    const more = [
      ['rl'],
      ['rl', 'refresh'],
      ['rl', 'async'],
      ['rl', 'async', 'deadline'],
      ['rl', 'dynamicSampling'],
      ['rl', 'algorithm'],
      ['rl', 'reward'],
      ['rl', 'reward', 'toolBonus'],
      ['rl', 'reward', 'overlong'],
      ['evaluation'],
      ['checkpoints'],
    ];
    const words = new Set(page.match(/[\w-]+/g));
    for (const name of packagedRecipes()) expect(page).toContain(`| \`${name}\` |`);
    for (const key of [...places, ...more].flatMap((path) => keysAt(path))) expect(words, key).toContain(key);
  });

  it('shows a recipe and options that load', async () => {
    const recipes = blocks('yaml').map((text) => resolveRecipe(parse(text)));
    expect(recipes.map(({ name, rl }) => [name, rl!.steps, rl!.algorithm.dualClip])).toEqual([['mine', 50, undefined]]);
    const [command] = blocks('sh');
    const set = [...command!.matchAll(/--set (?:'([^']+)'|(\S+))/g)].map((m) => m[1] ?? m[2]!);
    const { recipe } = await loadRecipe('demo', { set });
    expect([recipe.rl!.steps, recipe.sft!.betas, recipe.limits.turnTokens]).toEqual([12, [0.9, 0.99], undefined]);
  });
});
