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
    expect(measuredSpeed(join(folder, 'absent'), someInfo().recipe, false)).toBeUndefined();
    mkdirSync(join(folder, 'broken', 'run'), { recursive: true });
    writeFileSync(join(folder, 'broken', 'run', 'run.sqlite'), 'no database');
    expect(measuredSpeed(join(folder, 'broken'), someInfo().recipe, false)).toBeUndefined();
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
    const found = measuredSpeed(join(folder, 'runs'), info.recipe, false);
    expect(found).toMatchObject({ run: out, tokensPerRollout: 50, generation: (100 * rollouts) / 40 });
    expect(found!.training).toBeCloseTo((100 * rollouts * info.recipe.rl!.epochs) / 80);
    expect(measuredSpeed(join(folder, 'runs'), { ...info.recipe, model: 'another' }, false)).toBeUndefined();
    const { engine } = info.recipe;
    for (const other of [{ device: 'cuda' }, { dtype: 'bfloat16' }, { threads: 7 }] as const)
      expect(measuredSpeed(join(folder, 'runs'), { ...info.recipe, engine: { ...engine, ...other } }, false)).toBeUndefined();
    writer.close();
    const ahead = { ...info.recipe, rl: { ...info.recipe.rl!, async: { staleness: 1, stale: 'wait' } } } as const;
    const asynchronous = RunWriter.create(join(folder, 'async', 'run'), { ...info, recipe: ahead });
    asynchronous.sink({ kind: 'stepEnded', stage: 'rl', step: 0, metrics: { 'rollout/modelTokens': 50, 'seconds/generation': 1 } });
    asynchronous.close();
    expect(measuredSpeed(join(folder, 'async'), info.recipe, false)).toBeUndefined();
  });

  it('is not that of the CPU where a GPU is going to compute, nor the other way round', () => {
    const info = someInfo();
    const made = (out: string, device: string): void => {
      const writer = RunWriter.create(join(folder, out, 'run'), { ...info, extra: { device } });
      writer.sink({ kind: 'stepEnded', stage: 'rl', step: 0, metrics: { 'rollout/modelTokens': 50, 'seconds/generation': 1 } });
      writer.close();
    };
    made('on-cpu', 'cpu');
    made('on-gpu', 'cuda');
    const found = (out: string, gpu: boolean) => measuredSpeed(join(folder, out), info.recipe, gpu) !== undefined;
    expect([found('on-cpu', false), found('on-cpu', true), found('on-gpu', false), found('on-gpu', true)]).toEqual([
      true,
      false,
      false,
      true,
    ]);
    const cpu = { ...info.recipe, engine: { ...info.recipe.engine, device: 'cpu' } } as const;
    expect(measuredSpeed(join(folder, 'on-cpu'), cpu, true)).toBeDefined();
  });

  it('counts the passes that this run makes and that one did not', () => {
    const info = someInfo();
    const algorithm = info.recipe.rl!.algorithm;
    const withKl = {
      ...info.recipe,
      rl: { ...info.recipe.rl!, algorithm: { ...algorithm, klCoefficient: 0.01, oldLogProbs: 'sampler' } },
    } as const;
    const without = { ...withKl, rl: { ...withKl.rl, algorithm: { ...withKl.rl.algorithm, klCoefficient: 0 } } } as const;
    const writer = RunWriter.create(join(folder, 'passes', 'run'), { ...info, recipe: without });
    const metrics = { 'rollout/modelTokens': 50, 'seconds/generation': 1, 'seconds/training': 1 };
    writer.sink({ kind: 'stepEnded', stage: 'rl', step: 0, metrics });
    writer.close();
    const speed = (recipe: typeof info.recipe) => measuredSpeed(join(folder, 'passes'), recipe, false)!.training!;
    expect(speed(without) / speed(withKl)).toBeCloseTo(8 / 6);
  });
});
