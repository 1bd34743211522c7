/**
 * Writes one run, told by events. A step is kept whole or not at all: trajectories wait in memory, already packed, and go to the disk in
 * the same transaction as the end of their step (or of their evaluation), so a killed process never leaves half of one.
 *
 * Only this process may write the folder while it is open. Does not make checkpoints or reports, and does not read runs for people: see
 * `reader.ts`.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type {
  CheckpointRecord,
  EvaluationRecord,
  EventSink,
  Metrics,
  RefreshRecord,
  RunEvent,
  Stage,
  TrajectoryRecord,
} from '../domain/event.js';
import { checkTrajectory, executedCalls, modelTokens, responseTokens, turnsOf } from '../domain/trajectory.js';
import type { Recipe } from '../recipe/schema.js';
import { UserError } from '../userError.js';
import { makeFolder } from '../userPath.js';
import { encodeBody } from './body.js';
import { FACTS, factsOf, searchText } from './facts.js';
import { lockFolder } from './lock.js';
import { REFRESH_KEYS, readCheckpoints, readInfo, readRefreshes, readStages, refreshKey } from './rows.js';
import type { RunInfo, StageState } from './runInfo.js';
import { closeWriter, type Db, openForWriting, RUN_FILE } from './store.js';
import { telling } from './writeFailure.js';

export const RECIPE_FILE = 'recipe.yaml';
export const CHECKPOINTS_FOLDER = 'checkpoints';

/** The order in which stages happen; a rollback into one undoes all after it. */
const ORDER: readonly Stage[] = ['base', 'sft', 'rl'];

/** A record on its way to the disk. */
interface Waiting {
  readonly stage: Stage;
  readonly step: number;
  readonly split: string;
  readonly row: readonly (string | number | null)[];
  readonly body: Buffer;
  readonly words: string;
  readonly problem: readonly [id: string, question: string, answer: string | null];
}

export class RunWriter {
  readonly folder: string;
  readonly #db: Db;
  readonly #release: () => void;
  #info: RunInfo;
  #waiting: Waiting[] = [];
  #open = true;

