/** nano learns: seeded RL through every real part (engine, sandbox, wire) raises accuracy on problems it has never seen. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { train } from '../src/training/train.js';
import { missingForEndToEnd } from './support.js';

const missing = await missingForEndToEnd('nano');
const folder = mkdtempSync(join(tmpdir(), 'learning-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.skipIf(missing !== undefined)(`nano${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  it('gains at least 20 points in 16 steps of GRPO-TCR', { timeout: 900_000 }, async () => {
    const { report } = await train({
      recipe: 'nano',
      set: ['seed=11', 'engine.deterministic=true', 'rl.steps=16', 'problems.evaluation.count=256', 'evaluation.extra=[]'],
      out: folder,
    });
    const { base, rl } = report.stages;
    expect(base!.problems).toBe(256);
    expect(rl!.accuracy! - base!.accuracy!).toBeGreaterThanOrEqual(0.2);
    expect(rl!.lost).toBe(0);
  });
});
