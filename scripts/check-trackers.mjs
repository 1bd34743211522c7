/**
 * Trackers against the real thing: a short run sends its numbers to TensorBoard's files, an MLflow server, and Weights & Biases offline, and
 * `check-trackers.py` reads them back with each one's own package. What cannot be had ends as "not verified", by name.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureEnv, findPython, notVerified, root } from './otherEnv.mjs';

const PACKAGES = ['tensorboard==2.21.0', 'mlflow==3.16.1', 'wandb==0.31.0'];
const SECONDS_TO_START = 120;

const base = findPython(10, 'TOOLWISE_TRACKERS_PYTHON');
if (base === undefined) notVerified('trackers', 'they need Python 3.10 or newer (name one in TOOLWISE_TRACKERS_PYTHON)');
const python = ensureEnv('trackers', base, PACKAGES);
if (python === undefined) notVerified('trackers', 'pip could not install them');

const folder = mkdtempSync(join(tmpdir(), 'trackers-'));
const port = await freePort();
const server = spawn(
  join(dirname(python), 'mlflow'),
  [
    'server',
    '--host',
    '127.0.0.1',
    '--port',
    String(port),
    '--workers',
    '1',
    '--backend-store-uri',
    `sqlite:///${join(folder, 'mlflow.db')}`,
  ],
  { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'], detached: true },
);
const ended = once(server, 'exit');
let status = 1;
try {
  const url = `http://127.0.0.1:${port}`;
  await answering(url);
  const run = join(folder, 'run');
  const args = ['--import', 'tsx', 'src/cli/main.ts', 'train', 'nano', '--out', run];
  for (const value of ['rl.steps=3', 'rl.groupsPerStep=4', 'evaluation.base=false', 'engine.threads=1']) args.push('--set', value);
  for (const tracker of ['tensorboard', `mlflow:${url}#check`, 'wandb:check']) args.push('--track', tracker);
  const env = { ...process.env, WANDB_MODE: 'offline', WANDB_SILENT: 'true', TOOLWISE_WANDB_PYTHON: python };
  status = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit', env }).status;
  if (status === 0) status = spawnSync(python, ['scripts/check-trackers.py', run, url], { cwd: root, stdio: 'inherit' }).status;
} finally {
  // the server starts workers of its own
  if (server.exitCode === null) process.kill(-server.pid, 'SIGTERM');
  await Promise.race([ended, sleep(10_000)]);
  if (server.exitCode === null) process.kill(-server.pid, 'SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}
console.log(`trackers: ${status === 0 ? 'verified' : 'FAILED'}`);
process.exitCode = status === 0 ? 0 : 1;

async function freePort() {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address();
  listener.close();
  await once(listener, 'close');
  return port;
}

async function answering(url) {
  for (let second = 0; second < SECONDS_TO_START; second++) {
    if (server.exitCode !== null) throw new Error('the MLflow server did not start');
    const answer = await fetch(`${url}/health`).catch(() => undefined);
    if (answer?.ok) return;
    await sleep(1000);
  }
  throw new Error(`the MLflow server does not answer after ${SECONDS_TO_START} s`);
}
