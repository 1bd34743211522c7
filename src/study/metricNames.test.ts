/** The list of names against the code that gives the numbers, and against results that came out of it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { metricsOf } from '../evaluation/evaluate.js';
import { accuracy } from '../evaluation/metrics.js';
import { modesOf } from '../evaluation/modes.js';
import { samplingSettings } from '../evaluation/samplingSettings.js';
import { resolveRecipe } from '../recipe/load.js';
import type { RecipeInput } from '../recipe/schema.js';
import { rolloutStatistics } from '../rollout/statistics.js';
import { packageRoot } from '../setup/paths.js';
import { updateMetrics } from '../training/rlMetrics.js';
import type { ArmResult } from './armResult.js';
import { curveNames, evaluationNames, whyNot } from './metricNames.js';

const recipe = resolveRecipe({
  extends: 'nano',
  name: 'arm',
  rl: { steps: 4, refresh: { everySteps: 2 }, async: {}, algorithm: { oldLogProbs: 'trainer', truncatedImportanceSampling: 2 } },
  evaluation: { samples: 8, topK: 5 },
} as unknown as RecipeInput);
const rl = curveNames(recipe, 'rl');
const sft = curveNames(recipe, 'sft');
const [main] = samplingSettings(recipe, false);

/** Where steps are given their numbers. */
const MAKERS = ['rl', 'rlMetrics', 'sft', 'refresh', 'asyncRollouts', 'asyncPosition', 'trainingRun'];

describe('the names of curves', () => {
  it('are all that the code of the stages writes, and no others', () => {
    const written = MAKERS.flatMap((file) => {
      const text = readFileSync(join(packageRoot(), 'src', 'training', `${file}.ts`), 'utf8');
      return [...text.matchAll(/'((?:rollout|reward|groups|train|seconds|refresh|async)\/\w+)'/g)].map((match) => match[1]!);
    });
    expect(written.length).toBeGreaterThan(50);
    const known = new Set([...rl.names.keys(), ...sft.names.keys()]);
    expect(written.filter((name) => !known.has(name))).toEqual([]);
    // named there by a part of a reward or by a label of difficulty
    const made = ['reward/outcome', 'reward/tool', 'reward/overlong', 'refresh/easy', 'refresh/medium', 'refresh/hard'];
    expect([...known].filter((name) => !written.includes(name)).sort()).toEqual(made.sort());
    for (const name of Object.keys(updateMetrics([]))) expect(whyNot(rl, name, '')).toBeUndefined();
  });
});

describe('the names of metrics', () => {
  it('are all that an evaluation gives', () => {
    const perProblem = [
      { problemId: 'p', samples: Array.from({ length: 8 }, (_, i) => ({ kind: 'graded', correct: i < 3, answer: String(i) }) as const) },
    ];
    const metrics = metricsOf({
      setting: main!,
      accuracy: accuracy(perProblem, { passAt: [1, 2, 4, 8] }),
      statistics: { ...rolloutStatistics([]), toolSuccess: 1 },
      modes: modesOf([]),
      seconds: 1,
      rollouts: [],
    });
    const names = evaluationNames(recipe, main!);
    expect(Object.keys(metrics).filter((name) => whyNot(names, name, 'is unknown') !== undefined)).toEqual([]);
    const given = [...names.names].flatMap(([name, needs]) => (needs === undefined ? [name] : []));
    expect(given.filter((name) => !(name in metrics))).toEqual([]);
  });
});

describe('results that have come out', () => {
  it('hold no number of another name', () => {
    const folder = join(packageRoot(), 'studies', 'findings', 'results');
    const { topK: _, ...open } = main!;
    const names = evaluationNames(recipe, open);
    for (const file of readdirSync(folder)) {
      const result = JSON.parse(readFileSync(join(folder, file), 'utf8')) as ArmResult;
      for (const curve of Object.keys(result.curves.rl ?? {})) expect(whyNot(rl, curve, `${file} has`), curve).toBeUndefined();
      for (const curve of Object.keys(result.curves.sft ?? {})) expect(whyNot(sft, curve, `${file} has`), curve).toBeUndefined();
      for (const { metrics } of result.evaluations)
        for (const metric of Object.keys(metrics)) expect(whyNot(names, metric, `${file} has`), metric).toBeUndefined();
    }
  });
});
