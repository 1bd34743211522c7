import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { UserError } from '../userError.js';
import { loadRecipe, packagedRecipes, recipeDiff, resolveRecipe } from './load.js';
import type { RecipeInput } from './schema.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'recipe-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const mistake = async (load: Promise<unknown>): Promise<string> => {
  const error = await load.then(
    () => undefined,
    (e: unknown) => e,
  );
  expect(error).toBeInstanceOf(UserError);
  return (error as UserError).message;
};
const setting = (...set: string[]) => mistake(loadRecipe('demo', { set }));

describe('packaged recipes', () => {
  it('are all valid, carry their own name and survive being written out and read again', async () => {
    expect(packagedRecipes()).toEqual(['demo', 'demyagent-4b', 'grpo-scr', 'grpo-t', 'grpo-tcr', 'nano', 'ra-sft']);
    for (const name of packagedRecipes()) {
      const { recipe } = await loadRecipe(name);
      expect(recipe.name).toBe(name);
      expect(recipe.extends).toBeUndefined();
      const again = await loadRecipe(file(`${name}.yaml`, stringify(recipe)));
      expect(again.recipe).toEqual(recipe);
    }
  });

  it("have the paper's bounds, KL terms and length shaping", async () => {
    const facts = async (name: string) => {
      const rl = (await loadRecipe(name)).recipe.rl!;
      const { ratio, aggregation, clipLow, clipHigh, klCoefficient } = rl.algorithm;
      return [ratio, aggregation, clipLow, clipHigh, klCoefficient, rl.reward.overlong !== null];
    };
    expect(await facts('grpo-t')).toEqual(['token', 'token', 0.2, 0.2, 0.001, false]);
    expect(await facts('grpo-tcr')).toEqual(['token', 'token', 0.2, 0.28, 0, true]);
    expect(await facts('grpo-scr')).toEqual(['sequence', 'sequence', 3e-4, 4e-4, 0, true]);
    expect(await facts('demyagent-4b')).toEqual(['token', 'token', 0.2, 0.315, 0, true]);
  });

  it('are suggested where a name is nearly right', async () => {
    expect(await mistake(loadRecipe('grpo_tcrr'))).toBe('there is no recipe named grpo_tcrr. Did you mean grpo-tcr?');
  });
});

describe('--set', () => {
  it('lays YAML values over the recipe, the last one last, and is named among the sources', async () => {
    const { recipe, sources } = await loadRecipe('demo', {
      set: [
        'rl.steps=5',
        'rl.steps=6',
        'sft.betas=[0.8, 0.9]',
        'problems.evaluation.count=16',
        'rl.reward.overlong=null',
        'prompt.system=',
      ],
    });
    expect(recipe.rl!.steps).toBe(6);
    expect(recipe.sft!.betas).toEqual([0.8, 0.9]);
    expect(recipe.problems.evaluation).toEqual({ kind: 'calc', count: 16 });
    expect(recipe.rl!.reward.overlong).toBeNull();
    expect(recipe.prompt.system).toBe('');
    expect(sources).toHaveLength(7);
    expect(sources[1]).toBe('--set rl.steps=5');
  });

  it('takes a value back with null, where null is no value of its own', async () => {
    const { recipe } = await loadRecipe('demo', { set: ['limits.turnTokens=null'] });
    expect(recipe.limits.turnTokens).toBeUndefined();
    expect(await setting('rl.steps=null')).toBe('--set rl.steps=null: rl.steps is missing: it must be a whole number of at least 1.');
  });

  it('drops the fields of the other form where it changes the form', async () => {
    const { recipe } = await loadRecipe('demo', {
      set: ['problems.evaluation={kind: jsonl, file: my.jsonl}', 'sft.demonstrations={file: d.jsonl}'],
    });
    expect(recipe.problems.evaluation).toEqual({ kind: 'jsonl', file: 'my.jsonl' });
    expect(recipe.sft!.demonstrations).toEqual({ file: 'd.jsonl' });
  });

  it('says what is wrong with an assignment', async () => {
    expect(await setting('rl.steps')).toContain('has not the form --set a.b=value');
    expect(await setting('rl..steps=1')).toContain('has not the form');
    expect(await setting('rl.steps=[1')).toContain('the value is not valid YAML');
    expect(await setting('problems.train=calc', 'problems.train.count=3')).toContain('problems.train is "calc" here, so it has no count');
    expect(await setting('__proto__.x=1')).toContain('unknown key __proto__');
  });
});

