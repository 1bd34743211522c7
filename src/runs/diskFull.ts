/** Turns a full disk, as SQLite or the system reports it, into a sentence with what to do. Does not free space. */
import { UserError } from '../userError.js';

const CODES = new Set([
  'SQLITE_FULL',
  'SQLITE_IOERR_WRITE',
  'SQLITE_IOERR_FSYNC',
  'SQLITE_IOERR_TRUNCATE',
  'SQLITE_IOERR_SHMSIZE',
  'ENOSPC',
  'EDQUOT',
]);

/**
 * Runs `write`, which must leave nothing half done when it throws (a transaction).
 * @throws UserError where the disk is full or cannot be written
 */
export function telling<T>(folder: string, write: () => T): T {
  try {
    return write();
  } catch (error) {
    const code = String((error as { code?: unknown }).code);
    if (!CODES.has(code)) throw error;
    throw new UserError(
      `The disk of ${folder} is full or cannot be written (${code}). Everything up to the last ended step is safe.`,
      'Free some space (old checkpoints are the largest files), then go on with --resume.',
    );
  }
}
