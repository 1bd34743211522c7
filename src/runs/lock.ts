/**
 * One writer a run folder. The lock is a reserved SQLite lock on `run.lock`: the system takes it away when the process dies, however it
 * dies, so that no stale lock is ever left. Readers are not kept out.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { UserError } from '../userError.js';
import { telling } from './writeFailure.js';

export const LOCK_FILE = 'run.lock';

/** `isBeingWritten` of another process holds the lock for less than a millisecond: no reason to refuse a writer. */
const PATIENCE_MS = 250;

/**
 * @param hint what to do where the folder may not be written
 * @returns the release
 * @throws UserError where another writer has the folder, with its process id, or it may not be written
 */
export const lockFolder = (folder: string, hint?: string): (() => void) => telling(folder, () => lock(folder), hint);

function lock(folder: string): () => void {
  const db = new Database(join(folder, LOCK_FILE), { timeout: PATIENCE_MS });
  try {
    db.exec('CREATE TABLE IF NOT EXISTS holder (id INTEGER PRIMARY KEY CHECK (id = 1), pid INTEGER NOT NULL, since TEXT NOT NULL)');
    db.prepare('INSERT OR REPLACE INTO holder VALUES (1, ?, ?)').run(process.pid, new Date().toISOString());
    db.exec('BEGIN IMMEDIATE');
  } catch (error) {
    const holder = isBusy(error) ? holderOf(db) : undefined;
    db.close();
    if (!isBusy(error)) throw error;
    throw new UserError(
      `${folder} is being written by ${holder ?? 'another process'}.`,
      'Wait for that run to end or stop it, or choose another folder with --out.',
    );
  }
  return () => db.close();
}

/**
 * Whether a live process writes the folder. Changes nothing. Where the lock may not be tried (a read-only disk, another user's folder) the
 * process that is named in it is looked for.
 */
export function isBeingWritten(folder: string): boolean {
  const file = join(folder, LOCK_FILE);
  if (!existsSync(file)) return false;
  let db: Database.Database | undefined;
  try {
    db = new Database(file, { timeout: 0, fileMustExist: true });
    db.exec('BEGIN IMMEDIATE');
    db.exec('ROLLBACK');
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    return /^SQLITE_(READONLY|CANTOPEN)/.test(String((error as { code?: unknown }).code)) && holderLives(file);
  } finally {
    db?.close();
  }
}

function holderLives(file: string): boolean {
  let db: Database.Database | undefined;
  try {
    db = new Database(file, { readonly: true, timeout: 0 });
    const pid = db.prepare('SELECT pid FROM holder').pluck().get() as number | undefined;
    if (pid === undefined) return false;
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { code?: unknown }).code === 'EPERM';
  } finally {
    db?.close();
  }
}

const isBusy = (error: unknown): boolean => String((error as { code?: unknown }).code).startsWith('SQLITE_BUSY');

function holderOf(db: Database.Database): string | undefined {
  try {
    const row = db.prepare('SELECT pid, since FROM holder').get() as { pid: number; since: string } | undefined;
    return row && `process ${row.pid} since ${row.since}`;
  } catch {
    return undefined;
  }
}
