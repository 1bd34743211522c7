/**
 * What an engine is to everything above it, told once and asked of each: the embedded engine, a SkyRL server where one is named
 * (`npm run check:skyrl` does), and the exchanges recorded from such a server (`test/wire`).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Datum } from '../src/domain/datum.js';
import { startEmbeddedEngine } from '../src/engine/embedded.js';
import type { Engine } from '../src/engine/engine.js';
import { EngineError } from '../src/engine/engineError.js';
import type { SampleRequest } from '../src/engine/sampler.js';
import { connectEngine } from '../src/engine/tinkerClient.js';
import type { LossRequest, Trainer } from '../src/engine/trainer.js';
import { RECORDED_MODEL, startRecorder, startReplay } from './support/replayServer.js';
import { missingForEndToEnd } from './support.js';
import { makeTinyModel } from './tinyModel.js';

const { TOOLWISE_SKYRL_URL: url, TOOLWISE_SKYRL_MODEL: skyrlModel = '', TOOLWISE_SKYRL_RECORD: record } = process.env;
const RECORDED = fileURLToPath(new URL('wire/skyrl-0.4.0.json', import.meta.url));

interface Opened {
  readonly engine: Engine;
  readonly model: string;
  close(): Promise<void>;
}

interface Kind {
  readonly name: string;
  /** Why it cannot be asked here. */
  readonly skipped?: string | undefined;
  open(folder: string): Promise<Opened>;
}

const kinds: readonly Kind[] = [
  {
    name: 'the embedded engine',
    skipped: await missingForEndToEnd('nano'),
    open: async (folder) => {
      const engine = await startEmbeddedEngine({
        models: { tiny: makeTinyModel(join(folder, 'model'), 1, 'qwen3') },
        checkpoints: join(folder, 'checkpoints'),
        logFile: join(folder, 'engine.log'),
        dtype: 'float32',
        threads: 1,
      });
      return { engine, model: 'tiny', close: () => engine.close() };
    },
  },
  {
    name: 'a SkyRL server',
    skipped: url === undefined ? 'npm run check:skyrl starts one' : undefined,
    open: async () => {
      const recorder = record === undefined ? undefined : await startRecorder(url!, record, skyrlModel);
      const engine = await connectEngine({ url: recorder?.url ?? url!, server: 'skyrl-jax' });
      const close = async (): Promise<void> => {
        await engine.close();
        await recorder?.close();
      };
      return { engine, model: skyrlModel, close };
    },
  },
  {
    name: 'what a SkyRL server answered',
    open: async () => {
      const server = await startReplay(RECORDED);
      const engine = await connectEngine({ url: server.url, server: 'skyrl-jax' });
      const close = async (): Promise<void> => {
        await engine.close();
        await server.close();
      };
      return { engine, model: RECORDED_MODEL, close };
    },
  },
];

const adam = { learningRate: 0.02, beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weightDecay: 0, gradClipNorm: 0 };
const still = { ...adam, learningRate: 0 };
const request: SampleRequest = { prompt: [11, 12, 13, 14], maxTokens: 6, temperature: 1, topP: 1, seed: 7, stopTokenIds: [] };

/** Two sequences of different lengths; nothing is asked of their first two tokens. */
const data: Datum[] = [
  [21, 22, 23, 24, 25, 26, 27],
  [31, 32, 33, 34, 35],
].map((tokens) => ({
  inputTokens: tokens.slice(0, -1),
  targets: tokens.slice(1),
  weights: tokens.slice(1).map((_, t) => (t < 2 ? 0 : 1)),
}));

const LOSSES: readonly LossRequest[] = [
  { name: 'cross_entropy' },
  { name: 'importance_sampling' },
  { name: 'ppo', config: { clip_low_threshold: 0.8, clip_high_threshold: 1.28 } },
];

/** With log-probs a little off those that were seen, so that ratios are no ones, and advantages of both signs. */
const withAdvantages = (seen: readonly Float64Array[]): Datum[] =>
  data.map((datum, i) => ({
    ...datum,
    logProbs: [...seen[i]!].map((value) => Math.round((value - 0.0625) * 1024) / 1024),
    advantages: datum.weights.map((weight, t) => (weight === 0 ? 0 : t % 2 === 0 ? 1 : -0.5)),
  }));

