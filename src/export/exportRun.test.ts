import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packagedRecipe } from '../recipe/load.js';
import type { Recipe } from '../recipe/schema.js';
import { RunWriter } from '../runs/writer.js';
import { temporaryFolder } from '../tables/testSupport.js';
import { modelCard } from './card.js';
import { exportRun } from './exportRun.js';

const folder = temporaryFolder();
let runs = 0;

function run(change: Partial<Recipe> = {}, options: { readonly checkpoint?: string; readonly lora?: object } = {}): string {
  const path = join(folder.path, `run-${runs++}`);
  const writer = RunWriter.create(path, {
    recipe: { ...packagedRecipe('nano'), ...change },
    model: { name: 'nano', weightsHash: '0'.repeat(64), source: 'folder /home/someone/models/nano' },
    versions: { toolwise: '9.9.9' },
    seed: 1,
  });
  const { checkpoint, lora } = options;
  if (checkpoint !== undefined) {
    const place = join(path, 'checkpoints', 'm', 'weights', checkpoint);
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, 'state.json'), JSON.stringify({ version: 4, ...(lora && { lora }) }));
    const record = {
      path: `tinker://m/weights/${checkpoint}`,
      stage: 'rl',
      step: 4,
      policyVersion: 4,
      optimizer: true,
      reason: 'newest',
    } as const;
    writer.sink({ kind: 'checkpoint', record });
  }
  writer.close();
  return path;
}

const exported = (from: string, more: object = {}): Promise<unknown> =>
  exportRun({ run: from, to: join(folder.path, 'to'), log: () => undefined, ...more });

describe('an export is refused before anything is read', () => {
  it('without a checkpoint, with what would work', async () => {
    await expect(exported(run())).rejects.toMatchObject({
      message: expect.stringContaining('no checkpoint yet'),
      hint: expect.stringContaining('@base'),
    });
  });

  it('where the checkpoint lies on a server, whose address is told without its path', async () => {
    const { engine } = packagedRecipe('nano');
    const remote = run({ engine: { ...engine, url: 'https://host.example/tenant-7' } }, { checkpoint: 'rl-4' });
    await expect(exported(remote)).rejects.toMatchObject({
      message: 'the checkpoint tinker://m/weights/rl-4 lies on the server https://host.example, not here',
      hint: expect.stringContaining('docs/export.md'),
    });
  });

  it('where its folder is gone', async () => {
    const gone = run({}, { checkpoint: 'rl-5' });
    rmSync(join(gone, 'checkpoints'), { recursive: true });
    await expect(exported(gone)).rejects.toThrow(/rl-5 is not in/);
  });

  it('as an adapter where all weights were trained', async () => {
    await expect(exported(run({}, { checkpoint: 'rl-4' }), { format: 'peft' })).rejects.toMatchObject({
      message: expect.stringContaining('trained all weights'),
      hint: expect.stringContaining('--format hf'),
    });
  });

  it('where an adapter was trained over other weights than the model has now', async () => {
    const from = run({}, { checkpoint: 'rl-4', lora: { rank: 4 } });
    await expect(exported(from)).rejects.toMatchObject({
      message: expect.stringContaining('not those that the run began with'),
      hint: expect.stringContaining('0'.repeat(64)),
    });
  });

  it('into a folder that holds other things, also by force', async () => {
    const to = join(folder.path, 'home');
    mkdirSync(to);
    writeFileSync(join(to, 'letter.txt'), 'mine');
    for (const force of [false, true]) await expect(exported(run(), { to, force })).rejects.toThrow(/no export of this program/);
    expect(readdirSync(to)).toEqual(['letter.txt']);
    await expect(exported(run(), { to: join(to, 'letter.txt') })).rejects.toThrow(/is a file/);
    await expect(exported(run(), { to: join(to, 'letter.txt', 'inside') })).rejects.toThrow(/cannot be made: a file has that name/);
  });
});

describe('the card', () => {
  const parts = {
    title: 'a model',
    dtype: 'bfloat16',
    info: { recipe: packagedRecipe('grpo-tcr'), model: { name: 'org/base' }, versions: { toolwise: '9.9.9' }, seed: 7 },
    checkpoint: { path: 'tinker://m/weights/x', stage: 'rl', step: 12, policyVersion: 48, optimizer: true, reason: 'newest' },
    base: { name: 'org/base', onHub: true, source: 'hub org/base@abc', hash: 'ff' },
    steps: { sft: 16, rl: 12 },
    evaluations: [
      { name: 'main', stage: 'base', step: 0, metrics: { accuracy: 0.1, problems: 30, samples: 32, temperature: 1, topP: 0.6 } },
      { name: 'main', stage: 'rl', step: 12, metrics: { accuracy: 0.333, intervalLow: 0.2, intervalHigh: 0.4, problems: 30, samples: 32 } },
    ],
    system: 'Use ``` with care.',
    tools: ['code_interpreter'],
  } as const;

  it('says what it was made from, how, what was measured, and how to load it', () => {
    const card = modelCard({ ...parts, format: 'hf' });
    expect(card).toMatch(/^---\nlibrary_name: transformers\nbase_model: org\/base\nbase_model_relation: finetune\n/);
    expect(card).toContain(
      "recipe `grpo-tcr` (after the paper's grpo-tcr), all weights: 16 updates of supervised fine-tuning, then 12 steps",
    );
    expect(card).toContain('| nothing | 10.0% | – | 30 | 32 | 1 | 0.6 |');
    expect(card).toContain('| 12 RL steps | 33.3% | 20.0% to 40.0% | 30 | 32 | – | – |');
    expect(card).toContain('AutoModelForCausalLM.from_pretrained("FOLDER", dtype=torch.bfloat16)');
    expect(card).toContain('````\nUse ``` with care.\n````');
  });

  it('of an adapter names its rank and the base that it needs; of a GGUF file the program that reads it', () => {
    const adapter = modelCard({ ...parts, format: 'peft', rank: 32 });
    expect(adapter).toContain('base_model_relation: adapter');
    expect(adapter).toContain('a LoRA adapter of rank 32:');
    expect(adapter).toContain('PeftModel.from_pretrained(base, "FOLDER")');
    expect(modelCard({ ...parts, format: 'gguf', rank: 32 })).toMatch(/a LoRA adapter of rank 32, merged[\s\S]*llama-cli -m FILE\.gguf/);
  });

  it('of an untrained model claims no training, and of a local one no hub', () => {
    const { checkpoint: _, ...untrained } = parts;
    const card = modelCard({
      ...untrained,
      format: 'hf',
      base: { name: 'own', onHub: false, source: 'from a local folder' },
      evaluations: [],
    });
    expect(card).toContain('not trained');
    expect(card).not.toContain('base_model');
    expect(card).not.toContain('Measured');
  });
});
