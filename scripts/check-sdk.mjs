/**
 * The official Tinker client, unmodified and in several versions, against our engine: `check-sdk.py` trains, samples and lists with each. Then
 * the public cookbook's one-file loops, unmodified (`check-cookbook.py`). What cannot be had ends as "not verified", by name.
 */
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureEnv, ensureTarget, findPython, notVerified, root } from './otherEnv.mjs';

const CLIENTS = ['0.24.1', '0.25.0', '0.38.0'];
/** The first is installed with all it needs; the others over it, alone: they ask for packages that the loops do not use. */
const COOKBOOKS = ['0.5.8', '0.6.1'];
const TORCH = `torch==${process.env.TOOLWISE_SDK_TORCH || '2.13.0'}`;

const base = findPython(11, 'TOOLWISE_SDK_PYTHON');
if (base === undefined) notVerified('Tinker client', 'it needs Python 3.11 or newer (name one in TOOLWISE_SDK_PYTHON)');
const enginePython = join(process.env.TOOLWISE_HOME || join(root, '.toolwise'), 'python', 'bin', 'python');
if (!existsSync(enginePython)) notVerified('Tinker client', 'the engine is not installed: npx toolwise setup');

const folder = mkdtempSync(join(tmpdir(), 'sdk-'));
const model = join(folder, 'model');
const make = `import('./test/tinyModel.ts').then((m) => m.makeTinyModel(${JSON.stringify(model)}))`;
if (spawnSync(process.execPath, ['--import', 'tsx', '-e', make], { cwd: root, stdio: 'inherit' }).status !== 0) process.exit(1);

let failed = 0;
for (const version of CLIENTS) {
  const python = ensureEnv(`sdk-${version}`, base, [TORCH], [`tinker==${version}`]);
  await check(`tinker ${version}`, python, (url) => ['scripts/check-sdk.py', url, 'tiny']);
}
const python = ensureEnv('cookbook', base, [TORCH], [`tinker==${CLIENTS.at(-1)}`, `tinker-cookbook[math-rl]==${COOKBOOKS[0]}`]);
for (const [i, version] of COOKBOOKS.entries()) {
  const over = i > 0 && python !== undefined ? ensureTarget(`cookbook-${version}`, python, `tinker-cookbook==${version}`) : '';
  const logs = join(folder, `cookbook-${version}`);
  const name = `tinker-cookbook ${version} with tinker ${CLIENTS.at(-1)}`;
  await check(name, over === undefined ? undefined : python, (url) => ['scripts/check-cookbook.py', url, 'tiny', model, logs], {
    PYTHONPATH: over,
    HF_HUB_OFFLINE: '1',
  });
}
rmSync(folder, { recursive: true, force: true });
process.exit(failed === 0 ? 0 : 1);

/** One script of a client against an engine of its own. */
async function check(name, python, args, env = {}) {
  if (python === undefined) {
    console.log(`${name}: not verified: pip could not install it`);
    return;
  }
  const key = `tml-${randomBytes(16).toString('hex')}`;
  const checkpoints = mkdtempSync(join(folder, 'checkpoints-'));
  const engine = spawn(
    enginePython,
    ['-m', 'toolwise_engine', '--model', `tiny=${model}`, '--checkpoints', checkpoints, '--dtype', 'float32', '--threads', '1'],
    { env: { ...process.env, PYTHONPATH: join(root, 'engine'), TOOLWISE_ENGINE_KEY: key }, stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const ended = once(engine, 'exit');
  const [line] = await Promise.race([once(createInterface({ input: engine.stdout }), 'line'), ended.then(() => [undefined])]);
  if (line === undefined) process.exit(1);
  console.log(`\n${name}`);
  const { status, stderr } = spawnSync(python, ['-W', 'ignore', ...args(`http://127.0.0.1:${JSON.parse(line).port}`)], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'pipe'],
    encoding: 'utf8',
    env: { ...process.env, ...env, TINKER_API_KEY: key },
    timeout: 300_000,
  });
  if (status !== 0) {
    failed++;
    console.error(stderr.trim().split('\n').slice(-20).join('\n'));
  }
  console.log(`${name}: ${status === 0 ? 'verified' : 'FAILED'}`);
  engine.stdin.end();
  await Promise.race([ended, sleep(20_000)]);
  if (engine.exitCode === null) engine.kill('SIGKILL');
}