const sum = (rows: readonly Float64Array[]): number => rows.reduce((a, row) => a + row.reduce((b, value) => b + value, 0), 0);

function expectClose(got: readonly Float64Array[], wanted: readonly Float64Array[], tolerance: number): void {
  expect(got.map(({ length }) => length)).toEqual(wanted.map(({ length }) => length));
  for (const [i, row] of got.entries())
    for (const [t, value] of row.entries()) expect(Math.abs(value - wanted[i]![t]!)).toBeLessThan(tolerance);
}

async function failure(call: Promise<unknown>): Promise<EngineError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(EngineError);
  return error as EngineError;
}

for (const kind of kinds) {
  const why = kind.skipped === undefined ? '' : ` (skipped: ${kind.skipped})`;
  describe.skipIf(kind.skipped !== undefined)(`${kind.name}${why}`, { timeout: 180_000 }, () => {
    let folder: string;
    let opened: Opened;
    let engine: Engine;

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'contract-'));
      opened = await kind.open(folder);
      engine = opened.engine;
    }, 120_000);

    afterAll(async () => {
      await opened?.close();
      rmSync(folder, { recursive: true, force: true });
    });

    async function withTrainer(use: (trainer: Trainer) => Promise<void>): Promise<void> {
      const trainer = await engine.createTrainer({ model: opened.model, loraRank: 4, trainUnembed: false, seed: 3 });
      try {
        await use(trainer);
      } finally {
        await trainer.unload();
      }
    }

    it('says what it serves and which losses it has', () => {
      expect(engine.capabilities.models.map(({ name }) => name)).toContain(opened.model);
      expect(Object.keys(engine.capabilities.losses)).toEqual(expect.arrayContaining(LOSSES.map(({ name }) => name)));
      expect(engine.capabilities).toMatchObject({ lossReduction: 'sum', extensions: expect.arrayContaining(['lora', 'train_unembed']) });
    });

    it('gives the log-probs of targets, and 0 where nothing is asked', () =>
      withTrainer(async (trainer) => {
        const logProbs = await trainer.forward(data);
        expect(logProbs.map((row) => [...row].map((value) => (value < 0 ? -1 : value)))).toEqual([
          [0, 0, -1, -1, -1, -1],
          [0, 0, -1, -1],
        ]);
        expectClose(await trainer.forward([...data].reverse()), [...logProbs].reverse(), 1e-4);
      }));

    it('makes a gradient of each loss, seeing what a forward pass sees', () =>
      withTrainer(async (trainer) => {
        const seen = await trainer.forward(data);
        for (const loss of LOSSES) {
          const { logProbs } = await trainer.forwardBackward(loss.name === 'cross_entropy' ? data : withAdvantages(seen), loss);
          expectClose(logProbs, seen, 1e-4);
          const { gradNorm } = await trainer.optimStep(still);
          expect(gradNorm, loss.name).toBeGreaterThan(0);
        }
        expectClose(await trainer.forward(data), seen, 1e-4);
        expect(trainer.policyVersion).toBe(LOSSES.length);
      }));

    it('runs calls in the order in which they were made, without being waited for', () =>
      withTrainer(async (trainer) => {
        const [first, , second, , third] = await Promise.all([
          trainer.forwardBackward(data, { name: 'cross_entropy' }),
          trainer.optimStep(adam),
          trainer.forwardBackward(data, { name: 'cross_entropy' }),
          trainer.optimStep(adam),
          trainer.forward(data),
        ]);
        expect(sum(second.logProbs)).toBeGreaterThan(sum(first.logProbs));
        expect(sum(third)).toBeGreaterThan(sum(second.logProbs));
      }));

    it('publishes snapshots; where it says so, later updates do not change them', () =>
      withTrainer(async (trainer) => {
        const before = await trainer.publish();
        const greedy = { ...request, temperature: 0, maxTokens: 4 };
        const first = await before.sample(greedy);
        expect(first.tokens).toHaveLength(4);
        expect(first.logProbs).toHaveLength(4);
        expect(first.stop).toBe('length');
        for (let step = 0; step < 2; step++) {
          await trainer.forwardBackward(data, { name: 'cross_entropy' });
          await trainer.optimStep({ ...adam, learningRate: 0.1 });
        }
        const after = await trainer.publish();
        expect([before.policyVersion, after.policyVersion]).toEqual([0, 2]);
        const later = await after.sample(greedy);
        expect(Math.abs(later.logProbs[0]! - first.logProbs[0]!)).toBeGreaterThan(1e-3);
        if (!engine.capabilities.extensions.includes('snapshots')) return;
        const again = await before.sample(greedy);
        expect(again.tokens).toEqual(first.tokens);
        expectClose([Float64Array.from(again.logProbs)], [Float64Array.from(first.logProbs)], 1e-4);
      }));

    it('samples by seed, stops at a stop token and keeps it', async () => {
      const sampler = await engine.baseSampler(opened.model);
      const sample = await sampler.sample(request);
      expect(sample.tokens).toHaveLength(request.maxTokens);
      expect((await sampler.sample(request)).tokens).toEqual(sample.tokens);
      const stopped = await sampler.sample({ ...request, stopTokenIds: [sample.tokens[2]!] });
      const end = sample.tokens.indexOf(sample.tokens[2]!) + 1;
      expect(stopped).toMatchObject({ stop: 'stop', tokens: sample.tokens.slice(0, end) });
      const many = await Promise.all([8, 9, 10].map((seed) => sampler.sample({ ...request, seed, promptLogProbs: true })));
      for (const { tokens, logProbs, promptLogProbs } of many) {
        expect(logProbs).toHaveLength(tokens.length);
        expect(promptLogProbs).toHaveLength(request.prompt.length);
        expect(promptLogProbs![0]).toBeNull();
      }
    });

    it('saves what another policy can go on from, and deletes it', () =>
      withTrainer(async (trainer) => {
        await trainer.forwardBackward(data, { name: 'cross_entropy' });
        await trainer.optimStep(adam);
        const path = await trainer.save('kept');
        const known = await trainer.forward(data);
        await withTrainer(async (other) => {
          await other.load(path, { optimizer: true, policyVersion: 1 });
          expect(other.policyVersion).toBe(1);
          expectClose(await other.forward(data), known, 1e-4);
          await other.forwardBackward(data, { name: 'cross_entropy' });
          expect((await other.optimStep(adam)).gradNorm).toBeGreaterThan(0);
        });
        expect(await failure(trainer.save('kept'))).toMatchObject({ category: 'user', status: 409 });
        await engine.deleteCheckpoint(path);
        await withTrainer(async (other) => {
          expect((await failure(other.load(path, { optimizer: true, policyVersion: 1 }))).category).toBe('user');
        });
      }));

    it('goes on after a request that was refused', () =>
      withTrainer(async (trainer) => {
        const unknown = { name: 'hinge' } as unknown as LossRequest;
        await trainer.optimStep(still).catch(() => undefined);
        expect((await failure(trainer.forwardBackward(withAdvantages(await trainer.forward(data)), unknown))).category).toBe('user');
        await trainer.optimStep(still).catch(() => undefined);
        const { logProbs } = await trainer.forwardBackward(data, { name: 'cross_entropy' });
        expectClose(logProbs, await trainer.forward(data), 1e-4);
      }));

    it('is not sent what a server might take in silence', () =>
      withTrainer(async (trainer) => {
        const [datum] = data;
        await expect(trainer.forward([])).rejects.toThrow('no data');
        await expect(trainer.forward([{ ...datum!, targets: [1] }])).rejects.toThrow('1 targets for 6 input tokens');
        await expect(trainer.forward([{ ...datum!, weights: datum!.weights.map(() => Number.NaN) }])).rejects.toThrow('NaN');
      }));
  });
}
