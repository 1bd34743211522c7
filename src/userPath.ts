/**
 * Paths that the user gave: what the system refuses of them is a {@link UserError}. Folders are made one level after another: Node's own
 * `recursive` never returns where the system says of a level that it cannot be (`/proc/x`).
 */
import { accessSync, constants, lstatSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { UserError } from './userError.js';

/**
 * @param hint what to do where it cannot be made
 * @throws UserError where a file is in the way, or the system refuses
 */
export function makeFolder(path: string, hint = 'Choose another folder.'): void {
  makeMissing(path, hint, makeOne);
}

/**
 * What {@link makeFolder} would refuse because of what is there, without making anything.
 * @throws UserError where a file is in the way, or no folder can be looked into or written
 */
export function refuseUnmakable(path: string, hint = 'Choose another folder.'): void {
  makeMissing(path, hint, (level) => {
    if (lstatSync(level, { throwIfNoEntry: false }) !== undefined) throw Object.assign(new Error(), { code: 'EEXIST' });
    if (isThere(dirname(level))) accessSync(dirname(level), constants.W_OK);
  });
}

function makeMissing(path: string, hint: string, make: (level: string) => void): void {
  const missing: string[] = [];
  if (path === '') throw new UserError('the name of a folder is empty', hint);
  let level = resolve(path);
  try {
    while (!isThere(level)) {
      missing.unshift(level);
      level = dirname(level);
    }
    if (!statSync(level).isDirectory()) {
      const what = level === resolve(path) ? 'a file has that name' : `${level} is a file`;
      throw new UserError(`${path} cannot be made: ${what}`, hint);
    }
    for (level of missing) make(level);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (error instanceof UserError || code === undefined) throw error;
    throw new UserError(`${path} cannot be made: ${level === resolve(path) ? '' : `${level}: `}${reasonOf(code)}`, hint);
  }
}

/** @throws Error of the system where nobody may look */
export function isThere(path: string): boolean {
  try {
    return statSync(path) !== undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // below a file: the file is found further up
    if (code === 'ENOENT' || code === 'ENOTDIR') return false;
    throw error;
  }
}

/** Somebody else may make it at the same time. */
function makeOne(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !isThere(path) || !statSync(path).isDirectory()) throw error;
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'there is no permission',
  EPERM: 'there is no permission',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: "the disk's quota is used up",
  ENOENT: 'nothing can be made there',
  EEXIST: 'something that is no folder is in the way',
  ENAMETOOLONG: 'the name is too long',
  EISDIR: 'it is a folder',
  ENOTDIR: 'something that is no folder is in the way',
  ELOOP: 'its links lead in a circle',
};

/** An error of the system in words, with its code. */
const reasonOf = (code: string): string => (REASONS[code] === undefined ? code : `${REASONS[code]} (${code})`);

/**
 * Runs `write`, which writes to this path.
 * @throws UserError where the system refuses
 */
export const writingTo = <T>(path: string, write: () => T, hint = 'Choose another name.'): T => orRefused(path, 'written', write, hint);

/**
 * Runs `read`, which reads what lies there.
 * @throws UserError where the system refuses
 */
export const readingFrom = <T>(path: string, read: () => T, hint?: string): T => orRefused(path, 'read', read, hint);

function orRefused<T>(path: string, what: 'written' | 'read', work: () => T, hint: string | undefined): T {
  try {
    return work();
  } catch (error) {
    throw inWords(path, what, error, hint);
  }
}

/** @returns a UserError for what the system refused, else the error as it is */
export function inWords(path: string, what: 'written' | 'read', error: unknown, hint?: string): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  return code === undefined || syscall === undefined ? error : new UserError(`${path} cannot be ${what}: ${reasonOf(code)}`, hint);
}
