/**
 * The official Tinker client, unmodified and in several versions, against our engine: `check-sdk.py` trains, samples and lists with each.
 * Ends as "not verified" where the client cannot be had.
 */
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureEnv, findPython, notVerified, root } from './otherEnv.mjs';

const VERSIONS = ['0.24.1', '0.25.0', '0.38.0'];

const base = findPython(11, 'TOOLWISE_SDK_PYTHON');
if (base === undefined) notVerified('Tinker client', 'it needs Python 3.11 or newer (name one in TOOLWISE_SDK_PYTHON)');
const enginePython = join(process.env.TOOLWISE_HOME || join(root, '.toolwise'), 'python', 'bin', 'python');
if (!existsSync(enginePython)) notVerified('Tinker client', 'the engine is not installed: npx toolwise setup');

const folder = mkdtempSync(join(tmpdir(), 'sdk-'));
const model = join(folder, 'model');
const make = `import('./test/tinyModel.ts').then((m) => m.makeTinyModel(${JSON.stringify(model)}))`;
if (spawnSync(process.execPath, ['--import', 'tsx', '-e', make], { cwd: root, stdio: 'inherit' }).status !== 0) process.exit(1);

let failed = 0;
for (const version of VERSIONS) {
  const python = ensureEnv(`sdk-${version}`, base, [`torch==${process.env.TOOLWISE_SDK_TORCH || '2.13.0'}`], [`tinker==${version}`]);
  if (python === undefined) {
    console.log(`tinker ${version}: not verified: pip could not install it`);
    continue;
  }
  const key = `tml-${randomBytes(16).toString('hex')}`;
  const engine = spawn(
    enginePython,
    ['-m', 'toolwise_engine', '--model', `tiny=${model}`, '--checkpoints', join(folder, version), '--dtype', 'float32', '--threads', '1'],
    { env: { ...process.env, PYTHONPATH: join(root, 'engine'), TOOLWISE_ENGINE_KEY: key }, stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const ended = once(engine, 'exit');
  const [line] = await Promise.race([once(createInterface({ input: engine.stdout }), 'line'), ended.then(() => [undefined])]);
  if (line === undefined) process.exit(1);
  console.log(`\ntinker ${version}`);
  const { status } = spawnSync(python, ['-W', 'ignore', 'scripts/check-sdk.py', `http://127.0.0.1:${JSON.parse(line).port}`, 'tiny'], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'pipe'],
    encoding: 'utf8',
    env: { ...process.env, TINKER_API_KEY: key },
    timeout: 300_000,
  });
  if (status !== 0) failed++;
  console.log(`tinker ${version}: ${status === 0 ? 'verified' : 'FAILED'}`);
  engine.stdin.end();
  await Promise.race([ended, sleep(20_000)]);
  if (engine.exitCode === null) engine.kill('SIGKILL');
}
rmSync(folder, { recursive: true, force: true });
process.exit(failed === 0 ? 0 : 1);
