/** Reads the small tables of a run; shared by writer and reader. */
import type { CheckpointRecord, RefreshRecord, Stage } from '../domain/event.js';
import type { RunInfo, StageState } from './runInfo.js';
import type { Db } from './store.js';

/** Absent where the process that made the file died before the run began. */
export function readInfo(db: Db): RunInfo | undefined {
  const text = db.prepare(`SELECT value FROM meta WHERE key = 'info'`).pluck().get() as string | undefined;
  return text === undefined ? undefined : (JSON.parse(text) as RunInfo);
}

export function readStages(db: Db): StageState[] {
  const rows = db
    .prepare(
      `SELECT stage, steps, startedAt, endedAt, seconds FROM stages ORDER BY CASE stage WHEN 'base' THEN 0 WHEN 'sft' THEN 1 ELSE 2 END`,
    )
    .all() as {
    stage: Stage;
    steps: number;
    startedAt: string;
    endedAt: string | null;
    seconds: number | null;
  }[];
  return rows.map(({ endedAt, seconds, ...row }) => ({
    ...row,
    ...(endedAt === null ? {} : { endedAt }),
    ...(seconds === null ? {} : { seconds }),
  }));
}

/** Those that still exist, oldest first. */
export function readCheckpoints(db: Db): CheckpointRecord[] {
  const rows = db
    .prepare('SELECT path, stage, step, policyVersion, optimizer, reason FROM checkpoints WHERE droppedAt IS NULL ORDER BY at, id')
    .all() as (Omit<CheckpointRecord, 'optimizer'> & { optimizer: number })[];
  return rows.map((row) => ({ ...row, optimizer: row.optimizer === 1 }));
}

/** Where `meta` keeps the refresh after so many RL steps: keys of one length, so that they sort as the steps do. */
export const refreshKey = (step: number): string => `${REFRESH}${String(step).padStart(REFRESH_DIGITS, '0')}`;
const REFRESH = 'refresh/';
const REFRESH_DIGITS = 12;

/** In the order of their steps. */
export function readRefreshes(db: Db): RefreshRecord[] {
  const rows = db
    .prepare(`SELECT value FROM meta WHERE key >= ? AND key <= ? ORDER BY key`)
    .pluck()
    .all(...REFRESH_KEYS) as string[];
  return rows.map((text) => JSON.parse(text) as RefreshRecord);
}

/** The first and the last key that a refresh may have. */
export const REFRESH_KEYS = [refreshKey(0), `${REFRESH}${'9'.repeat(REFRESH_DIGITS)}`] as const;
