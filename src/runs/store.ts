/**
 * The file of a run, `run.sqlite`: its tables, its version, and who may write. Knows rows, not what they mean: see `writer.ts` and
 * `reader.ts`.
 *
 * WAL while a run is written, so that readers never wait; one plain file again when the writer closes it.
 */
import { closeSync, constants, copyFileSync, existsSync, lstatSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { UserError } from '../userError.js';

export type Db = Database.Database;

/** Marks the file as ours whatever its version ("Twse"). */
const APPLICATION_ID = 0x54777365;

export const RUN_FILE = 'run.sqlite';

/** Entry i brings version i to version i + 1; a new file starts from version 0. Never change one that was released: add another. */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE stages (stage TEXT PRIMARY KEY, steps INTEGER NOT NULL, startedAt TEXT NOT NULL, endedAt TEXT, seconds REAL) WITHOUT ROWID;
  CREATE TABLE steps (stage TEXT NOT NULL, step INTEGER NOT NULL, endedAt TEXT NOT NULL, PRIMARY KEY (stage, step)) WITHOUT ROWID;
  -- value is NULL where the number was NaN
  CREATE TABLE metrics (stage TEXT NOT NULL, name TEXT NOT NULL, step INTEGER NOT NULL, value REAL, PRIMARY KEY (stage, name, step)) WITHOUT ROWID;
  CREATE TABLE trajectories (
    id INTEGER PRIMARY KEY, stage TEXT NOT NULL, step INTEGER NOT NULL, split TEXT NOT NULL, trajectoryId TEXT NOT NULL, groupId TEXT NOT NULL,
    problemId TEXT NOT NULL, verdict TEXT, correct INTEGER, score REAL, reason TEXT, reward REAL, advantage REAL, stopReason TEXT NOT NULL,
    promptTokens INTEGER NOT NULL, tokens INTEGER NOT NULL, modelTokens INTEGER NOT NULL, turns INTEGER NOT NULL, calls INTEGER NOT NULL,
    seconds REAL NOT NULL
  );
  CREATE INDEX trajectoriesByStep ON trajectories (stage, split, step, correct);
  CREATE INDEX trajectoriesByProblem ON trajectories (problemId);
  CREATE INDEX trajectoriesByGroup ON trajectories (groupId);
  CREATE INDEX trajectoriesByName ON trajectories (trajectoryId);
  -- apart from the columns, so that a listing never reads them
  CREATE TABLE bodies (id INTEGER PRIMARY KEY REFERENCES trajectories (id) ON DELETE CASCADE, body BLOB NOT NULL);
  CREATE TABLE evaluations (
    stage TEXT NOT NULL, step INTEGER NOT NULL, name TEXT NOT NULL, at TEXT NOT NULL, metrics TEXT NOT NULL, PRIMARY KEY (stage, step, name)
  ) WITHOUT ROWID;
  CREATE TABLE checkpoints (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, stage TEXT NOT NULL, step INTEGER NOT NULL, policyVersion INTEGER NOT NULL,
    optimizer INTEGER NOT NULL, reason TEXT NOT NULL, at TEXT NOT NULL, droppedAt TEXT
  );
  CREATE TABLE notes (id INTEGER PRIMARY KEY, at TEXT NOT NULL, level TEXT NOT NULL, text TEXT NOT NULL);
  `,
  // What the dashboard filters and searches by, see facts.ts. Rows from before have none: whoever needs them reads the rollouts through.
  `
  ALTER TABLE trajectories ADD COLUMN mode TEXT;
  ALTER TABLE trajectories ADD COLUMN toolSuccesses INTEGER;
  ALTER TABLE trajectories ADD COLUMN toolFailures INTEGER;
  ALTER TABLE trajectories ADD COLUMN malformed INTEGER;
  ALTER TABLE trajectories ADD COLUMN lastToolSucceeded INTEGER;
  INSERT INTO meta (key, value) SELECT 'factsSince', coalesce(max(id), 0) + 1 FROM trajectories;
  CREATE TABLE problems (problemId TEXT PRIMARY KEY, question TEXT NOT NULL, answer TEXT);
  -- words alone, neither the text nor places in it; what a word is beyond ASCII is said by searchWords
  CREATE VIRTUAL TABLE words USING fts5 (text, content='', contentless_delete=1, detail=none, tokenize='ascii');
  CREATE TRIGGER wordsOfDeleted AFTER DELETE ON trajectories BEGIN DELETE FROM words WHERE rowid = old.id; END;
  DROP INDEX trajectoriesByProblem;
  CREATE INDEX trajectoriesByProblem ON trajectories (problemId, split, step, correct);
  `,
];

export const SCHEMA_VERSION = MIGRATIONS.length;

/**
 * Opens the run of a folder for writing; a new file gets its tables, an older one is brought to this version.
 * @throws UserError where the file is not a run, or is of a newer version
 */
export function openForWriting(folder: string, migrations: readonly string[] = MIGRATIONS): Db {
  const file = join(folder, RUN_FILE);
  const fresh = !existsSync(file);
  const db = open(file, {});
  try {
    const version = fresh || isEmpty(db) ? 0 : versionOf(db, file);
    if (version > migrations.length) {
      throw new UserError(
        `${file} was written by a newer version of Toolwise (run format ${version}; this one writes ${migrations.length}).`,
        'Update Toolwise to continue this run. It can still be read.',
      );
    }
    db.pragma('journal_mode = WAL');
    // With WAL, NORMAL keeps every ended step when the process is killed; only a power cut can take the last ones.
    db.pragma('synchronous = NORMAL');
    db.pragma('foreign_keys = ON');
    if (version < migrations.length) migrate(db, version, migrations);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/**
 * Opens the run of a folder for reading only. An older one is brought to this version first; `note` says so where it is newer.
 * @throws UserError where there is no run, or the file is not one
 */
export function openForReading(folder: string, migrations: readonly string[] = MIGRATIONS): { readonly db: Db; readonly note?: string } {
  const file = join(folder, RUN_FILE);
  if (!existsSync(file))
    throw new UserError(`${folder} holds no run: there is no ${RUN_FILE} in it.`, 'Name the folder that was given to --out.');
  const db = open(file, { readonly: true });
  let version: number;
  try {
    version = versionOf(db, file);
  } catch (error) {
    db.close();
    throw error;
  }
  if (version === migrations.length) return { db };
  if (version > migrations.length) {
    const note = `${file} was written by a newer version of Toolwise (run format ${version}; this one knows ${migrations.length}): some of it may not be shown.`;
    return { db, note };
  }
  db.close();
  closeWriter(openForWriting(folder, migrations));
  return openForReading(folder, migrations);
}

export interface Viewed {
  readonly db: Db;
  /** Of the run's format; 0 is never one. */
  readonly version: number;
  /** What is opened is a copy: it must be opened anew when the files change. */
  readonly frozen: boolean;
  readonly close: () => void;
}

/**
 * Opens the run of a folder to be looked at. The file stays as it is whatever its version: nothing is migrated, no WAL file is made or
 * emptied. Where SQLite could not read it without writing (a killed process's on a read-only disk, one that was copied without its WAL file)
 * a copy in the folder for temporary files is read.
 * @throws UserError where there is no run, or the file is not one
 */
export function openForViewing(folder: string): Viewed {
  const file = join(folder, RUN_FILE);
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (!found?.isFile()) throw new UserError(`${folder} holds no run: there is no ${RUN_FILE} in it.`);
  if (found.size === 0) throw new UserError(`${file} is empty: the run never began.`);
  let opened: { readonly db: Db; readonly remove?: () => void; readonly frozen: boolean };
  if (!existsSync(`${file}-wal`) && isWalForm(file)) {
    // to open it where it is would make a WAL file beside it
    opened = openCopy(file, found.size);
  } else {
    try {
      opened = { db: open(file, { readonly: true, timeout: VIEWER_WAITS_MS }), frozen: false };
    } catch (error) {
      if (!existsSync(`${file}-wal`) || error instanceof NotOurs) throw error;
      opened = openCopy(file, found.size);
    }
  }
  const close = (): void => {
    opened.db.close();
    opened.remove?.();
  };
  try {
    // it may come from anywhere: its own views and triggers may call nothing
    opened.db.pragma('trusted_schema = OFF');
    return { db: opened.db, version: versionOf(opened.db, file), frozen: opened.frozen, close };
  } catch (error) {
    close();
    throw error;
  }
}

/** Whoever looks at many runs does not wait long for one that another program keeps to itself. */
const VIEWER_WAITS_MS = 200;

/** Bytes 18 and 19 of a SQLite file say 2 where it is to be read together with a WAL file. */
function isWalForm(file: string): boolean {
  const head = Buffer.alloc(20);
  const handle = openSync(file, 'r');
  try {
    return readSync(handle, head, 0, head.length, 0) === head.length && head[18] === 2 && head[19] === 2;
  } finally {
    closeSync(handle);
  }
}

const MOST_TO_COPY = 4e9;

function openCopy(file: string, bytes: number): { readonly db: Db; readonly remove: () => void; readonly frozen: boolean } {
  if (bytes > MOST_TO_COPY) {
    throw new UserError(
      `${file} cannot be read where it is without changing it: its process did not close it.`,
      'Copy the folder to a disk that can be written, and show it there.',
    );
  }
  const copy = mkdtempSync(join(tmpdir(), 'toolwise-view-'));
  const remove = (): void => rmSync(copy, { recursive: true, force: true });
  try {
    for (const end of ['', '-wal']) {
      if (existsSync(`${file}${end}`)) copyFileSync(`${file}${end}`, join(copy, `${RUN_FILE}${end}`), constants.COPYFILE_FICLONE);
    }
    return { db: open(join(copy, RUN_FILE), {}), remove, frozen: true };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Back to one plain file, which can be copied or kept on a read-only disk; stays WAL where somebody goes on reading. */
export function closeWriter(db: Db): void {
  for (let attempt = 0; attempt < 10; attempt++) {
    try {
      db.pragma('busy_timeout = 100');
      db.pragma('journal_mode = DELETE');
      break;
    } catch (error) {
      // a reader is open, or the disk is full: the WAL file stays beside it, and nothing is lost
      if (!String((error as { code?: unknown }).code).startsWith('SQLITE_BUSY')) break;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 25);
    }
  }
  db.close();
}

function open(file: string, options: Database.Options): Db {
  try {
    const db = new Database(file, { timeout: 10_000, ...options });
    // the first read shows whether it is a database at all
    db.pragma('schema_version');
    return db;
  } catch (error) {
    const code = (error as { code?: unknown }).code;
    if (code === 'SQLITE_NOTADB' || code === 'SQLITE_CORRUPT') throw notOurs(file);
    if (/^SQLITE_(CANTOPEN|READONLY)/.test(String(code))) {
      throw new UserError(
        `${file} cannot be opened: ${(error as Error).message}.`,
        'Check that the folder exists and that you may write to it.',
      );
    }
    throw error;
  }
}

const isEmpty = (db: Db): boolean => db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get() === 0;

function versionOf(db: Db, file: string): number {
  if (db.pragma('application_id', { simple: true }) !== APPLICATION_ID) throw notOurs(file);
  const value = Number(db.prepare(`SELECT value FROM meta WHERE key = 'schemaVersion'`).pluck().get());
  if (!Number.isInteger(value) || value < 1) throw notOurs(file);
  return value;
}

class NotOurs extends UserError {}

function notOurs(file: string): UserError {
  return new NotOurs(`${file} is not a run of Toolwise.`, 'Choose another folder for the run; the file was left as it is.');
}

function migrate(db: Db, from: number, migrations: readonly string[]): void {
  db.transaction(() => {
    for (const sql of migrations.slice(from)) db.exec(sql);
    db.prepare(`INSERT INTO meta (key, value) VALUES ('schemaVersion', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value`).run(
      String(migrations.length),
    );
    db.pragma(`application_id = ${APPLICATION_ID}`);
  }).immediate();
}
