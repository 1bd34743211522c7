/**
 * What this machine has for the sandbox: bubblewrap, a way to drop root, a Python that an unprivileged user can run. Finds and asks; changes
 * nothing.
 */
import { execFile } from 'node:child_process';
import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { UserError } from '../userError.js';

/** Loaded before the first program, so that importing them costs a program nothing. */
export const preloadedModules = ['numpy', 'sympy'] as const;

export const installCommand = 'sudo apt-get install -y bubblewrap python3 python3-numpy python3-sympy';

export interface Python {
  readonly path: string;
  readonly version: string;
  /** `sys.prefix` and `sys.base_prefix`: what has to be visible inside the sandbox. */
  readonly prefixes: readonly string[];
  /** Of `preloadedModules`, those it cannot import. */
  readonly missing: readonly string[];
}

/** The first executable of that name on the PATH, or the path itself; undefined where there is none. */
export function findExecutable(name: string): string | undefined {
  const candidates = name.includes('/') ? [name] : (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name));
  return candidates.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return statSync(path).isFile();
    } catch {
      return false;
    }
  });
}

export const isRoot = (): boolean => process.getuid?.() === 0;

/** An unprivileged user id for the worker in `slot`. Ids differ between slots and mostly between processes. */
export const workerUid = (slot: number): number => 61200 + ((process.pid * 13 + slot) % 3900);

/** The command in front of a command that takes root away for good; empty when there is no root to take. */
export function dropRoot(slot: number): string[] {
  if (!isRoot()) return [];
  const setpriv = findExecutable('setpriv');
  if (setpriv === undefined)
    throw new UserError('the sandbox will not run as root, and setpriv is missing', 'install util-linux, or run as another user');
  const uid = String(workerUid(slot));
  return [setpriv, '--reuid', uid, '--regid', uid, '--clear-groups', '--inh-caps=-all', '--bounding-set=-all', '--no-new-privs', '--'];
}

const question = `
import sys, json
missing = []
for name in sys.argv[1:]:
    try: __import__(name)
    except Exception: missing.append(name)
print(json.dumps([sys.executable, '.'.join(map(str, sys.version_info[:3])), [sys.prefix, sys.base_prefix], missing, sys.version_info >= (3, 8)]))
`;

/**
 * The Python that will run programs: `wanted`, else the first of /usr/bin/python3 and python3 that an unprivileged user can run and that
 * has every module of `preloadedModules`, else the first that runs at all (its `missing` says what it lacks).
 * @throws UserError when none runs.
 */
export async function findPython(wanted?: string): Promise<Python> {
  const names = wanted === undefined ? ['/usr/bin/python3', 'python3'] : [wanted];
  const found: Python[] = [];
  for (const name of names) {
    const path = findExecutable(name);
    const python = path === undefined ? undefined : await ask(path);
    if (python !== undefined) found.push(python);
    if (python?.missing.length === 0) return python;
  }
  if (found[0] !== undefined) return found[0];
  const what =
    wanted === undefined
      ? 'no Python 3.8 or newer that an unprivileged user can run'
      : `an unprivileged user cannot run ${wanted} as Python 3.8 or newer`;
  throw new UserError(`the sandbox found ${what}`, `install one with: ${installCommand}`);
}

function ask(path: string): Promise<Python | undefined> {
  const [file, ...args] = [...dropRoot(0), path, '-c', question, ...preloadedModules];
  return new Promise((resolve) => {
    execFile(file!, args, { cwd: '/', env: pythonEnvironment, timeout: 60_000 }, (error, stdout) => {
      if (error !== null) return resolve(undefined);
      try {
        const [executable, version, prefixes, missing, recent] = JSON.parse(stdout) as [string, string, string[], string[], boolean];
        resolve(recent ? { path: executable, version, prefixes, missing } : undefined);
      } catch {
        resolve(undefined);
      }
    });
  });
}

/**
 * All that a program sees of the environment. The hash seed is fixed, so that the order of a set does not depend on which worker ran the
 * program; `random` and `numpy.random` are seeded anew for each program.
 */
export const pythonEnvironment: Readonly<Record<string, string>> = {
  PATH: '/usr/local/bin:/usr/bin:/bin',
  HOME: '/tmp',
  LANG: 'C.UTF-8',
  LC_ALL: 'C.UTF-8',
  PYTHONHASHSEED: '0',
  PYTHONDONTWRITEBYTECODE: '1',
  PYTHONNOUSERSITE: '1',
  OPENBLAS_NUM_THREADS: '1',
  OMP_NUM_THREADS: '1',
  MKL_NUM_THREADS: '1',
};

/** Runs a command and returns what it printed, or undefined if it failed. */
export function outputOf(file: string, args: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(file, args, { timeout: 20_000 }, (error, stdout) => resolve(error === null ? stdout : undefined));
  });
}

export function existingRealPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
