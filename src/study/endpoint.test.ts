import { describe, expect, it } from 'vitest';
import type { ArmResult } from './armResult.js';
import { curvesOf } from './armResult.js';
import { type Check, checkOf, checkSchema, type Endpoint, endpointSchema, endpointValue } from './endpoint.js';

const result = (accuracy: (number | null)[], more: Partial<ArmResult> = {}): ArmResult => ({
  format: 1,
  arm: 'a',
  key: 'k',
  block: 0,
  seed: 1,
  curves: { rl: { 'rollout/accuracy': accuracy, 'train/clipHigh': accuracy.map(() => 0.002) } },
  steps: { rl: accuracy.length },
  evaluations: [
    { name: 'greedy', stage: 'rl', step: 4, metrics: { accuracy: 0.9, entropy: 0.1 } },
    { name: 'T=1', stage: 'rl', step: 0, metrics: { accuracy: 0.2 } },
    { name: 'T=1', stage: 'rl', step: 4, metrics: { accuracy: 0.5, 'passAt/8': null } },
  ],
  lost: 0,
  tokens: { written: 1, trained: 1 },
  seconds: 1,
  machine: {},
  ...more,
});
const endpoint = (value: unknown): Endpoint => endpointSchema.parse(value);

describe('an endpoint', () => {
  it('is the last evaluation of its name, in points where it is a share', () => {
    expect(endpointValue(result([]), endpoint({ final: 'accuracy', evaluation: 'T=1' }))).toBe(50);
    expect(endpointValue(result([]), endpoint({ final: 'entropy', evaluation: 'greedy' }))).toBe(0.1);
  });

  it('is the area under a curve between two steps, counted from 1', () => {
    expect(endpointValue(result([0.1, 0.2, 0.3, 0.6]), endpoint({ mean: 'rollout/accuracy', from: 2, to: 3 }))).toBeCloseTo(25);
    expect(endpointValue(result([0.1, 0.2, 0.3, 0.6]), endpoint({ mean: 'rollout/accuracy' }))).toBeCloseTo(30);
  });

  it('is the number of steps to a level, and one more than all where it is never reached', () => {
    const steps = { stepsTo: 'rollout/accuracy', window: 2 };
    expect(endpointValue(result([0.1, 0.3, 0.5, 0.7]), endpoint({ ...steps, reach: 0.4 }))).toBe(3);
    expect(endpointValue(result([0.1, 0.3, 0.5, 0.7]), endpoint({ ...steps, reach: 0.9 }))).toBe(5);
  });

  it('counts a run that diverged with what it had', () => {
    expect(endpointValue(result([0.1, 0.3, null, null]), endpoint({ mean: 'rollout/accuracy' }))).toBeCloseTo(25);
  });

  it('is in points for the share that pays for its length, and not for what is paid', () => {
    const { curves, ...rest } = result([]);
    const both = { ...rest, curves: { ...curves, rl: { 'rollout/overlongShare': [0.2], 'reward/overlong': [-0.2] } } };
    expect(endpointValue(both, endpoint({ mean: 'rollout/overlongShare' }))).toBeCloseTo(20);
    expect(endpointValue(both, endpoint({ mean: 'reward/overlong' }))).toBeCloseTo(-0.2);
  });

  it('is undefined where the result does not hold it', () => {
    const missing = [{ final: 'nothing' }, { final: 'passAt/8' }, { mean: 'no/curve' }, { final: 'accuracy', evaluation: 'x' }];
    for (const each of missing) expect(endpointValue(result([0.5]), endpoint(each))).toBeUndefined();
  });
});

describe('a check', () => {
  const of = (check: unknown, ...results: ArmResult[]) => checkOf(checkSchema.parse(check) as Check, () => results);
  it('asks for a mean over steps and blocks, as the metric is written', () => {
    expect(of({ arm: 'a', mean: 'train/clipHigh', atLeast: 0.001 }, result([0.5]), result([0.5]))).toMatchObject({ holds: true });
    const missed = of({ arm: 'a', mean: 'train/clipHigh', atLeast: 0.01 }, result([0.5]));
    expect(missed).toMatchObject({ holds: false, text: 'train/clipHigh of a is 0.002; at least 0.01 is needed' });
  });
  it('does not hold where nothing was measured', () => {
    expect(of({ arm: 'a', mean: 'train/klReference', atLeast: 0 }, result([0.5])).holds).toBe(false);
    expect(of({ arm: 'a', mean: 'train/clipHigh', atLeast: 0 }).holds).toBe(false);
  });
  it('is of RL where it names no stage', () => {
    const both = { ...result([0.5]), curves: { sft: { 'train/loss': [2, 1] }, rl: { 'train/loss': [0.5] } } };
    expect(of({ arm: 'a', mean: 'train/loss', atLeast: 1 }, both)).toMatchObject({
      holds: false,
      text: 'train/loss of a is 0.5; at least 1 is needed',
    });
    expect(of({ arm: 'a', mean: 'train/loss', stage: 'sft', atLeast: 1 }, both)).toMatchObject({
      ...{ holds: true, text: 'train/loss of a in sft is 1.5; at least 1 is needed' },
    });
    // plans that have run are known by a hash of their claims
    expect(checkSchema.parse({ arm: 'a', mean: 'train/loss', atLeast: 1 })).toEqual({ arm: 'a', mean: 'train/loss', from: 1, atLeast: 1 });
  });
  it('asks that two arms differ, whichever is above', () => {
    const results = { a: [result([0.2])], b: [result([0.5])] };
    const check = checkSchema.parse({ arms: ['a', 'b'], endpoint: { mean: 'rollout/accuracy' }, differBy: 20 });
    expect(checkOf(check, (arm) => results[arm as 'a' | 'b'])).toMatchObject({ holds: true });
  });
});

describe('curves', () => {
  it('have a value a step, null where there was none', () => {
    const steps = [
      { step: 0, metrics: { a: 1 / 3, b: Number.NaN } },
      { step: 1, metrics: { a: 2 } },
    ];
    expect(curvesOf(steps, 3)).toEqual({ a: [0.333333, 2, null], b: [null, null, null] });
  });
});