  /**
   * Starts a run in a folder, which is made where it is missing.
   * @throws UserError where the folder holds a run already, another process writes it, or the disk is full
   */
  static create(folder: string, info: RunInfo): RunWriter {
    makeFolder(join(folder, CHECKPOINTS_FOLDER), 'Choose another folder with --out.');
    return RunWriter.#locked(folder, (db) => {
      if (readInfo(db))
        throw new UserError(`${folder} holds a run already.`, 'Go on with it by --resume, or choose another folder with --out.');
      putInfo(db, folder, info);
      return info;
    });
  }

  /**
   * Opens a run to go on with it. Nothing is rolled back yet: see `rollbackAfter`.
   * @throws UserError where there is no run, it is of a newer version, or another process writes it
   */
  static resume(folder: string): RunWriter {
    if (!existsSync(join(folder, RUN_FILE))) throw noRun(folder);
    return RunWriter.#locked(folder, (db) => {
      const info = readInfo(db);
      if (!info) throw noRun(folder);
      return info;
    });
  }

  static #locked(folder: string, begin: (db: Db) => RunInfo): RunWriter {
    return telling(folder, () => {
      const release = lockFolder(folder);
      let db: Db | undefined;
      try {
        db = openForWriting(folder);
        return new RunWriter(folder, db, begin(db), release);
      } catch (error) {
        if (db) closeWriter(db);
        release();
        throw error;
      }
    });
  }

  private constructor(folder: string, db: Db, info: RunInfo, release: () => void) {
    this.folder = folder;
    this.#db = db;
    this.#info = info;
    this.#release = release;
  }

  get info(): RunInfo {
    return this.#info;
  }

  /**
   * Takes every event of the run. Written when it returns, except trajectories (see above).
   * @throws UserError where the disk is full; what waited still waits, so the same event may be sent again
   */
  readonly sink: EventSink = (event) => {
    if (!this.#open) throw new Error(`run writer of ${this.folder} is closed`);
    telling(this.folder, () => this.#take(event));
  };

  /** Last ended step, 0-based; absent where none has ended. */
  lastStep(stage: Stage): number | undefined {
    const step = this.#db.prepare('SELECT max(step) FROM steps WHERE stage = ?').pluck().get(stage) as number | null;
    return step ?? undefined;
  }

  /** Those that still exist, oldest first. */
  checkpoints(): CheckpointRecord[] {
    return readCheckpoints(this.#db);
  }

  /** Choices of training problems, in the order of their steps. */
  refreshes(): RefreshRecord[] {
    return readRefreshes(this.#db);
  }

  /** Stages that have started, in their order. */
  stages(): StageState[] {
    return readStages(this.#db);
  }

  /** Keeps a changed recipe (or versions, on another machine) from here on; the run file says so in a note. */
  updateInfo(change: Partial<RunInfo>, note: string): void {
    telling(this.folder, () => {
      const info = { ...this.#info, ...change };
      this.#db.transaction(() => {
        putInfo(this.#db, this.folder, info);
        this.#note('info', note);
      })();
      this.#info = info;
    });
  }

  /**
   * Forgets what came after the first `steps` steps of a stage: its later steps and their trajectories, evaluations and refreshes made
   * after them, and all of the stages behind it. `steps` is a checkpoint's `step`: with 3, steps 0, 1 and 2 stay, and so does the evaluation at 3.
   * @returns the paths of checkpoints that are no longer listed; their folders are the caller's to remove
   */
  rollbackAfter(stage: Stage, steps: number): string[] {
    return telling(this.folder, () =>
      this.#db.transaction(() => {
        this.#waiting = [];
        const later = ORDER.slice(ORDER.indexOf(stage) + 1);
        const db = this.#db;
        const paths = db
          .prepare(`SELECT path FROM checkpoints WHERE droppedAt IS NULL AND ((stage = ? AND step > ?) OR stage IN (${marks(later)}))`)
          .pluck()
          .all(stage, steps, ...later) as string[];
        db.prepare('DELETE FROM steps WHERE stage = ? AND step >= ?').run(stage, steps);
        db.prepare('DELETE FROM metrics WHERE stage = ? AND step >= ?').run(stage, steps);
        db.prepare(`DELETE FROM trajectories WHERE stage = ? AND split = 'train' AND step >= ?`).run(stage, steps);
        db.prepare(`DELETE FROM trajectories WHERE stage = ? AND split <> 'train' AND step > ?`).run(stage, steps);
        db.prepare('DELETE FROM evaluations WHERE stage = ? AND step > ?').run(stage, steps);
        db.prepare('DELETE FROM checkpoints WHERE stage = ? AND step > ?').run(stage, steps);
        const [firstRefresh, lastRefresh] = REFRESH_KEYS;
        db.prepare('DELETE FROM meta WHERE key >= ? AND key <= ?').run(stage === 'rl' ? refreshKey(steps + 1) : firstRefresh, lastRefresh);
        db.prepare('UPDATE stages SET endedAt = NULL, seconds = NULL WHERE stage = ? AND steps > ?').run(stage, steps);
        for (const table of ['steps', 'metrics', 'trajectories', 'evaluations', 'checkpoints', 'stages']) {
          db.prepare(`DELETE FROM ${table} WHERE stage IN (${marks(later)})`).run(...later);
        }
        return paths;
      })(),
    );
  }

  /** Trajectories of a step or an evaluation that has not ended are left out. May be called twice. */
  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#waiting = [];
    closeWriter(this.#db);
    this.#release();
  }

  #take(event: RunEvent): void {
    const db = this.#db;
    switch (event.kind) {
      case 'stageStarted':
        db.prepare(
          'INSERT INTO stages (stage, steps, startedAt) VALUES (?, ?, ?) ON CONFLICT (stage) DO UPDATE SET steps = excluded.steps, endedAt = NULL, seconds = NULL',
        ).run(event.stage, event.steps, now());
        return;
      case 'stageEnded':
        db.prepare('UPDATE stages SET endedAt = ?, seconds = ? WHERE stage = ?').run(now(), event.seconds, event.stage);
        return;
      case 'trajectory':
        this.#waiting.push(pack(event.record));
        return;
      case 'stepEnded':
        this.#endStep(event.stage, event.step, event.metrics, event.checkpoint);
        return;
      case 'evaluation':
        this.#endEvaluation(event.record);
        return;
      case 'checkpoint':
        this.#putCheckpoint(event.record);
        return;
      case 'checkpointDropped':
        db.prepare('UPDATE checkpoints SET droppedAt = ? WHERE path = ?').run(now(), event.path);
        return;
      case 'refresh':
        db.prepare('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)').run(
          refreshKey(event.record.step),
          JSON.stringify(event.record),
        );
        return;
      case 'note':
        this.#note(event.level, event.text);
        return;
    }
  }

  #endStep(stage: Stage, step: number, metrics: Metrics, checkpoint: CheckpointRecord | undefined): void {
    const mine = (w: Waiting) => w.stage === stage && w.step === step && w.split === 'train';
    this.#db.transaction(() => {
      this.#db.prepare('INSERT INTO steps (stage, step, endedAt) VALUES (?, ?, ?)').run(stage, step, now());
      const put = this.#db.prepare('INSERT INTO metrics (stage, name, step, value) VALUES (?, ?, ?, ?)');
      for (const [name, value] of Object.entries(metrics)) put.run(stage, name, step, value);
      this.#putTrajectories(mine);
      if (checkpoint) this.#putCheckpoint(checkpoint);
    })();
    this.#waiting = this.#waiting.filter((w) => !mine(w));
  }

  /** A repeated evaluation takes the earlier one's place. */
  #endEvaluation({ stage, step, name, metrics }: EvaluationRecord): void {
    const mine = (w: Waiting) => w.stage === stage && w.step === step && w.split === name;
    this.#db.transaction(() => {
      this.#db.prepare('DELETE FROM trajectories WHERE stage = ? AND step = ? AND split = ?').run(stage, step, name);
      this.#db
        .prepare('INSERT OR REPLACE INTO evaluations (stage, step, name, at, metrics) VALUES (?, ?, ?, ?, ?)')
        .run(stage, step, name, now(), JSON.stringify(metrics));
      this.#putTrajectories(mine);
    })();
    this.#waiting = this.#waiting.filter((w) => !mine(w));
  }

  #putTrajectories(which: (waiting: Waiting) => boolean): void {
    const putRow = this.#db.prepare(`INSERT INTO trajectories (${COLUMNS.join(', ')}) VALUES (${marks(COLUMNS)})`);
    const putBody = this.#db.prepare('INSERT INTO bodies (id, body) VALUES (?, ?)');
    const putWords = this.#db.prepare('INSERT INTO words (rowid, text) VALUES (?, ?)');
    const putProblem = this.#db.prepare('INSERT OR IGNORE INTO problems (problemId, question, answer) VALUES (?, ?, ?)');
    for (const waiting of this.#waiting) {
      if (!which(waiting)) continue;
      const id = putRow.run(...waiting.row).lastInsertRowid;
      putBody.run(id, waiting.body);
      putWords.run(id, waiting.words);
      putProblem.run(...waiting.problem);
    }
  }

  #putCheckpoint(record: CheckpointRecord): void {
    this.#db
      .prepare(
        `INSERT INTO checkpoints (path, stage, step, policyVersion, optimizer, reason, at) VALUES (?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (path) DO UPDATE SET stage = excluded.stage, step = excluded.step, policyVersion = excluded.policyVersion,
         optimizer = excluded.optimizer, reason = excluded.reason, at = excluded.at, droppedAt = NULL`,
      )
      .run(record.path, record.stage, record.step, record.policyVersion, record.optimizer ? 1 : 0, record.reason, now());
  }

  #note(level: string, text: string): void {
    this.#db.prepare('INSERT INTO notes (at, level, text) VALUES (?, ?, ?)').run(now(), level, text);
  }
}

