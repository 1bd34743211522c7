import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../setup/command.js';
import { inspectPythonEnv } from '../setup/pythonEnv.js';
import { type EmbeddedEngine, startEmbeddedEngine } from './embedded.js';
import type { EngineError } from './engineError.js';
import type { SampleRequest } from './sampler.js';

const MAKE_MODEL = `
import sys, torch
from tokenizers import Tokenizer, models
from transformers import LlamaConfig, LlamaForCausalLM
torch.manual_seed(0)
config = LlamaConfig(vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
                     max_position_embeddings=128, tie_word_embeddings=True)
LlamaForCausalLM(config).save_pretrained(sys.argv[1])
Tokenizer(models.BPE(vocab={chr(32 + i): i for i in range(64)}, merges=[])).save(sys.argv[1] + '/tokenizer.json')
`;

const datum = { inputTokens: [1, 2, 3, 4], targets: [2, 3, 4, 5], weights: [0, 1, 1, 1] };
const adam = { learningRate: 1e-2, beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weightDecay: 0, gradClipNorm: 1 };
const request: SampleRequest = { prompt: [1, 2, 3], maxTokens: 8, temperature: 1, topP: 1, seed: 3, stopTokenIds: [] };

let root: string;
let python: string;
const start = (more: Partial<Parameters<typeof startEmbeddedEngine>[0]> = {}): Promise<EmbeddedEngine> =>
  startEmbeddedEngine({
    models: { tiny: join(root, 'model') },
    checkpoints: join(root, 'checkpoints'),
    logFile: join(root, 'engine.log'),
    dtype: 'float32',
    threads: 1,
    python,
    ...more,
  });

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

const gone = async (pid: number): Promise<boolean> => {
  for (let tries = 0; tries < 200 && isAlive(pid); tries++) await sleep(50);
  return !isAlive(pid);
};

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'toolwise-embedded-test-'));
  const state = inspectPythonEnv();
  if (state.kind === 'missing') throw new Error(`the engine's Python environment is not ready (${state.reason}); run: npm run setup`);
  python = state.python;
  const made = await run(python, ['-c', MAKE_MODEL, join(root, 'model')]);
  if (made.status !== 0) throw new Error(made.output);
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

describe('the embedded engine', () => {
  it('trains, publishes frozen snapshots, samples, saves and loads through the real wire', async () => {
    const engine = await start();
    try {
      expect(engine.capabilities).toMatchObject({ lossReduction: 'sum', device: 'cpu', threads: 1, dtype: 'float32' });
      expect(engine.capabilities.models[0]).toMatchObject({ name: 'tiny', maxContextLength: 128 });
      const trainer = await engine.createTrainer({ model: 'tiny' });
      const before = await trainer.publish();
      const sample = await before.sample({ ...request, entropy: true, promptLogProbs: true });
      expect(sample.logProbs).toHaveLength(sample.tokens.length);
      expect(sample.entropies).toHaveLength(sample.tokens.length);
      expect(sample.promptLogProbs![0]).toBeNull();
      const [first, step, second] = await Promise.all([
        trainer.forwardBackward([datum], { name: 'cross_entropy' }),
        trainer.optimStep(adam),
        trainer.forwardBackward([datum], { name: 'cross_entropy' }),
      ]);
      expect(first.logProbs[0]![0]).toBe(0);
      expect(step.gradNorm).toBeGreaterThan(0);
      expect(second.metrics['loss:sum']!).toBeLessThan(first.metrics['loss:sum']!);
      expect(await before.sample({ ...request, entropy: true, promptLogProbs: true })).toEqual(sample);
      expect((await trainer.publish()).policyVersion).toBe(1);
      const path = await trainer.save('one', { optimizer: true });
      const known = await trainer.forward([datum]);
      const other = await engine.createTrainer({ model: 'tiny' });
      await other.load(path, { optimizer: true, policyVersion: 1 });
      expect(await other.forward([datum])).toEqual(known);
      await other.unload();
      await expect(trainer.load('tinker://nobody/weights/none', { optimizer: false, policyVersion: 0 })).rejects.toMatchObject({
        category: 'user',
      });
    } finally {
      await engine.close();
    }
    expect(await gone(engine.pid)).toBe(true);
  });

  it('that dies fails all that waits at once, and tells its owner once', async () => {
    const deaths: EngineError[] = [];
    const engine = await start({ onDeath: (error) => deaths.push(error) });
    const sampler = await engine.baseSampler('tiny');
    const waiting = [1, 2, 3].map((seed) =>
      sampler.sample({ ...request, maxTokens: 120, seed, lockstep: { key: 'never full', size: 9, index: seed } }),
    );
    const outcomes = Promise.allSettled(waiting);
    await sleep(100);
    process.kill(engine.pid, 'SIGKILL');
    for (const outcome of await outcomes) expect(outcome).toMatchObject({ status: 'rejected', reason: { category: 'connection' } });
    await expect(sampler.sample(request)).rejects.toThrow('the engine died (killed by SIGKILL)');
    expect(deaths.map(({ category }) => category)).toEqual(['connection']);
    await engine.close();
  });

  it('is refused with its own sentence when a model folder is wrong', async () => {
    await expect(start({ models: { tiny: join(root, 'nowhere') } })).rejects.toMatchObject({
      name: 'UserError',
      message: expect.stringMatching(/^the engine does not start: .*nowhere/),
    });
  });

  it('ends with the process that started it, however that ends', async () => {
    const script = join(root, 'owner.mts');
    const options = JSON.stringify({
      models: { tiny: join(root, 'model') },
      checkpoints: join(root, 'checkpoints'),
      logFile: join(root, 'owned.log'),
      threads: 1,
      python,
    });
    writeFileSync(
      script,
      `import { startEmbeddedEngine } from ${JSON.stringify(new URL('./embedded.ts', import.meta.url).href)};
       console.log((await startEmbeddedEngine(${options})).pid); setInterval(() => {}, 1000);`,
    );
    const owner = spawn(process.execPath, ['--import', 'tsx', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    const pid = await new Promise<number>((resolve) => owner.stdout.once('data', (line: Buffer) => resolve(Number(line.toString()))));
    expect(isAlive(pid)).toBe(true);
    owner.kill('SIGKILL');
    expect(await gone(pid)).toBe(true);
    expect(readFileSync(join(root, 'owned.log'), 'utf8')).not.toContain('Traceback');
  });
});
