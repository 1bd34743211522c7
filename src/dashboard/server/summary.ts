/** What the list of runs and the page of one run say about it, as far as its tables can be read. */

import { stringify } from 'yaml';
import type { EvaluationRecord, Stage } from '../../domain/event.js';
import { isBeingWritten } from '../../runs/lock.js';
import { readCheckpoints, readStages } from '../../runs/rows.js';
import type { EvaluationSummary, Num, RunDetail, RunState, RunSummary, StageProgress } from '../api.js';
import type { FoundRun } from './folder.js';
import { metricNames } from './metrics.js';
import { stampOf } from './openRuns.js';
import type { RunView } from './runView.js';

const STAGES: readonly Stage[] = ['base', 'sft', 'rl'];

export function summaryOf(run: FoundRun, view: RunView): RunSummary {
  const problems: string[] = [];
  const note = view.note();
  if (note !== undefined) problems.push(note);
  /** What a table gives, or nothing where it is missing or damaged. */
  const part = <T>(what: string, otherwise: T, read: () => T): T => {
    try {
      return read();
    } catch (error) {
      problems.push(`${what} cannot be read: ${(error as Error).message}.`);
      return otherwise;
    }
  };
  const info = part('What the run is', undefined, () => view.info());
  if (!info && problems.length === 0) problems.push('The run never began: its process ended before.');
  const stages = part('Stages', [], () => progressOf(view));
  const evaluations = part('Evaluations', [], () => evaluationsOf(view));
  const last = part('Metrics', {}, () => newestMetrics(view, stages));
  const trajectories = part('Rollouts', 0, () => view.db.prepare('SELECT count(*) FROM trajectories').pluck().get() as number);
  const planned = Array.isArray(info?.recipe?.stages) ? (info.recipe.stages as readonly Stage[]) : [];
  const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
  const recipe = text(info?.recipe?.name);
  const model = text(info?.model?.name);
  const startedAt = stages.map((stage) => stage.startedAt).sort()[0];
  return {
    id: run.id,
    name: run.name,
    state: stateOf(run.folder, stages, evaluations.length, planned),
    ...(recipe !== undefined && { recipe }),
    ...(model !== undefined && { model }),
    ...(typeof info?.seed === 'number' && { seed: info.seed }),
    ...(startedAt !== undefined && { startedAt }),
    updatedAt: new Date(stampOf(run.folder).changed).toISOString(),
    stages,
    last,
    evaluations: newestOfEach(evaluations),
    trajectories,
    ...(problems.length > 0 && { note: problems.join(' ') }),
  };
}

/** An evaluation of a model that is not trained has no stages. */
function stateOf(folder: string, stages: readonly StageProgress[], evaluations: number, planned: readonly Stage[]): RunState {
  if (isBeingWritten(folder)) return 'running';
  if (stages.length === 0) return evaluations > 0 ? 'ended' : 'interrupted';
  const ended = (stage: Stage): boolean => stages.some((one) => one.stage === stage && one.endedAt !== undefined);
  return stages.every(({ endedAt }) => endedAt !== undefined) && planned.every(ended) ? 'ended' : 'interrupted';
}

/** A run that cannot be opened at all. */
export function unreadable(run: FoundRun, why: string): RunSummary {
  const { changed } = stampOf(run.folder);
  return {
    id: run.id,
    name: run.name,
    state: isBeingWritten(run.folder) ? 'running' : 'unreadable',
    updatedAt: new Date(changed).toISOString(),
    stages: [],
    last: {},
    evaluations: [],
    trajectories: 0,
    note: why,
  };
}

export function detailOf(run: FoundRun, view: RunView): RunDetail {
  const summary = summaryOf(run, view);
  const or = <T>(otherwise: T, read: () => T): T => {
    try {
      return read();
    } catch {
      // told by the summary's note, or a table of another version
      return otherwise;
    }
  };
  const info = or(undefined, () => view.info());
  const names = or<Partial<Record<Stage, string[]>>>({}, () => {
    const all = STAGES.map((stage) => [stage, metricNames(view, stage)] as const);
    return Object.fromEntries(all.filter(([, some]) => some.length > 0));
  });
  return {
    ...summary,
    ...(info?.recipe !== undefined && { recipeText: stringify(info.recipe) }),
    versions: info?.versions ?? {},
    extra: { ...info?.extra, model: info?.model },
    metricNames: names,
    allEvaluations: or([], () => evaluationsOf(view)),
    checkpoints: or([], () => readCheckpoints(view.db)),
    notes: or([], () => view.db.prepare('SELECT at, level, text FROM notes ORDER BY id').all() as RunDetail['notes']),
    splits: or(
      [],
      () =>
        view.db
          .prepare(`SELECT stage, split, count(*) AS count FROM trajectories GROUP BY stage, split`)
          .all() as unknown as RunDetail['splits'],
    ),
  };
}

export function progressOf(view: RunView): StageProgress[] {
  const last = view.db.prepare('SELECT max(step) FROM steps WHERE stage = ?').pluck();
  return readStages(view.db).map((stage) => ({ ...stage, done: ((last.get(stage.stage) as number | null) ?? -1) + 1 }));
}

/** In the order in which they were made. */
export function evaluationsOf(view: RunView): EvaluationSummary[] {
  const rows = view.db.prepare('SELECT name, stage, step, metrics FROM evaluations ORDER BY at, stage, step, name').all();
  return (rows as (Omit<EvaluationRecord, 'metrics'> & { metrics: string })[]).map((row) => ({
    ...row,
    metrics: JSON.parse(row.metrics) as Record<string, Num>,
  }));
}

function newestOfEach(evaluations: readonly EvaluationSummary[]): EvaluationSummary[] {
  return [...new Map(evaluations.map((one) => [one.name, one])).values()];
}

function newestMetrics(view: RunView, stages: readonly StageProgress[]): Record<string, Num> {
  const stage = stages.findLast(({ done }) => done > 0);
  return stage ? metricsOf(view, stage.stage, stage.done - 1) : {};
}

export function metricsOf(view: RunView, stage: Stage, step: number): Record<string, Num> {
  const read = view.db.prepare('SELECT value FROM metrics WHERE stage = ? AND name = ? AND step = ?').pluck();
  return Object.fromEntries(
    metricNames(view, stage).flatMap((name) => {
      const value = read.get(stage, name, step) as Num | undefined;
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
