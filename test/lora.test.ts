/** The paper's recipes with adapters and with every weight, on the real engine and a tiny random model: KL term, sequence ratio, resume. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Trajectory } from '../src/domain/trajectory.js';
import { evaluate } from '../src/evaluation/evaluateModel.js';
import type { RecipeInput } from '../src/recipe/schema.js';
import { openRun } from '../src/runs/reader.js';
import { train } from '../src/training/train.js';
import { missingForEndToEnd } from './support.js';
import { makeTinyModel } from './tinyModel.js';

const missing = await missingForEndToEnd('nano');
const folder = mkdtempSync(join(tmpdir(), 'lora-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ALGORITHMS = {
  'GRPO-T with its KL term': { klCoefficient: 0.001, clipLow: 0.2, clipHigh: 0.2 },
  'GRPO-SCR with its sequence ratio': {
    oldLogProbs: 'trainer',
    ratio: 'sequence',
    aggregation: 'sequence',
    clipLow: 0.0003,
    clipHigh: 0.0004,
  },
} as const;

/** A random model is never right; of even tokens it writes now more, now fewer. */
const evenTokens = ({ tokens }: Trajectory): number => tokens.filter((id) => id % 2 === 0).length / tokens.length;

describe.skipIf(missing !== undefined)(`training${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  const model = makeTinyModel(join(folder, 'tiny'));

  const recipe = (algorithm: object, loraRank: number, steps: number): RecipeInput => ({
    name: 'tiny',
    extends: 'nano',
    model,
    loraRank,
    trainUnembed: false,
    stages: ['rl'],
    engine: { threads: 1 },
    problems: { train: { kind: 'calc-small' }, evaluation: { kind: 'calc-small', count: 4 } },
    rl: {
      steps,
      groupsPerStep: 4,
      groupSize: 4,
      updatesPerStep: 2,
      epochs: 1,
      learningRate: 2e-3,
      algorithm,
    },
    limits: { turnTokens: 24, responseTokens: 60 },
    evaluation: { samples: 1, extra: [], base: false, everySteps: 0 },
  });

  for (const [name, algorithm] of Object.entries(ALGORITHMS)) {
    it.each([0, 4])(`${name} runs at rank %i`, { timeout: 120_000 }, async (rank) => {
      const out = join(folder, `${name.slice(0, 8).trim()}-${rank}`);
      const { checkpoint } = await train({ recipe: recipe(algorithm, rank, 2), reward: evenTokens, out });
      expect(checkpoint).toBeDefined();
      const run = openRun(out);
      const steps = run.steps('rl').map(({ metrics }) => metrics);
      run.close();
      expect(steps).toHaveLength(2);
      for (const metrics of steps) {
        expect(metrics['groups/zeroVariance']).toBe(0);
        expect(metrics['train/gradNorm']).toBeGreaterThan(1e-3);
        expect(metrics['train/samplerGap'] ?? 0).toBeLessThan(1e-3);
      }
      // The policy has left the reference by the second step; narrow bounds clip what a step moves.
      if ('klCoefficient' in algorithm) expect(steps[1]!['train/kl']).toBeGreaterThan(1e-6);
      else expect(steps[0]!['train/clipHigh']! + steps[0]!['train/clipLow']!).toBeGreaterThan(0);
    });
  }

  it('an adapter is evaluated from its run', { timeout: 120_000 }, async () => {
    const { result } = await evaluate({ model: join(folder, 'GRPO-T w-4'), count: 4, samples: 2, out: join(folder, 'evaluated') });
    expect(result.accuracy.infra).toBe(0);
    expect(result.rollouts).toHaveLength(8);
  });
});
