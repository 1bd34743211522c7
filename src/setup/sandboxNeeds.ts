/**
 * What the sandbox needs from the system: bubblewrap, setpriv, and a Python with numpy and sympy for the programs to run in. On Debian and
 * Ubuntu as root they are installed; elsewhere the command is told. Whether the sandbox holds is another question: see `doctor.ts`.
 */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findExecutable, findPython, installCommand, isRoot } from '../sandbox/host.js';
import { UserError } from '../userError.js';
import { run, tail } from './command.js';
import { homeFolder, makeInHome } from './paths.js';

export interface SandboxNeeds {
  readonly bubblewrap: string | undefined;
  readonly setpriv: string | undefined;
  readonly python: string | undefined;
  /** Modules that the Python lacks. */
  readonly missingModules: readonly string[];
}

/** Looks; changes nothing. Starts Python once, which takes up to a second. */
export async function inspectSandboxNeeds(): Promise<SandboxNeeds> {
  const python = await findPython().catch((error: unknown) => {
    if (error instanceof UserError) return undefined;
    throw error;
  });
  return {
    bubblewrap: findExecutable('bwrap'),
    setpriv: findExecutable('setpriv'),
    python: python?.path,
    missingModules: python?.missing ?? [],
  };
}

/** What of it is not there, as words for a person; empty when all is. setpriv is needed by root alone. */
export function missingSandboxNeeds(needs: SandboxNeeds, root = isRoot()): string[] {
  return [
    ...(needs.bubblewrap === undefined ? ['bubblewrap'] : []),
    ...(needs.setpriv === undefined && root ? ['setpriv (util-linux)'] : []),
    ...(needs.python === undefined ? ['a Python for programs'] : needs.missingModules.map((name) => `Python's ${name}`)),
  ];
}

/**
 * Installs what is missing where it can. Costs a few milliseconds when an earlier call found everything and nothing has changed since.
 *
 * @throws UserError with the command to run, where it cannot be installed from here
 */
export async function ensureSandboxNeeds(log: (line: string) => void, home = homeFolder()): Promise<void> {
  if (process.platform !== 'linux') {
    log(`sandbox: bubblewrap is for Linux; on ${process.platform} programs can only run without one, which has to be asked for by name`);
    return;
  }
  if (isStamped(home)) return;
  let needs = await inspectSandboxNeeds();
  let missing = missingSandboxNeeds(needs);
  if (missing.length > 0) {
    if (!isRoot() || findExecutable('apt-get') === undefined) {
      throw new UserError(`the sandbox needs ${missing.join(', ')}`, `Run: ${installCommand}`);
    }
    log(`sandbox: installing ${missing.join(', ')}`);
    await aptInstall(join(home, 'sandbox.log'));
    needs = await inspectSandboxNeeds();
    missing = missingSandboxNeeds(needs);
    if (missing.length > 0) throw new UserError(`the sandbox still needs ${missing.join(', ')}`, `Run: ${installCommand}`);
  }
  stamp(home, [needs.bubblewrap, needs.setpriv, needs.python]);
  log('sandbox: ready');
}

const PACKAGES = ['bubblewrap', 'util-linux', 'python3', 'python3-numpy', 'python3-sympy'];

async function aptInstall(logFile: string): Promise<void> {
  const options = { logFile, env: { DEBIAN_FRONTEND: 'noninteractive' } };
  const install = ['install', '-y', '--no-install-recommends', ...PACKAGES];
  let done = await run('apt-get', install, options);
  if (done.status !== 0) {
    await run('apt-get', ['update'], options);
    done = await run('apt-get', install, options);
  }
  if (done.status !== 0)
    throw new UserError(`apt-get ${install.join(' ')} failed:\n${tail(done.output)}`, `The whole output is in ${logFile}`);
}

const stampFile = (home: string): string => join(home, 'sandbox.json');

function stamp(home: string, files: readonly (string | undefined)[]): void {
  const times = files.filter((file) => file !== undefined).map((file) => [file, statSync(file).mtimeMs]);
  makeInHome(home);
  writeFileSync(stampFile(home), `${JSON.stringify(Object.fromEntries(times))}\n`);
}

function isStamped(home: string): boolean {
  try {
    const times = Object.entries(JSON.parse(readFileSync(stampFile(home), 'utf8')) as Record<string, number>);
    return times.length > 0 && times.every(([file, mtimeMs]) => statSync(file).mtimeMs === mtimeMs);
  } catch {
    return false;
  }
}
