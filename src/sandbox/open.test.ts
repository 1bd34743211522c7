import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { UserError } from '../userError.js';
import { findExecutable, findPython } from './host.js';
import { hintFor, openCodeRunner } from './open.js';
import { memoryNote } from './pooledRunner.js';
import { hasBubblewrap } from './testSupport.js';

let folder: string | undefined;
afterEach(() => {
  vi.unstubAllEnvs();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  folder = undefined;
});

/** A PATH with nothing but the given scripts and links. */
function path(entries: Record<string, { script: string } | { link: string }>): void {
  folder = mkdtempSync(join(tmpdir(), 'toolwise-path-'));
  chmodSync(folder, 0o755);
  for (const [name, entry] of Object.entries(entries)) {
    if ('link' in entry) symlinkSync(entry.link, join(folder, name));
    else writeFileSync(join(folder, name), `#!/bin/sh\n${entry.script}\n`, { mode: 0o755 });
  }
  vi.stubEnv('PATH', folder);
}

describe('opening a sandbox', () => {
  it.each(['auto', 'zygote', 'oneshot'] as const)('refuses %s without bubblewrap and says what to install', async (kind) => {
    path({});
    const error = await openCodeRunner({ kind, workers: 1 }).catch((it: unknown) => it);
    expect(error).toBeInstanceOf(UserError);
    expect((error as UserError).message).toContain('bubblewrap');
    expect((error as UserError).hint).toContain('apt-get install -y bubblewrap python3');
  });

  it('opens none only by name', async () => {
    const runner = await openCodeRunner({ kind: 'none', workers: 1 });
    expect(runner.name).toBe('none');
    expect(runner.notes.join()).toContain('no isolation');
    await runner.close();
  });

  it('names a Python that does not exist', async () => {
    await expect(findPython('/nowhere/python3')).rejects.toThrow('/nowhere/python3');
  });
});

describe.skipIf(!hasBubblewrap)('opening a sandbox with bubblewrap', () => {
  it('takes the zygote by itself', async () => {
    const runner = await openCodeRunner({ kind: 'auto', workers: 1 });
    expect(runner.name).toBe('bubblewrap');
    expect(runner.notes).toEqual([memoryNote]);
    await runner.close();
  });

  it('falls back to one-shot with the reason where the zygote does not work', async () => {
    const bwrap = findExecutable('bwrap')!;
    const setpriv = findExecutable('setpriv');
    // A kernel that refuses namespaces inside namespaces, acted by refusing the zygote's way of being started.
    const script = `for a in "$@"; do [ "$a" = namespaces ] && { echo "no namespaces inside" >&2; exit 1; }; done; exec ${bwrap} "$@"`;
    path({ bwrap: { script }, ...(setpriv === undefined ? {} : { setpriv: { link: setpriv } }) });
    const runner = await openCodeRunner({ kind: 'auto', workers: 1 });
    expect(runner.name).toBe('bubblewrap-oneshot');
    expect(runner.notes[0]).toContain('no namespaces inside');
    expect(await runner.run({ code: 'print(1)', timeoutSeconds: 20, memoryMb: 256 })).toMatchObject({ kind: 'ran', stdout: '1\n' });
    await runner.close();
  });

  it('refuses to go on where bubblewrap is not allowed to work', async () => {
    const setpriv = findExecutable('setpriv');
    const script =
      'case "$1" in --help|--version) echo bubblewrap 0.8.0;; *) echo "bwrap: setting up uid map: Permission denied" >&2; exit 1;; esac';
    path({ bwrap: { script }, ...(setpriv === undefined ? {} : { setpriv: { link: setpriv } }) });
    const error = await openCodeRunner({ kind: 'auto', workers: 1 }).catch((it: unknown) => it);
    expect(error).toBeInstanceOf(UserError);
    expect((error as UserError).message).toContain('setting up uid map: Permission denied');
    expect((error as UserError).hint).toContain('user namespaces');
  });
});

describe('the hint for a sandbox that does not work', () => {
  it.each([
    ["bwrap: Can't mount proc on /newroot/proc: Operation not permitted", 'docker'],
    ['bwrap: No permissions to create a new namespace', 'user namespaces'],
    ['cannot start a program: clone: Operation not permitted', 'user namespaces'],
    ['something else', 'bwrap --ro-bind'],
  ])('%s', (message, hint) => {
    expect(hintFor(message)).toContain(hint);
  });
});
