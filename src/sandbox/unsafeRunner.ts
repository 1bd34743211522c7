/**
 * No sandbox: a plain Python process with time, memory and output limits, which can read and delete whatever its user can. Only for a
 * machine without bubblewrap, and only when asked for by name; whoever opens it prints the warning.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UserError } from '../userError.js';
import { findExecutable, installCommand, pythonEnvironment } from './host.js';
import { defaultOutputBytes, PooledRunner, type RunnerOptions } from './pooledRunner.js';
import { PythonWorker, pythonSourcePath } from './pythonWorker.js';

/** @throws UserError when there is no Python. */
export function openUnsafeRunner(options: RunnerOptions): PooledRunner {
  const names = options.python === undefined ? ['/usr/bin/python3', 'python3'] : [options.python];
  const python = names.map(findExecutable).find((path) => path !== undefined);
  if (python === undefined) throw new UserError(`there is no ${names.join(' and no ')}`, `install one with: ${installCommand}`);
  const env = { ...pythonEnvironment, PATH: process.env.PATH ?? pythonEnvironment.PATH!, HOME: process.env.HOME ?? '/' };
  const notes = ['no isolation: programs run with the rights of this process, network and files included'];
  if (process.platform !== 'linux') notes.push(`on ${process.platform} memory is not limited, and a program's children can outlive it`);
  const cwd = mkdtempSync(join(tmpdir(), 'toolwise-none-'));
  const args = ['-B', pythonSourcePath('supervisor.py'), 'plain', ''];
  const pool = {
    size: options.workers,
    oneShot: true,
    outputBytes: options.outputBytes ?? defaultOutputBytes,
    start: () => PythonWorker.start({ file: python, args, env, openFiles: [], cwd }),
  };
  return new PooledRunner('none', notes, pool, () => rmSync(cwd, { recursive: true, force: true }));
}
