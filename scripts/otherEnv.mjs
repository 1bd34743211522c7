/** What the checks against other systems share: a Python of the right age, an environment of their own under .toolwise, a verdict in one line. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
const home = process.env.TOOLWISE_HOME || join(root, '.toolwise');

/** The first Python that is at least `major.minor`: by name, or among pyenv's. */
export function findPython(minor, variable) {
  const pyenv = join(process.env.PYENV_ROOT || join(homedir(), '.pyenv'), 'versions');
  const own = existsSync(pyenv) ? readdirSync(pyenv).map((version) => join(pyenv, version, 'bin', 'python')) : [];
  const named = [process.env[variable], 'python3.12', 'python3.13', 'python3', ...own.sort()].filter(Boolean);
  for (const program of named) {
    const { status, stdout } = spawnSync(program, ['-c', 'import sys; print(*sys.version_info[:2])'], { encoding: 'utf8' });
    if (status !== 0) continue;
    const [major, found] = stdout.trim().split(' ').map(Number);
    if (major === 3 && found >= minor && found <= 13) return program;
  }
  return undefined;
}

/** An environment with these requirements, made once. @returns its Python; undefined where pip fails, whose last words are printed */
export function ensureEnv(name, python, ...steps) {
  const folder = join(home, name);
  const stamp = join(folder, 'toolwise.json');
  const program = join(folder, 'bin', 'python');
  const wanted = JSON.stringify({ python, steps });
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return program;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(home, { recursive: true });
  console.log(`making ${folder}: ${steps.flat().join(' ')}`);
  const commands = [[python, ['-m', 'venv', folder]], ...steps.map((step) => [program, ['-m', 'pip', 'install', '--quiet', ...step]])];
  for (const [command, args] of commands) {
    const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' });
    if (status !== 0) {
      console.error(stderr.trim().split('\n').slice(-5).join('\n'));
      return undefined;
    }
  }
  writeFileSync(stamp, wanted);
  return program;
}

/** One package without what it needs, in a folder to put first on PYTHONPATH. @returns the folder; undefined where pip fails */
export function ensureTarget(name, python, requirement) {
  const folder = join(home, name);
  const stamp = join(folder, 'toolwise.json');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === requirement) return folder;
  rmSync(folder, { recursive: true, force: true });
  console.log(`making ${folder}: ${requirement}`);
  const { status, stderr } = spawnSync(python, ['-m', 'pip', 'install', '--quiet', '--no-deps', '--target', folder, requirement], {
    encoding: 'utf8',
  });
  if (status !== 0) {
    console.error(stderr.trim().split('\n').slice(-5).join('\n'));
    return undefined;
  }
  writeFileSync(stamp, requirement);
  return folder;
}

/** What cannot be had here is no failure of ours: it is said, and the exit code stays 0. */
export function notVerified(what, why) {
  console.log(`${what}: not verified: ${why}`);
  process.exit(0);
}
