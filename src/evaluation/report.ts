/** `report.json` and `report.html` of a run: what each stage came to, read from the run's store. Does not print. */
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EvaluationRecord, Stage } from '../domain/event.js';
import { openRun, type Run } from '../runs/reader.js';
import { reportPage } from './reportPage.js';

/** A stage's last evaluation. Shares are in [0, 1]; a value that was not measured is null. */
export interface StageReport {
  /** avg@n under the recipe's main sampling. */
  readonly accuracy: number | null;
  /** 95 % bootstrap interval over problems. */
  readonly interval: readonly [number, number] | null;
  readonly problems: number;
  /** Rollouts a problem. */
  readonly samples: number;
  readonly temperature: number;
  readonly topP: number;
  readonly accuracyTopP06: number | null;
  readonly intervalTopP06: readonly [number, number] | null;
  readonly greedy: number | null;
  readonly intervalGreedy: readonly [number, number] | null;
  /** Share of executed calls that succeeded; null where nothing was called. */
  readonly toolSuccess: number | null;
  readonly callsPerRollout: number;
  /** Share of rollouts with a call that could not be read. */
  readonly malformed: number;
  readonly truncated: number;
  /** Tokens a rollout that the model wrote. */
  readonly tokens: number;
  /** Rollouts that infrastructure took. */
  readonly lost: number;
  /** maj@n. */
  readonly majority: number | null;
  /** By k, over valid rollouts. */
  readonly passAt: Readonly<Record<string, number>>;
  readonly majorityAt: Readonly<Record<string, number>>;
  /** best@k as the released code resamples it; not pass@k. */
  readonly referenceBestAt: Readonly<Record<string, number>>;
  /** Shares of rollouts: see `modes.ts`. */
  readonly deliberative: number | null;
  readonly reactive: number | null;
}

export interface Report {
  readonly recipe: string;
  readonly seed: number;
  readonly model: { readonly name: string; readonly source?: string };
  readonly weightsHash: string | null;
  readonly stages: Partial<Record<Stage, StageReport>>;
  /** Wall-clock seconds by phase, over all sittings of the run. */
  readonly seconds: Readonly<Record<string, number>>;
  readonly steps: Partial<Record<Stage, number>>;
  readonly versions: Readonly<Record<string, string>>;
  readonly machine: Readonly<Record<string, unknown>>;
  /** Of an evaluation on a benchmark: file, mode, warnings, and the paper's scores in percent. */
  readonly benchmark?: unknown;
}

/** Reads the run in a folder and writes its `report.json`, and `report.html` for a person. */
export function writeReport(folder: string): Report {
  const run = openRun(folder);
  try {
    const report = buildReport(run);
    replaceFile(join(folder, 'report.json'), `${JSON.stringify(report, null, 2)}\n`);
    replaceFile(join(folder, 'report.html'), reportPage(run));
    return report;
  } finally {
    run.close();
  }
}

function replaceFile(file: string, text: string): void {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}

export function buildReport(run: Run): Report {
  const { info } = run;
  const stages: Partial<Record<Stage, StageReport>> = {};
  const steps: Partial<Record<Stage, number>> = {};
  const { benchmark, ...machine } = info.extra ?? {};
  for (const stage of ['base', 'sft', 'rl'] as const) {
    const rows = run.evaluations().filter((row) => row.stage === stage);
    const last = rows.filter(({ name }) => name === 'main').at(-1);
    if (last)
      stages[stage] = stageReport(
        last,
        rows.filter(({ step }) => step === last.step),
      );
    const done = run.lastStep(stage);
    if (done !== undefined) steps[stage] = done + 1;
  }
  return {
    recipe: info.recipe.name,
    seed: info.seed,
    model: { name: info.model.name, ...(info.model.source !== undefined && { source: info.model.source }) },
    weightsHash: info.model.weightsHash ?? null,
    stages,
    seconds: secondsByPhase(run),
    steps,
    versions: info.versions,
    machine,
    ...(benchmark !== undefined && { benchmark }),
  };
}

function stageReport(main: EvaluationRecord, rows: readonly EvaluationRecord[]): StageReport {
  const of = (name: string): EvaluationRecord['metrics'] | undefined => rows.find((row) => row.name === name)?.metrics;
  const interval = (metrics: EvaluationRecord['metrics'] | undefined): [number, number] | null =>
    metrics?.intervalLow === undefined || metrics.intervalHigh === undefined ? null : [metrics.intervalLow, metrics.intervalHigh];
  const { metrics } = main;
  return {
    accuracy: metrics.accuracy ?? null,
    interval: interval(metrics),
    problems: metrics.problems ?? 0,
    samples: metrics.samples ?? 0,
    temperature: metrics.temperature ?? 0,
    topP: metrics.topP ?? 1,
    accuracyTopP06: of('topP06')?.accuracy ?? null,
    intervalTopP06: interval(of('topP06')),
    greedy: of('greedy')?.accuracy ?? null,
    intervalGreedy: interval(of('greedy')),
    toolSuccess: metrics.toolSuccess ?? null,
    callsPerRollout: metrics.callsPerRollout ?? 0,
    malformed: metrics.malformed ?? 0,
    truncated: metrics.truncated ?? 0,
    tokens: metrics.modelTokens ?? 0,
    lost: metrics.lost ?? 0,
    majority: metrics.majority ?? null,
    passAt: byK(metrics, 'pass@'),
    majorityAt: byK(metrics, 'maj@'),
    referenceBestAt: byK(metrics, 'reference best@'),
    deliberative: metrics.deliberative ?? null,
    reactive: metrics.reactive ?? null,
  };
}

const byK = (metrics: EvaluationRecord['metrics'], prefix: string): Record<string, number> =>
  Object.fromEntries(
    Object.entries(metrics).flatMap(([name, value]) => (name.startsWith(prefix) ? [[name.slice(prefix.length), value]] : [])),
  );

/** Evaluations of one moment run side by side, so the longest counts. */
function secondsByPhase(run: Run): Record<string, number> {
  const sum = (stage: Stage, name: string): number => run.metric(stage, name).reduce((total, { value }) => total + value, 0);
  const evaluations = new Map<string, number>();
  for (const { stage, step, metrics } of run.evaluations()) {
    const moment = `${stage}/${step}`;
    evaluations.set(moment, Math.max(evaluations.get(moment) ?? 0, metrics.seconds ?? 0));
  }
  const rounded = {
    sft: sum('sft', 'seconds/training'),
    generation: sum('rl', 'seconds/generation'),
    training: sum('rl', 'seconds/training'),
    checkpoints: sum('sft', 'seconds/checkpoint') + sum('rl', 'seconds/checkpoint'),
    evaluation: [...evaluations.values()].reduce((a, b) => a + b, 0),
  };
  return Object.fromEntries(Object.entries(rounded).map(([name, value]) => [name, Math.round(value * 10) / 10]));
}
