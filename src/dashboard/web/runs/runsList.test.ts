import { describe, expect, it } from 'vitest';
import type { RunSummary } from '../../api.js';
import { mergedSummary } from './mergedSummary.js';
import { filterRuns, headline, newestAccuracy, rowsOf, sortRuns } from './runsList.js';
import { sparkAppend, sparkFrom, sparkPath } from './spark.js';

const run = (id: string, over: Partial<RunSummary> = {}): RunSummary => ({
  id,
  name: id.split('/').at(-1)!,
  state: 'ended',
  updatedAt: '2026-01-01T00:00:00Z',
  stages: [],
  last: {},
  evaluations: [],
  trajectories: 0,
  ...over,
});
const ids = (runs: readonly RunSummary[]): string[] => runs.map(({ id }) => id);

describe('the list of runs', () => {
  it('finds runs by all words, in any of what is told of them', () => {
    const runs = [run('demo/act-1', { recipe: 'nano', seed: 1 }), run('demo/act-2', { recipe: 'demo', model: 'smollm2' })];
    expect(ids(filterRuns(runs, { text: 'DEMO smol' }))).toEqual(['demo/act-2']);
    expect(ids(filterRuns(runs, { text: 'seed 1' }))).toEqual(['demo/act-1']);
    expect(ids(filterRuns(runs, { text: '', state: 'running' }))).toEqual([]);
  });

  it('sorts names as people count, and puts what has no value last either way', () => {
    const runs = [run('act-10', { last: { 'rollout/accuracy': 0.5 } }), run('act-2'), run('act-1', { last: { 'rollout/accuracy': 0.9 } })];
    expect(ids(sortRuns(runs, 'name', false))).toEqual(['act-1', 'act-2', 'act-10']);
    expect(ids(sortRuns(runs, 'accuracy', true))).toEqual(['act-1', 'act-10', 'act-2']);
    expect(ids(sortRuns(runs, 'accuracy', false))).toEqual(['act-10', 'act-1', 'act-2']);
  });

  it('groups by folder in the order of the runs', () => {
    const rows = rowsOf([run('b/1'), run('a/1'), run('b/2'), run('x')], true);
    expect(rows.map((row) => (row.kind === 'folder' ? `[${row.folder} ${row.count}]` : row.run.id))).toEqual([
      '[b 2]',
      'b/1',
      'b/2',
      '[a 1]',
      'a/1',
      'x',
    ]);
  });

  it('tells the number that matters', () => {
    expect(headline({ last: { 'train/loss': 1, 'reward/total': null } })).toEqual({ metric: 'train/loss', value: 1 });
    expect(headline({ last: {} })).toBeUndefined();
    const evaluations = [
      { name: 'greedy', stage: 'rl', step: 1, metrics: { accuracy: 0.9 } },
      { name: 'main', stage: 'rl', step: 1, metrics: { accuracy: 0.5 } },
    ] as const;
    expect(newestAccuracy({ evaluations })?.name).toBe('main');
  });

  it('goes on with live steps and evaluations', () => {
    const before = run('a', {
      stages: [{ stage: 'rl', steps: 8, done: 1, startedAt: '' }],
      evaluations: [{ name: 'main', stage: 'rl', step: 0, metrics: {} }],
    });
    const stepped = mergedSummary(before, { kind: 'steps', run: 'a', stage: 'rl', step: 4, metrics: { 'reward/total': 1 } }, 'now');
    expect([stepped.stages[0]!.done, stepped.last['reward/total'], stepped.updatedAt]).toEqual([5, 1, 'now']);
    const evaluation = { name: 'main', stage: 'rl', step: 5, metrics: { accuracy: 1 } } as const;
    expect(mergedSummary(stepped, { kind: 'evaluation', run: 'a', evaluation }, 'now').evaluations).toEqual([evaluation]);
  });
});

describe('a sparkline', () => {
  it('leaves out what is unknown and stays short however long the run is', () => {
    let data = sparkFrom({ steps: [0, 1, 2], values: [1, null, 3] });
    expect(data).toEqual({ values: [1, 3], lastStep: 2 });
    for (let step = 3; step < 500; step++) data = sparkAppend(data, step, step, 40);
    expect(data.values.length).toBeLessThanOrEqual(40);
    expect(data.lastStep).toBe(499);
  });

  it('fills its box', () => {
    expect(sparkPath([0, 1], 103, 23)).toBe('M1.5 21.5L101.5 1.5');
    expect(sparkPath([5, 5], 103, 24)).toBe('M1.5 12.0L101.5 12.0');
  });
});
