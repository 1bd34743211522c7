/**
 * Reads one run, also while it is being written. Never changes it. `Run.trajectories` lists rows without their tokens; `Run.trajectory`
 * reads one whole.
 */
import type { CheckpointRecord, EvaluationRecord, Metrics, RefreshRecord, Stage, TrajectoryRecord } from '../domain/event.js';
import type { StopReason } from '../domain/stopReason.js';
import type { Reason } from '../domain/verdict.js';
import { UserError } from '../userError.js';
import { decodeBody } from './body.js';
import { readCheckpoints, readInfo, readRefreshes, readStages } from './rows.js';
import type { RunInfo, StageState } from './runInfo.js';
import { type Db, openForReading } from './store.js';

export interface TrajectoryFilter {
  readonly stage?: Stage;
  /** 0-based; for evaluations the number of steps made before. */
  readonly step?: number;
  /** `train`, or an evaluation's name. */
  readonly split?: string;
  readonly correct?: boolean;
  readonly problemId?: string;
  readonly groupId?: string;
  readonly limit?: number;
  readonly offset?: number;
}

/** One line of a listing. */
export interface TrajectoryRow {
  /** For `Run.trajectory`. */
  readonly id: number;
  readonly stage: Stage;
  readonly step: number;
  readonly split: string;
  readonly trajectoryId: string;
  readonly groupId: string;
  readonly problemId: string;
  /** Absent where a reward function judged without a verdict. */
  readonly verdict?: 'graded' | 'infra';
  readonly correct?: boolean;
  readonly score?: number;
  readonly reason?: Reason;
  readonly reward?: number;
  readonly advantage?: number;
  readonly stopReason: StopReason['kind'];
  readonly promptTokens: number;
  /** Model's and tools' tokens. */
  readonly tokens: number;
  readonly modelTokens: number;
  readonly turns: number;
  /** Executed ones. */
  readonly calls: number;
  readonly seconds: number;
}

export interface Note {
  readonly at: string;
  readonly level: 'info' | 'warning';
  readonly text: string;
}

/** @throws UserError where the folder holds no run, or a file that is not one */
export function openRun(folder: string): Run {
  const { db, note } = openForReading(folder);
  const info = readInfo(db);
  if (info) return new Run(folder, info, db, note);
  db.close();
  throw new UserError(`The run in ${folder} never began.`, 'Start it again in the same folder.');
}

export class Run {
  readonly folder: string;
  readonly info: RunInfo;
  /** Said where the run is of a newer version. */
  readonly note: string | undefined;
  readonly #db: Db;

  constructor(folder: string, info: RunInfo, db: Db, note?: string) {
    this.folder = folder;
    this.info = info;
    this.#db = db;
    this.note = note;
  }

