/**
 * The command line that starts a supervisor inside bubblewrap: what a program sees of this machine is decided here. Does not start it.
 */
import { lstatSync, readlinkSync } from 'node:fs';
import { UserError } from '../userError.js';
import { dropRoot, existingRealPath, findExecutable, installCommand, outputOf, type Python, pythonEnvironment } from './host.js';
import { pythonSourcePath, pythonSources, type WorkerCommand } from './pythonWorker.js';

export interface Bubblewrap {
  readonly path: string;
  readonly version: string;
  /** It can limit the size of a tmpfs (since 0.7). */
  readonly hasSize: boolean;
}

/** @throws UserError when it is not installed. */
export async function findBubblewrap(): Promise<Bubblewrap> {
  const path = findExecutable('bwrap');
  const help = path === undefined ? undefined : await outputOf(path, ['--help']);
  const version = path === undefined ? undefined : await outputOf(path, ['--version']);
  if (path === undefined || help === undefined || version === undefined) {
    const where = process.platform === 'linux' ? '' : ` (it exists for Linux only; this is ${process.platform})`;
    throw new UserError(`the sandbox needs bubblewrap, which is not installed${where}`, `install it with: ${installCommand}`);
  }
  return { path, version: version.trim().replace(/^bubblewrap /, ''), hasSize: help.includes('--size') };
}

const codeFolder = '/toolwise';
const firstDescriptor = 5;
const tmpBytes = 64 * 2 ** 20;
const shmBytes = 16 * 2 ** 20;

/**
 * `namespaces`: the supervisor stays and gives each program namespaces of its own; `fork`: it is process 1 and runs one program.
 * Inside: /usr and the Python read-only, an empty /tmp, no network, no capabilities, no file of a user.
 */
export function bubblewrapCommand(
  bwrap: Bubblewrap,
  python: Python,
  mode: 'namespaces' | 'fork',
  slot: number,
  modules: readonly string[] = [],
): WorkerCommand {
  const args = ['--unshare-user', '--unshare-pid', '--unshare-net', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'];
  args.push('--die-with-parent', '--new-session', '--hostname', 'sandbox', '--ro-bind', '/usr', '/usr');
  for (const folder of ['/bin', '/sbin', '/lib', '/lib32', '/lib64']) args.push(...sameAsHost(folder));
  for (const path of ['/etc/alternatives', '/etc/ld.so.cache', '/etc/localtime']) args.push('--ro-bind-try', path, path);
  for (const prefix of new Set(python.prefixes)) {
    if (!/^\/usr(\/|$)/.test(prefix)) args.push('--ro-bind', prefix, prefix);
  }
  args.push('--proc', '/proc', '--dev', '/dev');
  const size = (bytes: number) => (bwrap.hasSize ? ['--size', String(bytes)] : []);
  args.push(...size(tmpBytes), '--tmpfs', '/tmp', ...size(shmBytes), '--tmpfs', '/dev/shm');
  pythonSources.forEach((name, index) => {
    args.push('--ro-bind-data', String(firstDescriptor + index), `${codeFolder}/${name}`);
  });
  // bubblewrap's own root and /dev are writable memory, which the next program would see.
  args.push('--remount-ro', '/dev', '--remount-ro', '/');
  if (mode === 'namespaces') args.push('--remount-ro', '/tmp', '--remount-ro', '/dev/shm');
  else args.push('--as-pid-1');
  args.push('--chdir', '/tmp', '--', python.path, '-B', `${codeFolder}/supervisor.py`, mode);
  args.push(modules.join(','));
  const [file, ...before] = [...dropRoot(slot), bwrap.path];
  return { file: file!, args: [...before, ...args], env: pythonEnvironment, openFiles: pythonSources.map(pythonSourcePath), cwd: '/' };
}

/** A folder of the root that is a link on a merged-/usr system, and a real folder elsewhere. */
function sameAsHost(folder: string): string[] {
  if (existingRealPath(folder) === undefined) return [];
  return lstatSync(folder).isSymbolicLink() ? ['--symlink', readlinkSync(folder), folder] : ['--ro-bind', folder, folder];
}
