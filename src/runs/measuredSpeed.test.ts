import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { someInfo } from '../../test/support/someRun.js';
import { measuredSpeed } from './measuredSpeed.js';
import { RunWriter } from './writer.js';

const folder = mkdtempSync(join(tmpdir(), 'measured-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('what earlier runs measured', () => {
  it('is nothing where there are none, or none that can be read', () => {
    expect(measuredSpeed(join(folder, 'absent'), someInfo().recipe)).toBeUndefined();
    mkdirSync(join(folder, 'broken', 'run'), { recursive: true });
    writeFileSync(join(folder, 'broken', 'run', 'run.sqlite'), 'no database');
    expect(measuredSpeed(join(folder, 'broken'), someInfo().recipe)).toBeUndefined();
  });

  it('is the speed of a run of the same model that made steps, also a folder deeper', () => {
    const info = someInfo();
    const out = join(folder, 'runs', 'demo', 'act-1');
    const writer = RunWriter.create(out, info);
    for (const [step, seconds] of [10, 30].entries()) {
      const metrics = { 'rollout/modelTokens': 50, 'seconds/generation': seconds, 'seconds/training': 2 * seconds };
      writer.sink({ kind: 'stepEnded', stage: 'rl', step, metrics });
    }
    const rollouts = info.recipe.rl!.groupsPerStep * info.recipe.rl!.groupSize;
    const found = measuredSpeed(join(folder, 'runs'), info.recipe);
    expect(found).toMatchObject({ run: out, tokensPerRollout: 50, generation: (100 * rollouts) / 40 });
    expect(found!.training).toBeCloseTo((100 * rollouts * info.recipe.rl!.epochs) / 80);
    expect(measuredSpeed(join(folder, 'runs'), { ...info.recipe, model: 'another' })).toBeUndefined();
    const { engine } = info.recipe;
    expect(measuredSpeed(join(folder, 'runs'), { ...info.recipe, engine: { ...engine, device: 'cuda' } })).toBeUndefined();
    writer.close();
  });
});
