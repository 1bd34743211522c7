/**
 * Our client against a real SkyRL server on the CPU: installs it in an environment of its own, starts it on a tiny random model, runs
 * `test/skyrl.test.ts` and the contract suite, and stops it. Ends as "not verified" where SkyRL cannot be had.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureEnv, findPython, notVerified, root } from './otherEnv.mjs';

const VERSION = '0.4.0';
const WHAT = `SkyRL ${VERSION}`;

const base = findPython(12, 'TOOLWISE_SKYRL_PYTHON');
if (base === undefined) notVerified(WHAT, 'it needs Python 3.12 or 3.13 (name one in TOOLWISE_SKYRL_PYTHON)');
const python = ensureEnv('skyrl', base, [`skyrl[tinker,jax]==${VERSION}`, 'aiohttp']);
if (python === undefined) notVerified(WHAT, 'pip could not install it');

const folder = mkdtempSync(join(tmpdir(), 'skyrl-'));
const model = join(folder, 'model');
const made = spawnSync(
  process.execPath,
  ['--import', 'tsx', '-e', `import('./test/tinyModel.ts').then((m) => m.makeTinyModel(${JSON.stringify(model)}, 1, 'qwen3'))`],
  { cwd: root, stdio: 'inherit' },
);
if (made.status !== 0) process.exit(1);

const log = join(folder, 'server.log');
const output = openSync(log, 'a');
const port = await freePort();
const server = spawn(python, ['-u', 'scripts/skyrl-server.py', model, String(port), folder], {
  cwd: root,
  stdio: ['pipe', output, output],
});
const ended = once(server, 'exit');
let code = 1;
try {
  await answers(`http://127.0.0.1:${port}/api/v1/healthz`);
  const env = {
    ...process.env,
    TOOLWISE_SKYRL_URL: `http://127.0.0.1:${port}`,
    TOOLWISE_SKYRL_MODEL: model,
    TOOLWISE_SKYRL_CHECKPOINTS: join(folder, 'checkpoints'),
  };
  // One after the other: the server has room for few models.
  const tests = ['test/skyrl.test.ts', 'test/contract.test.ts', '--no-file-parallelism'];
  code = spawnSync(join(root, 'node_modules', '.bin', 'vitest'), ['run', ...tests], { cwd: root, stdio: 'inherit', env }).status ?? 1;
} catch (error) {
  console.error(`${error.message}\n${readFileSync(log, 'utf8').split('\n').slice(-20).join('\n')}`);
} finally {
  server.stdin.end();
  await Promise.race([ended, sleep(20_000)]);
  if (server.exitCode === null) server.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${WHAT}: ${code === 0 ? 'verified' : 'FAILED'}`);
process.exit(code);

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  return port;
}

async function answers(url) {
  for (let tries = 0; tries < 240; tries++) {
    if (server.exitCode !== null) throw new Error(`the server ended with exit code ${server.exitCode}`);
    if (
      await fetch(url).then(
        (answer) => answer.ok,
        () => false,
      )
    )
      return;
    await sleep(500);
  }
  throw new Error('the server did not answer within two minutes');
}
