/**
 * Rollouts that were graded before, for difficulty: one SQLite file, which any number of measurements may use at once. A rollout stands under
 * everything that it depends on (weights, prompt and settings, sampling, seed, the problem's text, its number) and is on the disk as soon as
 * it is graded. Keeps whether it was right and how long it was, not what it said; one that was lost to infrastructure is not kept.
 */
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { homeFolder } from '../../setup/paths.js';
import { UserError } from '../../userError.js';
import { makeFolder } from '../../userPath.js';
import { hashOf } from './problemHash.js';

export const CACHE_FILE = 'difficulty.sqlite';

/** Where measurements are kept unless another folder is named. */
export const cacheFolder = (): string => join(homeFolder(), 'cache');

/** What all rollouts of a measurement have in common. */
export interface MeasurementKey {
  readonly fingerprint: string;
  /** Prompt, tools, limits. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly temperature: number;
  readonly topP: number;
  readonly seed: number;
}

/** What earlier measurements under the same key took. */
export interface Pace {
  readonly rollouts: number;
  /** That the model wrote. */
  readonly tokens: number;
  readonly seconds: number;
}

/** A graded rollout. */
export interface KnownRollout {
  /** Its number among those of its problem, from 0. */
  readonly sample: number;
  readonly correct: boolean;
  /** That the model wrote. */
  readonly tokens: number;
}

const TABLES = `
  CREATE TABLE IF NOT EXISTS rollouts (
    measurement TEXT NOT NULL, problem TEXT NOT NULL, sample INTEGER NOT NULL, correct INTEGER NOT NULL, tokens INTEGER NOT NULL,
    PRIMARY KEY (measurement, problem, sample)
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS paces (measurement TEXT PRIMARY KEY, rollouts INTEGER NOT NULL, tokens INTEGER NOT NULL, seconds REAL NOT NULL)
  WITHOUT ROWID;
`;

export class DifficultyCache {
  readonly folder: string;
  readonly #db: Database.Database;

  /** @throws UserError where the folder cannot be written, or the file in it is something else */
  constructor(folder: string) {
    this.folder = folder;
    const file = join(folder, CACHE_FILE);
    let db: Database.Database | undefined;
    makeFolder(folder, 'Choose another folder by --cache.');
    try {
      db = new Database(file, { timeout: 10_000 });
      db.pragma('journal_mode = WAL');
      db.pragma('synchronous = NORMAL');
      db.exec(TABLES);
      this.#db = db;
    } catch (error) {
      db?.close();
      const code = String((error as { code?: unknown }).code);
      if (code === 'SQLITE_NOTADB' || code === 'SQLITE_CORRUPT')
        throw new UserError(`${file} is damaged, or no cache of Toolwise`, 'Remove it, or choose another folder by --cache.');
      throw new UserError(`${file} cannot be opened: ${(error as Error).message}`, 'Choose another folder by --cache.');
    }
  }

  /**
   * @param problem hash of its text
   * @param samples how many rollouts are wanted; later ones are left out
   */
  rollouts(key: MeasurementKey, problem: string, samples: number): KnownRollout[] {
    const rows = this.#db
      .prepare('SELECT sample, correct, tokens FROM rollouts WHERE measurement = ? AND problem = ? AND sample < ? ORDER BY sample')
      .all(hashOf(key), problem, samples) as { sample: number; correct: number; tokens: number }[];
    return rows.map(({ sample, correct, tokens }) => ({ sample, correct: correct === 1, tokens }));
  }

  put(key: MeasurementKey, problem: string, { sample, correct, tokens }: KnownRollout): void {
    this.#db
      .prepare('INSERT OR REPLACE INTO rollouts (measurement, problem, sample, correct, tokens) VALUES (?, ?, ?, ?, ?)')
      .run(hashOf(key), problem, sample, correct ? 1 : 0, tokens);
  }

  pace(key: MeasurementKey): Pace | undefined {
    return this.#db.prepare('SELECT rollouts, tokens, seconds FROM paces WHERE measurement = ?').get(hashOf(key)) as Pace | undefined;
  }

  addPace(key: MeasurementKey, { rollouts, tokens, seconds }: Pace): void {
    this.#db
      .prepare(
        `INSERT INTO paces (measurement, rollouts, tokens, seconds) VALUES (?, ?, ?, ?) ON CONFLICT (measurement) DO UPDATE SET
         rollouts = rollouts + excluded.rollouts, tokens = tokens + excluded.tokens, seconds = seconds + excluded.seconds`,
      )
      .run(hashOf(key), rollouts, tokens, seconds);
  }

  close(): void {
    this.#db.close();
  }
}
