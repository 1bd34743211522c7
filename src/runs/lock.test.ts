import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UserError } from '../userError.js';
import { isBeingWritten, lockFolder } from './lock.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lock-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('a folder', () => {
  it('is being written from the lock to its release, and looking changes nothing', () => {
    expect(isBeingWritten(folder)).toBe(false);
    const release = lockFolder(folder);
    expect(isBeingWritten(folder)).toBe(true);
    expect(() => lockFolder(folder)).toThrow(`is being written by process ${process.pid}`);
    release();
    const before = readFileSync(join(folder, 'run.lock'));
    expect(isBeingWritten(folder)).toBe(false);
    expect(readFileSync(join(folder, 'run.lock'))).toEqual(before);
    lockFolder(folder)();
  });

  it('that cannot be locked is refused, with what to do', () => {
    mkdirSync(join(folder, 'run.lock'));
    expect(() => lockFolder(folder)).toThrow(UserError);
    expect(() => lockFolder(folder)).toThrow(`${folder} cannot be written (SQLITE_CANTOPEN)`);
  });

  // the system refuses root nothing
  it.skipIf(process.getuid?.() === 0)('of somebody else is refused, and can be looked at', () => {
    lockFolder(folder)();
    chmodSync(join(folder, 'run.lock'), 0o444);
    chmodSync(folder, 0o555);
    expect(() => lockFolder(folder)).toThrow('cannot be written (SQLITE_READONLY');
    expect(isBeingWritten(folder)).toBe(false);
    chmodSync(folder, 0o755);
  });
});
