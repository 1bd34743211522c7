/** A run is trained on the real engine and a tiny random model, then exported by the command line, whole and as an adapter. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readHeader } from '../src/session/safetensorsHeader.js';
import { packageRoot } from '../src/setup/paths.js';
import { inspectPythonEnv } from '../src/setup/pythonEnv.js';
import { train } from '../src/training/train.js';
import { missingForEndToEnd } from './support.js';
import { makeTinyModel } from './tinyModel.js';

const missing = await missingForEndToEnd('nano');
const folder = mkdtempSync(join(tmpdir(), 'export-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const at = (name: string): string => join(folder, name);

function toolwise(...args: readonly string[]): { status: number | null; stdout: string; stderr: string } {
  const main = join(packageRoot(), 'src', 'cli', 'main.ts');
  return spawnSync(process.execPath, ['--import', 'tsx', main, ...args], {
    cwd: packageRoot(),
    encoding: 'utf8',
    env: { ...process.env, OMP_NUM_THREADS: '1' },
  });
}

/** A log-prob that plain transformers gives, of each folder or of an adapter over its base; one process, since its start is what takes long. */
function byTransformers(...models: readonly (readonly [folder: string, base?: string])[]): string[] {
  const python = inspectPythonEnv();
  if (python.kind !== 'ready') throw new Error(python.reason);
  const script = `
import json, sys, torch
from transformers import AutoModelForCausalLM, AutoTokenizer
for folder, base in json.loads(sys.argv[1]):
    model = AutoModelForCausalLM.from_pretrained(base or folder, dtype=torch.float32)
    if base:
        from peft import PeftModel
        model = PeftModel.from_pretrained(model, folder)
    ids = AutoTokenizer.from_pretrained(base or folder)("1 + 2", return_tensors="pt").input_ids
    with torch.no_grad():
        print(f"{float(model(ids).logits.log_softmax(-1)[0, -1, 5]):.3f}")
`;
  const asked = JSON.stringify(models.map(([folder, base]) => [folder, base ?? null]));
  const env = { ...process.env, HF_HUB_OFFLINE: '1', OMP_NUM_THREADS: '1' };
  const ran = spawnSync(python.python, ['-c', script, asked], { encoding: 'utf8', env });
  if (ran.status !== 0) throw new Error(ran.stderr);
  return ran.stdout.trim().split('\n');
}