describe('mistakes', () => {
  it('say that a key needs others beside it', async () => {
    expect(await setting('problems.evaluation={file: held-out.jsonl}')).toMatch(
      /problems.evaluation.file does not go with what else stands there: .* a map with kind, file/,
    );
  });

  it('name an unknown key, its place and the nearest known one', async () => {
    const path = file('typo.yaml', 'extends: demo\nname: mine\n\nrl:\n  group_size: 4\n');
    expect(await mistake(loadRecipe(path))).toBe(`${path}:5: unknown key rl.group_size. Did you mean rl.groupSize?`);
    expect(await setting('learningRate=3')).toBe(
      '--set learningRate=3: unknown key learningRate. Did you mean sft.learningRate or rl.learningRate?',
    );
    expect(await setting('limits.zzzzzz=3')).toContain('Known here: turns, callsPerTurn,');
  });

  it('refuse top-k for training rollouts, and take it for evaluation', async () => {
    await expect(loadRecipe('nano', { set: ['rl.topK=5'] })).rejects.toThrow(/rl\.topK|topK/);
    const { recipe } = await loadRecipe('nano', { set: ['evaluation.topK=5', 'engine.device=cpu'] });
    expect([recipe.evaluation.topK, recipe.engine.device]).toEqual([5, 'cpu']);
    await expect(loadRecipe('nano', { set: ['evaluation.topK=0'] })).rejects.toThrow('evaluation.topK');
    await expect(loadRecipe('nano', { set: ['engine.device=cuda', 'engine.deterministic=true'] })).rejects.toThrow(
      'engine.deterministic needs engine.device cpu',
    );
  });

  it('say what was expected and what came', async () => {
    expect(await setting('rl.groupSize=1')).toBe('--set rl.groupSize=1: rl.groupSize must be a whole number of at least 2; it is 1.');
    expect(await setting('rl.concurrency=0')).toContain('rl.concurrency must be "auto" or a whole number of at least 1; it is 0.');
    expect(await setting('rl.algorithm.advantage=GRPO')).toContain(
      'one of grpo, grpoWithoutStd, leaveOneOut; it is the text "GRPO". Did you mean grpo?',
    );
    expect(await setting('evaluation.topP=1.5')).toContain('evaluation.topP must be a number from 0 to 1; it is 1.5.');
    expect(await setting('rl.learningRate=0')).toContain('rl.learningRate must be a number above 0; it is 0.');
    expect(await setting('name=3')).toContain('name must be text; it is 3. Put it in quotes to make it text.');
    expect(await setting('problems.train={kind: calk}')).toContain(
      'problems.train.kind must be one of calc, calc-small, calc-tiny, "file" or "jsonl"',
    );
  });

  it('tell text that YAML reads otherwise to be quoted, and numbers that are none', async () => {
    expect(await setting('prompt.system=Answer: now')).toContain('prompt.system must be text; it is a map (Answer). Put it in quotes');
    expect(await setting('model=[a]')).toContain('Put it in quotes to make it text.');
    expect(await setting('rl.learningRate=.inf')).toContain('it is Infinity.');
    expect(await setting('rl.learningRate=.nan')).toContain('it is NaN.');
    expect(await setting('rl.reward.overlong=3')).not.toContain('quotes');
  });

  it('explain what YAML 1.2 reads as text', async () => {
    expect(await setting('rl.steps=1_000')).toContain('it is the text "1_000". YAML reads 1_000 as text: write 1000.');
    expect(await setting('rl.steps="1,000"')).toContain('write 1000.');
    expect(await setting('rl.steps="20"')).toContain('because of its form or its quotes: write 20.');
    expect(await setting('engine.deterministic=yes')).toContain('YAML 1.2 reads yes as text: write true.');
    expect(await setting('engine.deterministic=off')).toContain('write false.');
  });

  it('are all told at once, each where its value was written', async () => {
    const path = file('two.yaml', 'extends: nano\nname: two\nrl:\n  steps: many\n  seed: 3\n');
    const text = await mistake(loadRecipe(path, { set: ['limits.turns=0'] }));
    expect(text).toContain('has 3 mistakes:');
    expect(text).toContain(`${path}:4: rl.steps must be a whole number`);
    expect(text).toContain(`${path}:5: unknown key rl.seed.`);
    expect(text).toContain('--set limits.turns=0: limits.turns must be');
  });

  it('name file and line of broken YAML, a repeated key, and a file that is no map', async () => {
    expect(await mistake(loadRecipe(file('broken.yaml', 'name: a\nrl: [1\n')))).toMatch(/broken\.yaml:\d+: this is not valid YAML/);
    expect(await mistake(loadRecipe(file('twice.yaml', 'name: a\nname: b\n')))).toMatch(/twice\.yaml:2: this is not valid YAML/);
    expect(await mistake(loadRecipe(file('list.yaml', '- 1\n')))).toContain('must be a map of keys and values');
    expect(await mistake(loadRecipe(file('empty.yaml', '')))).toContain('must be a map of keys and values');
    expect(await mistake(loadRecipe(file('alias.yaml', 'name: *nothing\n')))).toContain('is not valid YAML');
    expect(await mistake(loadRecipe(file('odd.yaml', 'extends: nano\n: 3\nrl: { steps: x }\n')))).toContain('odd.yaml:3: rl.steps');
    expect(await mistake(loadRecipe(join(folder, 'none.yaml')))).toContain('There is no file');
  });

  it('are found where values are right one by one and wrong together', async () => {
    expect(await setting('rl.updatesPerStep=9')).toContain('each update needs a whole group');
    expect(await setting('rl.algorithm.ratio=sequence')).toContain('needs oldLogProbs trainer');
    expect(await setting('rl.reward.overlong.cacheTokens=300')).toContain('is above its maxTokens (200)');
    expect(await setting('stages=[rl, sft]')).toBe('stages must have sft before rl.');
    expect(await mistake(loadRecipe('nano', { set: ['stages=[sft]'] }))).toBe('stages has sft, but there is no sft section.');
  });
});

