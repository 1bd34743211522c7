/**
 * Our client against a real SkyRL server (JAX backend), which `npm run check:skyrl` starts; skipped by name elsewhere. From one adapter both
 * engines must see the same log-probs and make the same update, although that server takes means where ours takes sums.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Datum } from '../src/domain/datum.js';
import type { Trajectory } from '../src/domain/trajectory.js';
import { type EmbeddedEngine, startEmbeddedEngine } from '../src/engine/embedded.js';
import type { Engine } from '../src/engine/engine.js';
import { connectEngine } from '../src/engine/tinkerClient.js';
import type { LossRequest, Trainer } from '../src/engine/trainer.js';
import { evaluate } from '../src/evaluation/evaluateModel.js';
import { Random } from '../src/random.js';
import type { RecipeInput } from '../src/recipe/schema.js';
import { openRun } from '../src/runs/reader.js';
import { train } from '../src/training/train.js';

const { TOOLWISE_SKYRL_URL: url, TOOLWISE_SKYRL_MODEL: model = '', TOOLWISE_SKYRL_CHECKPOINTS: checkpoints = '' } = process.env;
const skipped = url === undefined ? ' (skipped: npm run check:skyrl starts one)' : '';
const folder = mkdtempSync(join(tmpdir(), 'skyrl-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const RANK = 8;
/** Two libraries' float32: what an update changes agrees to this, as a share of its norm. */
const TOLERANCE = 2e-3;
const adam = { learningRate: 3e-3, beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weightDecay: 0.01, gradClipNorm: 0 };
/** So large an epsilon makes a step proportional to the gradient: its size is compared too, not its sign alone. */
const proportional = { ...adam, learningRate: 2, epsilon: 1000, weightDecay: 0 };

/** Sequences of different lengths, with weights that are no mere masks where the loss is a cross-entropy. */
function data(loss: LossRequest['name'], old?: readonly Float64Array[]): Datum[] {
  const random = new Random(5);
  return [9, 14, 5, 20].map((length, i) => {
    const tokens = Array.from({ length: length + 1 }, () => Math.floor(random.next() * 90));
    const weights = tokens.slice(1).map((_, t) => (t < 2 ? 0 : loss === 'cross_entropy' ? 1 / (length + 3) : 1));
    const logProbs = old && [...old[i]!].map((value, t) => (weights[t] === 0 ? 0 : value + random.next() - 0.5));
    const advantages = weights.map((weight) => (weight === 0 ? 0 : random.next() - 0.5));
    return { inputTokens: tokens.slice(0, -1), targets: tokens.slice(1), weights, ...(logProbs && { logProbs, advantages }) };
  });
}

function largestDifference(a: readonly Float64Array[], b: readonly Float64Array[]): number {
  let most = 0;
  for (const [i, row] of a.entries()) for (const [t, value] of row.entries()) most = Math.max(most, Math.abs(value - b[i]![t]!));
  return most;
}

type Tensors = ReadonlyMap<string, Float32Array>;

/** The float32 tensors of a safetensors file, without peft's prefix. */
function readTensors(file: Buffer): { tensors: Tensors; renamed: Buffer } {
  const length = Number(file.readBigUInt64LE(0));
  const header = JSON.parse(file.subarray(8, 8 + length).toString()) as Record<string, { data_offsets: [number, number] }>;
  const plain = Object.entries(header).map(([name, entry]) => [name.replace(/^base_model\.model\./, ''), entry] as const);
  const body = file.subarray(8 + length);
  const tensors = plain.flatMap(([name, entry]) => {
    if (name === '__metadata__') return [];
    const [begin, end] = entry.data_offsets;
    return [[name, new Float32Array(new Uint8Array(body.subarray(begin, end)).buffer)] as const];
  });
  const text = Buffer.from(JSON.stringify(Object.fromEntries(plain)));
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(text.length));
  return { tensors: new Map(tensors), renamed: Buffer.concat([size, text, body]) };
}

function unpackAdapter(archive: string): Buffer {
  execFileSync('tar', ['xzf', archive, '-C', folder], { stdio: 'ignore' });
  return readFileSync(join(folder, 'adapter_model.safetensors'));
}

/** Layers that this server computes as one, and to which it gives one A: its gradient is the sum of theirs. */
const FUSED = [
  ['q_proj', 'k_proj', 'v_proj'],
  ['gate_proj', 'up_proj'],
];