describe.skipIf(missing !== undefined)(`export${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  const model = at('tiny');
  const start = (loraRank: number, out: string) =>
    train({
      out,
      log: () => undefined,
      recipe: {
        name: 'tiny',
        extends: 'nano',
        model,
        loraRank,
        trainUnembed: false,
        stages: ['rl'],
        engine: { threads: 1, dtype: 'float32' },
        problems: { train: { kind: 'calc-small' }, evaluation: { kind: 'calc-small', count: 4 } },
        evaluation: { samples: 1, base: false, everySteps: 0 },
        rl: { steps: 1, groupsPerStep: 2, groupSize: 4, updatesPerStep: 1, learningRate: 1e-2 },
        limits: { responseTokens: 32, turnTokens: 16, toolTokens: 8, turns: 2 },
      },
      // A random model is never right; of even tokens it writes now more, now fewer.
      reward: ({ tokens }) => ({ even: tokens.filter((id) => id % 2 === 0).length / tokens.length }),
    });

  beforeAll(async () => {
    makeTinyModel(model);
    await start(0, at('whole'));
    await start(2, at('adapter'));
  }, 240_000);

  it('writes all weights as a folder that transformers loads, with a card that names no place', () => {
    const made = toolwise('export', at('whole'), '--to', at('hf'), '--json');
    expect(made.stderr).toContain('writing hf');
    const told = JSON.parse(made.stdout);
    expect(told).toMatchObject({ format: 'hf', dtype: 'float32', baseModel: 'tiny', checkpoint: { stage: 'rl', step: 1 } });
    expect(told.files).toEqual(readdirSync(at('hf')).sort());
    expect(told.files).toEqual(
      expect.arrayContaining(['README.md', 'config.json', 'model.safetensors', 'tokenizer.json', 'toolwise.json']),
    );
    const [trained, before] = byTransformers([at('hf')], [model]);
    expect(trained).not.toBe(before);
    const card = readFileSync(join(at('hf'), 'README.md'), 'utf8');
    expect(card).toContain('recipe `tiny`');
    expect(card).toContain('all weights: 1 steps of reinforcement learning');
    for (const file of ['README.md', 'toolwise.json', 'config.json'])
      expect(readFileSync(join(at('hf'), file), 'utf8')).not.toContain(folder);
  }, 240_000);

  it('writes an adapter, and the same merged; both say the same', () => {
    expect(toolwise('export', `${at('adapter')}@rl`, '--to', at('peft'), '--format', 'peft').status).toBe(0);
    expect(toolwise('export', `${at('adapter')}@rl`, '--to', at('merged'), '--dtype', 'float32').status).toBe(0);
    const [byPeft, merged, before] = byTransformers([at('peft'), model], [at('merged')], [model]);
    expect(byPeft).toBe(merged);
    expect(merged).not.toBe(before);
    expect(readFileSync(join(at('merged'), 'README.md'), 'utf8')).toContain('a LoRA adapter of rank 2, merged');
  }, 240_000);

  it('takes a checkpoint by its name, and the precision that is asked for', () => {
    const [name] = readdirSync(join(at('whole'), 'checkpoints'), { recursive: true, encoding: 'utf8' }).flatMap(
      (path) => /weights\/([\w-]+)\/state\.json$/.exec(path)?.[1] ?? [],
    );
    expect(toolwise('export', `${at('whole')}@${name}`, '--to', at('half'), '--dtype', 'bfloat16').status).toBe(0);
    const dtypes = new Set(readHeader(join(at('half'), 'model.safetensors')).map(({ dtype }) => dtype));
    expect([...dtypes]).toEqual(['BF16']);
  }, 240_000);

  it('refuses by name what cannot be, and leaves nothing behind', () => {
    const refused = (...args: readonly string[]): string => {
      const { status, stderr } = toolwise('export', ...args, '--to', at('none'));
      expect(status).toBe(2);
      expect(existsSync(at('none'))).toBe(false);
      return stderr;
    };
    expect(refused(at('whole'), '--format', 'peft')).toMatch(/trained all weights[\s\S]*--format hf or gguf/);
    expect(refused(`${at('whole')}@base`, '--format', 'peft')).toContain('untrained');
    expect(refused(`${at('whole')}@rl-9`)).toMatch(/no checkpoint rl-9[\s\S]*It has: @rl-/);
    expect(refused(`${at('whole')}@sft`)).toContain('has no checkpoint of its stage sft');
    expect(refused(at('nothing'))).toContain('holds no run');
    expect(refused(at('whole'), '--format', 'onnx')).toContain('expected hf, peft, gguf');
    expect(refused(at('whole'), '--dtype', 'int4')).toContain('expected bfloat16');
  }, 240_000);

  it('replaces an earlier export by --force, and nothing else', () => {
    expect(toolwise('export', `${at('whole')}@base`, '--to', at('again')).status).toBe(0);
    expect(toolwise('export', at('whole'), '--to', at('again')).stderr).toContain('holds an export already');
    expect(toolwise('export', at('whole'), '--to', at('again'), '--force').status).toBe(0);
    expect(JSON.parse(readFileSync(join(at('again'), 'toolwise.json'), 'utf8'))).toMatchObject({ stage: 'rl', step: 1 });
    writeFileSync(at('letter.txt'), 'mine');
    expect(toolwise('export', at('whole'), '--to', folder, '--force').stderr).toContain('no export of this program');
    expect(readFileSync(at('letter.txt'), 'utf8')).toBe('mine');
  }, 240_000);
});
