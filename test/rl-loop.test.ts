/** The teaching loop of `examples/rl-loop.ts` and the trainer, from the same seed: equal rewards, losses and gradients. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { loop } from '../examples/rl-loop.js';
import { openRun } from '../src/runs/reader.js';
import { train } from '../src/training/train.js';
import { missingForEndToEnd } from './support.js';

const folder = mkdtempSync(join(tmpdir(), 'rl-loop-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const missing = await missingForEndToEnd('nano');

describe.skipIf(missing !== undefined)(`examples/rl-loop.ts${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  it('is the trainer, to the last bit', { timeout: 180_000 }, async () => {
    const steps = 2;
    const lines: string[] = [];
    const taught = await loop({ seed: 5, steps, groups: 4, groupSize: 4, updates: 2 }, (line) => lines.push(line));
    await train({
      recipe: 'nano',
      set: [
        'seed=5',
        `rl.steps=${steps}`,
        'rl.groupsPerStep=4',
        'rl.groupSize=4',
        'rl.updatesPerStep=2',
        'engine.deterministic=true',
        'evaluation.base=false',
        'problems.evaluation.count=1',
        'evaluation.extra=[]',
      ],
      out: folder,
    });
    const run = openRun(folder);
    const trained = run.steps('rl').map(({ metrics }) => ({
      reward: metrics['reward/total'],
      accuracy: metrics['rollout/accuracy'],
      loss: metrics['train/loss'],
      gradNorm: metrics['train/gradNorm'],
    }));
    run.close();
    expect(trained).toEqual(taught);
    expect(taught.some(({ gradNorm }) => gradNorm > 0)).toBe(true);
  });
});
