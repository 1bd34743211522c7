import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
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
});
