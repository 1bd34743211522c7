/**
 * The rollouts that were paid for, each on the disk the moment it is graded: a folder with one SQLite file, which survives the end of the
 * process, however it comes. A rollout is there once or not at all. Does not sample, grade or select.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { Problem } from '../../domain/problem.js';
import type { Trajectory } from '../../domain/trajectory.js';
import type { Graded } from '../../domain/verdict.js';
import { decodeBody, encodeBody } from '../../runs/body.js';
import { lockFolder } from '../../runs/lock.js';
import { UserError } from '../../userError.js';
import { makeFolder } from '../../userPath.js';

export const JOURNAL_FILE = 'rollouts.sqlite';

/** What all rollouts of a journal have in common; another value of any makes another set. Plain data. */
export type Identity = Readonly<Record<string, unknown>>;

export interface StoredRollout {
  readonly sample: number;
  readonly trajectory: Trajectory;
  readonly verdict: Graded;
}

/** A problem by its content: rollouts stay those of a question, whatever it is called. */
export const problemKey = ({ question, answer, options }: Problem): string =>
  createHash('sha256')
    .update(JSON.stringify([question, answer ?? null, options ?? null]))
    .digest('hex')
    .slice(0, 24);

export class Journal {
  readonly #db: Database.Database;
  readonly #release: () => void;
  readonly #find: Database.Statement;

  private constructor(
    readonly folder: string,
    db: Database.Database,
    release: () => void,
  ) {
    this.#db = db;
    this.#release = release;
    this.#find = db.prepare('SELECT 1 FROM rollouts WHERE problem = ? AND sample = ?');
  }

  /**
   * @param resume go on with what is there; else the folder must not hold rollouts
   * @throws UserError where there is none to go on with, one is in the way, or another process writes it
   */
  static open(folder: string, resume: boolean): Journal {
    const file = join(folder, JOURNAL_FILE);
    if (resume && !existsSync(file)) throw new UserError(`there are no rollouts in ${folder} to go on with`, 'Leave --resume out.');
    makeFolder(folder);
    const release = lockFolder(folder);
    let db: Database.Database | undefined;
    try {
      db = new Database(file);
      db.pragma('journal_mode = WAL');
      db.pragma('synchronous = FULL');
      db.exec(`CREATE TABLE IF NOT EXISTS identity (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS rollouts (problem TEXT NOT NULL, sample INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY (problem, sample));
        CREATE TABLE IF NOT EXISTS scores (scorer TEXT NOT NULL, problem TEXT NOT NULL, sample INTEGER NOT NULL, score REAL NOT NULL,
          PRIMARY KEY (scorer, problem, sample)) WITHOUT ROWID;`);
      // A call that ended before its first rollout, by a wrong name of its teacher for one, leaves nothing to go on with or to protect.
      if (db.prepare('SELECT 1 FROM rollouts LIMIT 1').get() === undefined) db.exec('DELETE FROM identity');
      else if (!resume)
        throw new UserError(
          `${folder} holds rollouts of an earlier call`,
          'Go on with them by --resume, or remove the folder, or name another with --work.',
        );
      return new Journal(folder, db, release);
    } catch (error) {
      db?.close();
      release();
      throw error;
    }
  }

  /** What was noted of it: its identity, and notes; empty in a new journal. */
  identity(): Identity {
    const rows = this.#db.prepare('SELECT name, value FROM identity').all() as { name: string; value: string }[];
    return Object.fromEntries(rows.map(({ name, value }) => [name, JSON.parse(value) as unknown]));
  }

  /** Notes it in a new journal. @throws UserError where rollouts of another identity are there: they must not be mixed */
  require(identity: Identity): void {
    const known = this.identity();
    if (Object.keys(identity).every((name) => known[name] === undefined)) {
      const put = this.#db.prepare('INSERT INTO identity VALUES (?, ?)');
      this.#db.transaction(() => {
        for (const [name, value] of Object.entries(identity)) put.run(name, JSON.stringify(value));
      })();
      return;
    }
    const changed = Object.keys(identity).filter((name) => JSON.stringify(known[name]) !== JSON.stringify(identity[name]));
    if (changed.length === 0) return;
    const lines = changed.map((name) => `  ${name}: ${short(known[name])} -> ${short(identity[name])}`);
    throw new UserError(
      `the rollouts in ${this.folder} were made otherwise:\n${lines.join('\n')}`,
      'Give the same options as before, or begin in another folder with --work.',
    );
  }

  /** Notes something beside the identity, in place of what was noted under that name. */
  note(name: string, value: unknown): void {
    this.#db.prepare('INSERT OR REPLACE INTO identity VALUES (?, ?)').run(name, JSON.stringify(value));
  }

  has(problem: string, sample: number): boolean {
    return this.#find.get(problem, sample) !== undefined;
  }

  /** On the disk when it returns. */
  put(problem: string, sample: number, trajectory: Trajectory, verdict: Graded): void {
    const body = encodeBody({ stage: 'base', step: 0, split: 'trajectories', trajectory, verdict });
    this.#db.prepare('INSERT INTO rollouts VALUES (?, ?, ?)').run(problem, sample, body);
  }

  /** In the order of the samples. */
  ofProblem(problem: string, samples: number): StoredRollout[] {
    const rows = this.#db
      .prepare('SELECT sample, body FROM rollouts WHERE problem = ? AND sample < ? ORDER BY sample')
      .all(problem, samples) as { sample: number; body: Buffer }[];
    return rows.map(({ sample, body }) => read(sample, body));
  }

  one(problem: string, sample: number): StoredRollout {
    const body = this.#db.prepare('SELECT body FROM rollouts WHERE problem = ? AND sample = ?').pluck().get(problem, sample);
    return read(sample, body as Buffer);
  }

  score(scorer: string, problem: string, sample: number): number | undefined {
    const query = this.#db.prepare('SELECT score FROM scores WHERE scorer = ? AND problem = ? AND sample = ?').pluck();
    return query.get(scorer, problem, sample) as number | undefined;
  }

  putScore(scorer: string, problem: string, sample: number, score: number): void {
    this.#db.prepare('INSERT OR REPLACE INTO scores VALUES (?, ?, ?, ?)').run(scorer, problem, sample, score);
  }

  close(): void {
    this.#db.close();
    this.#release();
  }
}

function read(sample: number, body: Buffer): StoredRollout {
  const { trajectory, verdict } = decodeBody(body);
  return { sample, trajectory, verdict: verdict as Graded };
}

function short(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length <= 100 ? text : `${text.slice(0, 97)}...`;
}