const difference = (after: Tensors, before: Tensors, name: string): Float64Array =>
  Float64Array.from(after.get(name)!, (value, i) => value - before.get(name)![i]!);

/** What the server must have changed a tensor by, from what our engine changed. */
function expectedChange(after: Tensors, before: Tensors, name: string): Float64Array {
  const group = name.includes('.lora_A.') ? FUSED.find((layers) => layers.some((layer) => name.includes(`.${layer}.`))) : undefined;
  if (group === undefined) return difference(after, before, name);
  const own = group.find((layer) => name.includes(`.${layer}.`))!;
  const parts = group.map((layer) => difference(after, before, name.replace(`.${own}.`, `.${layer}.`)));
  return Float64Array.from(parts[0]!, (_, i) => parts.reduce((sum, part) => sum + part[i]!, 0));
}

const norm = (values: Float64Array): number => Math.sqrt(values.reduce((sum, value) => sum + value * value, 0));

describe.skipIf(url === undefined)(`a SkyRL server${skipped}`, () => {
  let theirs: Engine;
  let ours: EmbeddedEngine;

  beforeAll(async () => {
    theirs = await connectEngine({ url: url!, server: 'skyrl-jax' });
    ours = await startEmbeddedEngine({
      models: { [model]: model },
      checkpoints: join(folder, 'checkpoints'),
      logFile: join(folder, 'engine.log'),
      dtype: 'float32',
      threads: 1,
    });
  }, 120_000);

  afterAll(async () => {
    await theirs?.close();
    await ours?.close();
  });

  /** The archive of an adapter, written by the server. */
  async function saveAdapter(modelId: string, name: string): Promise<string> {
    const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
      const answer = await fetch(`${url}/api/v1/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return (await answer.json()) as Record<string, unknown>;
    };
    const { request_id } = await post('save_weights_for_sampler', {
      model_id: modelId,
      path: name,
      seq_id: 1000,
      type: 'save_weights_for_sampler',
    });
    expect(await post('retrieve_future', { request_id })).toHaveProperty('path');
    return join(checkpoints, modelId, 'sampler_weights', `${name}.tar.gz`);
  }

  /** One adapter, away from zero, in a new model of either engine, without optimizer state. */
  async function pair(name: string): Promise<{ their: Trainer; our: Trainer; before: Tensors }> {
    const options = { model, loraRank: RANK, trainUnembed: false, seed: 3 };
    const first = await theirs.createTrainer(options);
    for (let step = 0; step < 3; step++) {
      await first.forwardBackward(data('cross_entropy'), { name: 'cross_entropy' });
      await first.optimStep({ ...adam, learningRate: 0.02 });
    }
    const state = await first.save(name);
    const [, modelId] = /^tinker:\/\/([^/]+)\//.exec(state)!;
    const adapter = await saveAdapter(modelId!, `${name}-adapter`);
    const their = await theirs.createTrainer(options);
    await their.load(state, { optimizer: false, policyVersion: 0 });
    const our = await ours.createTrainer(options);
    const path = await our.save(name, { optimizer: false });
    const { tensors, renamed } = readTensors(unpackAdapter(adapter));
    writeFileSync(ourFile(path), renamed);
    await our.load(path, { optimizer: false, policyVersion: 0 });
    await first.unload();
    return { their, our, before: tensors };
  }

  const ourFile = (path: string): string => {
    const [, id, name] = /^tinker:\/\/([^/]+)\/weights\/(.+)$/.exec(path)!;
    return join(folder, 'checkpoints', id!, 'weights', name!, 'model.safetensors');
  };

  it.each([
    { name: 'cross_entropy' },
    { name: 'importance_sampling' },
    { name: 'ppo', config: { clip_low_threshold: 0.8, clip_high_threshold: 1.28 } },
  ] as const)('makes the update of our engine: $name', { timeout: 300_000 }, async (loss) => {
    const { their, our, before } = await pair(`equal-${loss.name}`);
    try {
      const [theirLogProbs, ourLogProbs] = await Promise.all([their, our].map((one) => one.forward(data(loss.name))));
      expect(largestDifference(theirLogProbs!, ourLogProbs!)).toBeLessThan(1e-5);
      const batch = data(loss.name, loss.name === 'cross_entropy' ? undefined : ourLogProbs!);
      for (const one of [their, our]) {
        await one.forwardBackward(batch, loss);
        await one.optimStep(proportional);
      }
      const [, id] = /^tinker:\/\/([^/]+)\//.exec(await their.save(`after-${loss.name}`))!;
      const theirs = readTensors(unpackAdapter(await saveAdapter(id!, `after-${loss.name}-adapter`))).tensors;
      const ourPath = await our.save(`after-${loss.name}`, { optimizer: false });
      const { tensors: after } = readTensors(readFileSync(ourFile(ourPath)));
      expect([...theirs.keys()].sort()).toEqual([...after.keys()].sort());
      for (const name of after.keys()) {
        const change = difference(theirs, before, name);
        const expected = expectedChange(after, before, name);
        expect(norm(expected)).toBeGreaterThan(1e-4);
        expect(norm(change.map((value, i) => value - expected[i]!)) / norm(expected), name).toBeLessThan(TOLERANCE);
      }
    } finally {
      await their.unload();
      await our.unload();
    }
  });

  const recipe = (algorithm: object): RecipeInput => ({
    name: 'tiny',
    extends: 'nano',
    model,
    loraRank: RANK,
    trainUnembed: false,
    stages: ['sft', 'rl'],
    engine: { url: url!, server: 'skyrl-jax', allowMissing: ['loss:ppo.dual_clip'] },
    problems: { train: { kind: 'calc-small' }, evaluation: { kind: 'calc-small', count: 4 } },
    sft: { demonstrations: { teacher: 'scripted', problems: { kind: 'calc-small' }, count: 8 }, epochs: 1, batchSize: 4, gradClip: 0 },
    rl: { steps: 2, groupsPerStep: 2, groupSize: 4, updatesPerStep: 1, epochs: 1, gradClip: 0, algorithm },
    limits: { turnTokens: 24, responseTokens: 60 },
    evaluation: { samples: 1, extra: [], base: false },
  });

  const evenTokens = ({ tokens }: Trajectory): number => tokens.filter((id) => id % 2 === 0).length / tokens.length;

  it('goes through SFT, GRPO-TCR, evaluation, checkpoints and resumption', { timeout: 600_000 }, async () => {
    const out = join(folder, 'tcr');
    const stop = new AbortController();
    const interrupted = train({
      recipe: recipe({}),
      reward: evenTokens,
      out,
      signal: stop.signal,
      onEvent: (event) => {
        if (event.kind === 'stepEnded' && event.stage === 'rl' && event.step === 0) stop.abort(new Error('interrupted'));
      },
    });
    await expect(interrupted).rejects.toThrow('interrupted');
    const { checkpoint } = await train({ recipe: recipe({}), reward: evenTokens, out, resume: true });
    expect(checkpoint).toContain('tinker://');
    const run = openRun(out);
    expect(run.steps('sft')).toHaveLength(2);
    const steps = run.steps('rl').map(({ metrics }) => metrics);
    run.close();
    expect(steps).toHaveLength(2);
    for (const metrics of steps) expect(metrics['train/gradNorm']).toBeGreaterThan(0);
    const { result } = await evaluate({ model: out, count: 4, samples: 2, out: join(folder, 'evaluated') });
    expect(result.accuracy.infra).toBe(0);
  });

  it('goes through GRPO-SCR', { timeout: 600_000 }, async () => {
    const algorithm = { oldLogProbs: 'trainer', ratio: 'sequence', aggregation: 'sequence', clipLow: 0.0003, clipHigh: 0.0004 };
    const out = join(folder, 'scr');
    await train({ recipe: { ...recipe(algorithm), stages: ['rl'] }, reward: evenTokens, out });
    const run = openRun(out);
    const steps = run.steps('rl').map(({ metrics }) => metrics);
    run.close();
    for (const metrics of steps) {
      expect(metrics['train/gradNorm']).toBeGreaterThan(0);
      expect(metrics['train/samplerGap']).toBeLessThan(0.05);
    }
  });

  it('is refused for what it cannot do, before anything is computed', { timeout: 60_000 }, async () => {
    const out = join(folder, 'refused');
    await expect(train({ recipe: { ...recipe({}), loraRank: 0 }, out })).rejects.toThrow(/full_fine_tune/);
    await expect(train({ recipe: { ...recipe({}), rl: { ...recipe({}).rl!, gradClip: 1 } }, out })).rejects.toThrow(/grad_clip_norm/);
  });
});