describe('extends', () => {
  it('is relative to the file it stands in, and may be chained', async () => {
    file('base.yaml', 'extends: nano\nname: base\nrl: { steps: 7 }\n');
    const { recipe, sources } = await loadRecipe(file('top.yaml', 'extends: ./base.yaml\nname: top\nseed: 9\n'));
    expect([recipe.name, recipe.seed, recipe.rl!.steps, recipe.rl!.groupSize, recipe.follows]).toEqual(['top', 9, 7, 8, 'grpo-tcr']);
    expect(sources).toHaveLength(3);
  });

  it('is refused in a circle, and where its target is unknown', async () => {
    const a = file('a.yaml', 'extends: ./b.yaml\nname: a\n');
    file('b.yaml', 'extends: ./a.yaml\nname: b\n');
    expect(await mistake(loadRecipe(a))).toContain('extend each other in a circle');
    expect(await mistake(loadRecipe(file('c.yaml', 'name: c\nextends: nanoo\n')))).toContain(
      'c.yaml:2: there is no recipe named nanoo. Did you mean nano?',
    );
  });
});

describe('recipes as objects', () => {
  it('are resolved like files', () => {
    const recipe = resolveRecipe({ extends: 'nano', name: 'mine', rl: { steps: 2 } } as RecipeInput);
    expect([recipe.name, recipe.rl!.steps, recipe.rl!.groupsPerStep]).toEqual(['mine', 2, 16]);
    expect(() => resolveRecipe({ extends: 'nano', nam: 'x' } as unknown as RecipeInput)).toThrow('unknown key nam. Did you mean name?');
  });

  it('make no demonstrations of answers in other forms', async () => {
    const varied = { kind: 'calc-small', answers: 'varied' } as const;
    const { recipe } = await loadRecipe('nano', { set: ['problems.train.answers=varied'] });
    expect(recipe.problems.train).toEqual(varied);
    const sft = { demonstrations: { teacher: 'scripted', problems: varied, count: 8 } } as const;
    expect(() => resolveRecipe({ extends: 'demo', name: 'mine', sft } as unknown as RecipeInput)).toThrow('made from plain answers');
  });

  it('differ by path, without name and description', async () => {
    const was = (await loadRecipe('nano')).recipe;
    const is = (
      await loadRecipe('nano', {
        set: ['rl.steps=4', 'name=other', 'limits.turnTokens=null', 'sft.epochs=1', 'sft.demonstrations={file: d}'],
      })
    ).recipe;
    const paths = recipeDiff(was, is);
    expect(paths).toContainEqual({ path: 'rl.steps', was: 30, is: 4 });
    expect(paths).toContainEqual({ path: 'limits.turnTokens', was: 64, is: undefined });
    expect(paths).toContainEqual({ path: 'sft.epochs', was: undefined, is: 1 });
    expect(paths.map(({ path }) => path)).not.toContain('name');
    expect(recipeDiff(was, parse(stringify(was)))).toEqual([]);
  });
});
