/** Asynchronous RL on the real engine, cut off and gone on with: no rollout is older than allowed, and no group is trained twice. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openRun } from '../src/runs/reader.js';
import { train } from '../src/training/train.js';
import { missingForEndToEnd } from './support.js';
import { makeTinyModel } from './tinyModel.js';

const missing = await missingForEndToEnd('nano');
const folder = mkdtempSync(join(tmpdir(), 'async-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const STEPS = 4;
const GROUPS = 3;

describe.skipIf(missing !== undefined)(`asynchronous RL${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  it('trains, is cut off in the midst, and goes on', { timeout: 240_000 }, async () => {
    const out = join(folder, 'run');
    const recipe = {
      name: 'tiny',
      extends: 'nano',
      stages: ['rl' as const],
      model: makeTinyModel(join(folder, 'tiny')),
      engine: { threads: 1 },
      problems: { train: { kind: 'calc-small' as const, count: 16 }, evaluation: { kind: 'calc-small' as const, count: 2 } },
      rl: {
        ...{ steps: STEPS, groupsPerStep: GROUPS, groupSize: 3, updatesPerStep: 1, learningRate: 1e-3 },
        async: { staleness: 1 },
        dynamicSampling: { maxBatches: 2 },
        algorithm: { truncatedImportanceSampling: 2, oldLogProbs: 'trainer' as const },
      },
      limits: { turnTokens: 24, responseTokens: 60 },
      evaluation: { extra: [], base: false },
    };
    const stop = new AbortController();
    const cut = train({
      recipe,
      out,
      signal: stop.signal,
      onEvent: (event) => {
        if (event.kind === 'stepEnded' && event.step === 1) setTimeout(() => stop.abort(new Error('cut off')), 50);
      },
    });
    await expect(cut).rejects.toThrow('cut off');
    await train({ recipe, out, resume: true });

    const run = openRun(out);
    const steps = run.steps('rl');
    const records = [...run.records({ stage: 'rl', split: 'train' })];
    run.close();
    expect(steps.map(({ step }) => step)).toEqual([0, 1, 2, 3]);
    const version = (step: number): number => steps.slice(0, step).reduce((sum, { metrics }) => sum + metrics['train/updates']!, 0);
    for (const { step, sampledFrom, trajectory } of records) {
      expect(step - sampledFrom!).toBeGreaterThanOrEqual(0);
      expect(step - sampledFrom!).toBeLessThanOrEqual(1);
      for (const turn of trajectory.turns) expect(turn.policyVersion).toBe(version(sampledFrom!));
    }
    const stepsOf = new Map<string, Set<number>>();
    for (const { step, trajectory } of records) {
      const place = trajectory.groupId.split('/').at(-1)!;
      stepsOf.set(place, (stepsOf.get(place) ?? new Set()).add(step));
    }
    expect([...stepsOf.values()].every((of) => of.size === 1)).toBe(true);
    expect(new Set(records.map(({ trajectory }) => trajectory.trajectoryId)).size).toBe(records.length);
    expect(stepsOf.size).toBeGreaterThanOrEqual(STEPS);
    // The first step after an interruption has nothing in flight: it samples from the policy it starts from.
    expect(records.some(({ step, sampledFrom }) => step === sampledFrom! + 1)).toBe(true);
    expect(steps.every(({ metrics }) => Number.isFinite(metrics['train/samplerGap']))).toBe(true);
  });
});
