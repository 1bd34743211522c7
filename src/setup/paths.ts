/** Where things are: the package, and the one folder that set-up writes to. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeFolder } from '../userPath.js';

/** Folder of the package: `src/setup` and `dist/setup` are both two below it. */
export const packageRoot = (): string => fileURLToPath(new URL('../..', import.meta.url)).replace(/[/\\]$/, '');

/** Whether this is a clone of the sources and not an installed package. */
export function isClone(root = packageRoot()): boolean {
  return existsSync(join(root, 'src')) && (existsSync(join(root, '.git')) || existsSync(join(root, 'tsconfig.json')));
}

/** `TOOLWISE_HOME`, else `.toolwise` in a clone, else the user's cache folder. */
export function homeFolder(env: NodeJS.ProcessEnv = process.env, root = packageRoot()): string {
  if (env.TOOLWISE_HOME) return resolve(env.TOOLWISE_HOME);
  if (isClone(root)) return join(root, '.toolwise');
  return join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'toolwise');
}

/** @throws UserError where it, or a folder in it, cannot be made */
export const makeInHome = (folder: string): void => makeFolder(folder, 'TOOLWISE_HOME names another place.');

/** Folder that holds the Python package `toolwise_engine` and its requirements. */
export const engineFolder = (root = packageRoot()): string => join(root, 'engine');

/** Python of a virtual environment. */
export const pythonIn = (environment: string): string =>
  process.platform === 'win32' ? join(environment, 'Scripts', 'python.exe') : join(environment, 'bin', 'python');
