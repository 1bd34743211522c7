/** Turns a full disk or a folder that may not be written, as SQLite or the system reports it, into a sentence with what to do. */
import { UserError } from '../userError.js';

const FULL = new Set([
  'SQLITE_FULL',
  'SQLITE_IOERR_WRITE',
  'SQLITE_IOERR_FSYNC',
  'SQLITE_IOERR_TRUNCATE',
  'SQLITE_IOERR_SHMSIZE',
  'ENOSPC',
  'EDQUOT',
]);

const FORBIDDEN = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST', 'SQLITE_CANTOPEN', 'SQLITE_READONLY', 'SQLITE_PERM']);

/**
 * Runs `write`, which must leave nothing half done when it throws (a transaction).
 * @param hint what to do where the folder may not be written
 * @throws UserError where the disk is full or the folder may not be written
 */
export function telling<T>(folder: string, write: () => T, hint = 'Choose another folder with --out, or change its permissions.'): T {
  try {
    return write();
  } catch (error) {
    const code = String((error as { code?: unknown }).code);
    if (FORBIDDEN.has(code)) {
      throw new UserError(`${folder} cannot be written (${code}).`, hint);
    }
    if (!FULL.has(code)) throw error;
    throw new UserError(
      `The disk of ${folder} is full or cannot be written (${code}). Everything up to the last ended step is safe.`,
      'Free some space (old checkpoints are the largest files), then go on with --resume.',
    );
  }
}
