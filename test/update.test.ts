/** The engine's own loss and the custom way, from equal weights on equal data in float32: the same loss, the same update. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EmbeddedEngine, startEmbeddedEngine } from '../src/engine/embedded.js';
import type { AdamParams, Trainer } from '../src/engine/trainer.js';
import { Random } from '../src/random.js';
import { type Algorithm, recipeSchema } from '../src/recipe/schema.js';
import { toDatum, toResponse } from '../src/training/datum.js';
import { type LossPath, type TrainedSequence, updatePolicy } from '../src/training/update.js';
import { missingForEndToEnd } from './support.js';
import { makeTinyModel } from './tinyModel.js';

const missing = await missingForEndToEnd('nano');
const folder = mkdtempSync(join(tmpdir(), 'update-test-'));
const adam: AdamParams = { learningRate: 1e-2, beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0.01, gradClipNorm: 1 };

const algorithm = (changes: Partial<Algorithm>): Algorithm => {
  const recipe = recipeSchema.parse({
    name: 'x',
    model: 'tiny',
    stages: ['rl'],
    problems: { train: 'calc', evaluation: 'calc' },
    rl: { steps: 1 },
  });
  return { ...recipe.rl!.algorithm, ...changes };
};

describe.skipIf(missing !== undefined)(`an update${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  let engine: EmbeddedEngine;
  beforeAll(async () => {
    engine = await startEmbeddedEngine({
      models: { tiny: makeTinyModel(join(folder, 'tiny')) },
      checkpoints: join(folder, 'checkpoints'),
      logFile: join(folder, 'engine.log'),
      dtype: 'float32',
      threads: 1,
    });
  });
  afterAll(async () => {
    await engine?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const random = new Random(3);
  const sequences = Array.from({ length: 6 }, () => {
    const tokens = Array.from({ length: random.int(4, 12) }, () => random.int(5, 60));
    return { promptTokens: [5, 6, random.int(7, 60)], tokens, mask: tokens.map((_, t) => (t % 4 === 3 ? 0 : 1)) };
  });

  /** Sequences as after a first update of a step: ratios are spread, so that bounds bite. */
  const trained = async (policy: Trainer): Promise<TrainedSequence[]> => {
    const noise = new Random(9);
    const logProbs = await policy.forward(sequences.map((sequence) => toDatum(sequence)));
    return sequences.map((sequence, i) => {
      const oldLogProbs = toResponse(sequence, logProbs[i]!).map((value, t) => (sequence.mask[t] === 1 ? value + (noise.next() - 0.5) : 0));
      return {
        sequence,
        advantage: i % 2 === 0 ? 1.1 : -0.8,
        oldLogProbs,
        samplerLogProbs: oldLogProbs.map((value, t) => (sequence.mask[t] === 1 ? value - 0.3 + 0.6 * noise.next() : 0)),
        referenceLogProbs: oldLogProbs,
      };
    });
  };

  const after = async (changes: Partial<Algorithm>, path: LossPath) => {
    const policy = await engine.createTrainer({ model: 'tiny' });
    const batch = await trained(policy);
    const result = await updatePolicy(policy, batch, algorithm(changes), adam, { path });
    const logProbs = await policy.forward(sequences.map((sequence) => toDatum(sequence)));
    await policy.unload();
    return { ...result!, logProbs: logProbs.flatMap((values) => [...values]) };
  };

  it.each([
    ['token ratio, Eq. 4', {}],
    ['token ratio, Eq. 5', { aggregation: 'sequence' }],
    ['dual clip', { dualClip: 1.2 }],
    ['truncated importance sampling', { truncatedImportanceSampling: 1.1 }],
  ] as const)('is the same both ways: %s', async (_, changes) => {
    const native = await after(changes, 'native');
    const custom = await after(changes, 'custom');
    expect(native.stats.clipFraction).toBeGreaterThan(0);
    expect(custom.loss).toBeCloseTo(native.loss, 6);
    expect(custom.gradNorm).toBeCloseTo(native.gradNorm, 4);
    expect(custom.stats).toEqual(native.stats);
    for (const [t, value] of custom.logProbs.entries()) expect(value).toBeCloseTo(native.logProbs[t]!, 4);
  });

  it('moves the policy towards positive and away from negative advantages', async () => {
    const policy = await engine.createTrainer({ model: 'tiny' });
    const batch = await trained(policy);
    const sum = async (): Promise<number[]> =>
      (await policy.forward(sequences.map((sequence) => toDatum(sequence)))).map((values) => values.reduce((a, b) => a + b, 0));
    const before = await sum();
    await updatePolicy(policy, batch, algorithm({}), adam);
    const now = await sum();
    const moved = now.map((value, i) => (value - before[i]!) * batch[i]!.advantage);
    expect(moved.reduce((a, b) => a + b, 0)).toBeGreaterThan(0);
    expect(policy.policyVersion).toBe(1);
    await policy.unload();
  });

  it('pulls towards the reference with a KL term alone', async () => {
    const policy = await engine.createTrainer({ model: 'tiny' });
    const batch = (await trained(policy)).map((entry) => ({ ...entry, advantage: 0 }));
    const gently = { ...adam, learningRate: 1e-3 };
    const result = await updatePolicy(policy, batch, algorithm({ klCoefficient: 1, klEstimator: 'k2' }), gently);
    expect(result!.kl).toBeGreaterThan(0);
    const again = await updatePolicy(policy, batch, algorithm({ klCoefficient: 1, klEstimator: 'k2' }), gently);
    expect(again!.kl).toBeLessThan(result!.kl);
    await policy.unload();
  });

  it('is not made where no sequence carries a gradient', async () => {
    const policy = await engine.createTrainer({ model: 'tiny' });
    const batch = (await trained(policy)).map((entry) => ({ ...entry, advantage: 0 }));
    expect(await updatePolicy(policy, batch, algorithm({}), adam)).toBeUndefined();
    expect(policy.policyVersion).toBe(0);
    await policy.unload();
  });
});