const noRun = (folder: string): UserError =>
  new UserError(`${folder} holds no run that has begun.`, 'Name the folder that was given to --out, or start without --resume.');

const now = (): string => new Date().toISOString();
const marks = (values: readonly unknown[]): string => values.map(() => '?').join(', ');

const COLUMNS = [
  'stage',
  'step',
  'split',
  'trajectoryId',
  'groupId',
  'problemId',
  'verdict',
  'correct',
  'score',
  'reason',
  'reward',
  'advantage',
  'stopReason',
  'promptTokens',
  'tokens',
  'modelTokens',
  'turns',
  'calls',
  'seconds',
  ...FACTS,
] as const;

function pack(record: TrajectoryRecord): Waiting {
  const { stage, step, split, trajectory, verdict, reward, advantage } = record;
  checkTrajectory(trajectory);
  const graded = verdict?.kind === 'graded' ? verdict : undefined;
  const facts = factsOf(record);
  const row = [
    stage,
    step,
    split,
    trajectory.trajectoryId,
    trajectory.groupId,
    trajectory.problem.id,
    verdict?.kind ?? null,
    graded ? Number(graded.correct) : null,
    graded?.score ?? null,
    graded?.reason ?? null,
    reward?.total ?? null,
    advantage ?? null,
    trajectory.stopReason.kind,
    trajectory.promptTokens.length,
    responseTokens(trajectory),
    modelTokens(trajectory),
    turnsOf(trajectory).length,
    executedCalls(trajectory),
    trajectory.seconds,
    ...FACTS.map((name) => facts[name]),
  ];
  const { id, question, answer } = trajectory.problem;
  return { stage, step, split, row, body: encodeBody(record), words: searchText(record), problem: [id, question, answer ?? null] };
}

function putInfo(db: Db, folder: string, info: RunInfo): void {
  writeFileSync(join(folder, RECIPE_FILE), stringify(info.recipe satisfies Recipe));
  db.prepare(`INSERT OR REPLACE INTO meta (key, value) VALUES ('info', ?)`).run(JSON.stringify(info));
}