  stages(): StageState[] {
    return readStages(this.#db);
  }

  /** Those that still exist, oldest first. */
  checkpoints(): CheckpointRecord[] {
    return readCheckpoints(this.#db);
  }

  /** Choices of training problems, in the order of their steps. */
  refreshes(): RefreshRecord[] {
    return readRefreshes(this.#db);
  }

  /** Last ended step, 0-based; absent where none has ended. */
  lastStep(stage: Stage): number | undefined {
    return (this.#db.prepare('SELECT max(step) FROM steps WHERE stage = ?').pluck().get(stage) as number | null) ?? undefined;
  }

  /** One number over the steps of a stage, in their order. NaN where the step's was NaN. */
  metric(stage: Stage, name: string): { readonly step: number; readonly value: number }[] {
    const rows = this.#db.prepare('SELECT step, value FROM metrics WHERE stage = ? AND name = ? ORDER BY step').all(stage, name);
    return (rows as { step: number; value: number | null }[]).map(({ step, value }) => ({ step, value: value ?? Number.NaN }));
  }

  metricNames(stage: Stage): string[] {
    return this.#db.prepare('SELECT DISTINCT name FROM metrics WHERE stage = ? ORDER BY name').pluck().all(stage) as string[];
  }

  /** All numbers of each step of a stage, in their order; for charts and exports. */
  steps(stage: Stage): { readonly step: number; readonly metrics: Metrics }[] {
    const steps = new Map<number, Record<string, number>>();
    for (const step of this.#db.prepare('SELECT step FROM steps WHERE stage = ? ORDER BY step').pluck().all(stage))
      steps.set(step as number, {});
    for (const row of this.#db.prepare('SELECT step, name, value FROM metrics WHERE stage = ?').iterate(stage)) {
      const { step, name, value } = row as { step: number; name: string; value: number | null };
      const metrics = steps.get(step);
      if (metrics) metrics[name] = value ?? Number.NaN;
    }
    return [...steps].map(([step, metrics]) => ({ step, metrics }));
  }

  /** When each step of a stage ended, ISO. */
  stepTimes(stage: Stage): Map<number, string> {
    const rows = this.#db.prepare('SELECT step, endedAt FROM steps WHERE stage = ?').all(stage) as { step: number; endedAt: string }[];
    return new Map(rows.map(({ step, endedAt }) => [step, endedAt]));
  }

  /** In the order in which they were made. */
  evaluations(): EvaluationRecord[] {
    const rows = this.#db.prepare('SELECT name, stage, step, metrics FROM evaluations ORDER BY at, stage, step, name').all();
    return (rows as { name: string; stage: Stage; step: number; metrics: string }[]).map((row) => ({
      ...row,
      metrics: JSON.parse(row.metrics, (_, value) => (value === null ? Number.NaN : value)) as Metrics,
    }));
  }

  notes(): Note[] {
    return this.#db.prepare('SELECT at, level, text FROM notes ORDER BY id').all() as Note[];
  }

  /** Names of the groups that a stage was trained on, each once. */
  groupIds(stage: Stage): string[] {
    return this.#db.prepare(`SELECT DISTINCT groupId FROM trajectories WHERE stage = ? AND split = 'train'`).pluck().all(stage) as string[];
  }

  countTrajectories(filter: TrajectoryFilter = {}): number {
    const { where, values } = conditions(filter);
    return this.#db
      .prepare(`SELECT count(*) FROM trajectories ${where}`)
      .pluck()
      .get(...values) as number;
  }

  /** Rows without tokens and turns, in the order in which they were written. */
  trajectories(filter: TrajectoryFilter = {}): TrajectoryRow[] {
    const { where, values } = conditions(filter);
    const rows = this.#db
      .prepare(`SELECT * FROM trajectories ${where} ORDER BY id LIMIT ? OFFSET ?`)
      .all(...values, filter.limit ?? -1, filter.offset ?? 0) as Record<string, unknown>[];
    return rows.map((row) => {
      const present = Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
      if (row.correct !== null) present.correct = row.correct === 1;
      return present as unknown as TrajectoryRow;
    });
  }

  /** One record whole, token by token. Absent where there is none of that id. */
  trajectory(id: number): TrajectoryRecord | undefined {
    const body = this.#db.prepare('SELECT body FROM bodies WHERE id = ?').pluck().get(id) as Buffer | undefined;
    return body && decodeBody(body);
  }

  /** Whole records one after the other, for exports; holds one in memory at a time. */
  *records(filter: TrajectoryFilter = {}): Generator<TrajectoryRecord> {
    const { where, values } = conditions(filter);
    const ids = this.#db
      .prepare(`SELECT id FROM trajectories ${where} ORDER BY id LIMIT ? OFFSET ?`)
      .pluck()
      .all(...values, filter.limit ?? -1, filter.offset ?? 0) as number[];
    for (const id of ids) {
      const record = this.trajectory(id);
      if (record) yield record;
    }
  }

  close(): void {
    this.#db.close();
  }
}

function conditions(filter: TrajectoryFilter): { where: string; values: (string | number)[] } {
  const parts: string[] = [];
  const values: (string | number)[] = [];
  for (const column of ['stage', 'step', 'split', 'correct', 'problemId', 'groupId'] as const) {
    const value = filter[column];
    if (value === undefined) continue;
    parts.push(`${column} = ?`);
    values.push(typeof value === 'boolean' ? Number(value) : value);
  }
  return { where: parts.length === 0 ? '' : `WHERE ${parts.join(' AND ')}`, values };
}
