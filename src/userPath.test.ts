import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { UserError } from './userError.js';
import { makeFolder, writingTo } from './userPath.js';

const root = mkdtempSync(join(tmpdir(), 'user-path-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function refusal(path: string): UserError {
  try {
    makeFolder(path, 'Give another.');
  } catch (error) {
    expect(error).toBeInstanceOf(UserError);
    return error as UserError;
  }
  throw new Error('it was made');
}

describe('a folder that the user named', () => {
  it('is made with those above it, and may be there already', () => {
    const path = join(root, 'a', 'b', 'c');
    makeFolder(path);
    makeFolder(path);
    expect(statSync(path).isDirectory()).toBe(true);
    symlinkSync(path, join(root, 'link'));
    makeFolder(join(root, 'link', 'd'));
    expect(existsSync(join(path, 'd'))).toBe(true);
  });

  it('is refused where a file is in the way, by the name of the file', () => {
    const file = join(root, 'file');
    writeFileSync(file, 'kept');
    expect(refusal(file).message).toBe(`${file} cannot be made: a file has that name`);
    expect(refusal(join(file, 'x', 'y')).message).toBe(`${join(file, 'x', 'y')} cannot be made: ${file} is a file`);
    expect(refusal(join(file, 'x')).hint).toBe('Give another.');
  });

  it('is refused where a link leads nowhere', () => {
    symlinkSync(join(root, 'nowhere'), join(root, 'dangling'));
    expect(refusal(join(root, 'dangling')).message).toContain('something that is no folder is in the way (EEXIST)');
  });

  it('is refused where the system makes none, and does not try for ever', { skip: process.platform !== 'linux' }, () => {
    expect(refusal('/proc/x/y').message).toMatch(/^\/proc\/x\/y cannot be made: \/proc\/x: .* \(E[A-Z]+\)$/);
  });

  it('is refused where its name is too long', () => {
    expect(refusal(join(root, 'x'.repeat(300))).message).toContain('the name is too long (ENAMETOOLONG)');
  });
});

describe('a file that the user named', () => {
  it('is written, or refused in words', () => {
    const file = join(root, 'report.md');
    writingTo(file, () => writeFileSync(file, 'text'));
    expect(readFileSync(file, 'utf8')).toBe('text');
    const refused =
      (path: string): (() => void) =>
      (): void =>
        writingTo(path, () => writeFileSync(path, 'text'));
    expect(refused(root)).toThrow(UserError);
    expect(refused(root)).toThrow(`${root} cannot be written: it is a folder (EISDIR)`);
    expect(refused(join(file, 'x'))).toThrow('something that is no folder is in the way (ENOTDIR)');
  });

  it('hides no mistake of the program', () => {
    const bug = (): never => {
      throw new TypeError('a bug');
    };
    expect(() => writingTo('file', bug)).toThrow(TypeError);
  });
});
