import { describe, expect, it } from 'vitest';
import type { RunDetail } from '../../api.js';
import { dotsOf, evaluationsOn, marksOf } from './curveMarks.js';
import { isMain, panelsFor } from './panels.js';
import { mainStage, secondsLeft } from './progress.js';
import { STEP_SCALE, sumScale, X_STEPS, X_TICKS } from './xAxis.js';

describe('panels', () => {
  it('put every metric on exactly one chart, the known ones first', () => {
    const names = [
      'zeta',
      'reward/total',
      'reward/mine',
      'train/kl',
      'seconds/step',
      'seconds/tools',
      'seconds/generation',
      'seconds/training',
      'async/lag',
    ];
    const panels = panelsFor(names);
    expect(panels.flatMap(({ lines }) => lines.map(({ metric }) => metric)).sort()).toEqual([...names].sort());
    expect(panels.map(({ key }) => key)).toEqual(['reward', 'kl', 'seconds', 'async/lag', 'seconds/step', 'seconds/tools', 'zeta']);
    expect(panels.filter(isMain)).toHaveLength(3);
  });

  it('stack only phases that follow one another: neither the step itself nor calls that run side by side', () => {
    const seconds = panelsFor(['seconds/step', 'seconds/tools', 'seconds/generation', 'seconds/training', 'seconds/mine']).find(
      ({ stack }) => stack,
    );
    expect(seconds?.lines.map(({ label }) => label)).toEqual(['generation', 'training', 'mine']);
  });

  it('begin rewards with the total', () => {
    expect(panelsFor(['reward/a', 'reward/total'])[0]!.lines.map(({ label }) => label)).toEqual(['total', 'a']);
  });
});

describe('axes', () => {
  it('of time have ticks at whole seconds, minutes, hours, days', () => {
    expect([0, 0.5, 30, 60, 900, 5400, 7200, 172_800].map(X_TICKS.time)).toEqual([
      '0',
      '0.5 s',
      '30 s',
      '1 min',
      '15 min',
      '90 min',
      '2 h',
      '2 d',
    ]);
    for (const steps of Object.values(X_STEPS)) expect([...steps].sort((a, b) => a - b)).toEqual(steps);
  });

  it('of time and tokens add up what the steps took, there and back', () => {
    const { toX, toSteps } = sumScale({ steps: Float64Array.of(1, 3), values: Float64Array.of(10, 20), counts: Float64Array.of(2, 2) });
    expect([0, 1, 2, 3, 4].map(toX)).toEqual([0, 10, 20, 40, 60]);
    expect([0, 10, 40, 60].map(toSteps)).toEqual([0, 1, 3, 4]);
  });
});

const run = (over: Partial<RunDetail>): RunDetail => ({
  id: 'a/b',
  name: 'b',
  state: 'ended',
  updatedAt: '2026-01-01T00:00:00Z',
  stages: [],
  last: {},
  evaluations: [],
  trajectories: 0,
  versions: {},
  extra: {},
  metricNames: {},
  allEvaluations: [],
  checkpoints: [],
  notes: [],
  splits: [],
  ...over,
});

describe('marks of a run', () => {
  const evaluations = [
    { name: 'main', stage: 'base', step: 0, metrics: { accuracy: 0.1 } },
    { name: 'main', stage: 'sft', step: 16, metrics: { accuracy: 0.2, intervalLow: 0.1, intervalHigh: 0.3 } },
    { name: 'greedy', stage: 'sft', step: 16, metrics: { accuracy: 0.3 } },
    { name: 'main', stage: 'rl', step: 8, metrics: { accuracy: 0.5 } },
  ] as const;

  it('begin a stage with the evaluations of what it began from', () => {
    const detail = run({ allEvaluations: evaluations });
    expect(evaluationsOn('rl', detail).map(({ evaluation, steps }) => [evaluation.stage, evaluation.name, steps])).toEqual([
      ['sft', 'main', 0],
      ['sft', 'greedy', 0],
      ['rl', 'main', 8],
    ]);
    expect(evaluationsOn('sft', detail).map(({ steps }) => steps)).toEqual([0, 16, 16]);
  });

  it('lead to the rollouts of an evaluation and to the checkpoints', () => {
    const detail = run({
      allEvaluations: evaluations,
      checkpoints: [{ path: 'p', stage: 'rl', step: 5, policyVersion: 1, optimizer: true, reason: 'best' }],
    });
    const marks = marksOf(detail, 'rl', STEP_SCALE);
    expect(marks.map(({ x, kind }) => [x, kind])).toEqual([
      [0, 'evaluation'],
      [0, 'evaluation'],
      [8, 'evaluation'],
      [5, 'checkpoint'],
    ]);
    expect(marks[2]!.href).toBe('#/run/a%2Fb/trajectories?stage=rl&fromStep=8&toStep=8&split=main');
  });

  it('put dots of one evaluation beside the curve of training', () => {
    expect(dotsOf(run({ allEvaluations: evaluations }), 'rl', STEP_SCALE, 1)).toEqual([
      { x: 0, y: 0.2, low: 0.1, high: 0.3, colour: 1 },
      { x: 8, y: 0.5, colour: 1 },
    ]);
  });
});

describe('progress', () => {
  const startedAt = '2026-01-01T00:00:00Z';
  const now = Date.parse('2026-01-01T00:10:00Z');

  it('tells the time left at the speed so far', () => {
    expect(secondsLeft({ stage: 'rl', steps: 30, done: 10, startedAt }, '2026-01-01T00:10:00Z', now)).toBe(1200);
    expect(secondsLeft({ stage: 'rl', steps: 30, done: 10, startedAt }, '2026-01-01T00:09:30Z', now)).toBe(1110);
  });

  it('says nothing where nobody can know', () => {
    for (const stage of [
      { steps: 30, done: 0 },
      { steps: 0, done: 0 },
      { steps: 30, done: 30 },
      { steps: 30, done: 3, endedAt: startedAt },
    ])
      expect(secondsLeft({ stage: 'rl', startedAt, ...stage }, startedAt, now)).toBeUndefined();
  });

  it('is of the stage that runs, else of the last', () => {
    const base = { stage: 'base', steps: 0, done: 0, startedAt, endedAt: startedAt } as const;
    const sft = { stage: 'sft', steps: 16, done: 16, startedAt, endedAt: startedAt } as const;
    const rl = { stage: 'rl', steps: 8, done: 1, startedAt } as const;
    expect(mainStage({ stages: [base, sft, rl] })?.stage).toBe('rl');
    expect(mainStage({ stages: [base, sft] })?.stage).toBe('sft');
    expect(mainStage({ stages: [base] })?.stage).toBe('base');
    expect(mainStage({ stages: [] })).toBeUndefined();
  });
});
