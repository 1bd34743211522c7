/**
 * All checks of the repository, after set-up: types, style, tests, the engine's tests. Stops at the first that fails; the last line says
 * how many passed. `--full` runs also every script of package.json that is named `check:full:...`.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const bin = (name) => join(root, 'node_modules', '.bin', name);
const node = (...args) => [process.execPath, args];

const steps = [
  ['set-up', () => node('scripts/setup.mjs', 'check')],
  ['types', () => ['npm', ['run', '--silent', 'types']]],
  ['style', () => [bin('biome'), ['check', '.']]],
  ['tests', () => [bin('vitest'), ['run']]],
  ['engine', () => [enginePython(), ['-m', 'pytest', '-q', 'engine/tests'], { PYTHONPATH: join(root, 'engine'), HF_HUB_OFFLINE: '1' }]],
];
if (process.argv.includes('--full')) {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  for (const name of Object.keys(scripts)) {
    if (name.startsWith('check:full:')) steps.push([name.slice('check:full:'.length), () => ['npm', ['run', '--silent', name]]]);
  }
}

const started = performance.now();
let passed = 0;
let failed = 0;
for (const [name, command] of steps) {
  console.log(`\n== ${name}`);
  const from = performance.now();
  const [program, args, env = {}] = command();
  const { status, error } = spawnSync(program, args, { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } });
  const seconds = ((performance.now() - from) / 1000).toFixed(1);
  if (error !== undefined) console.error(error.message);
  console.log(`== ${name}: ${status === 0 ? 'passed' : 'FAILED'} in ${seconds} s`);
  if (status === 0) passed++;
  else {
    failed++;
    break;
  }
}
const rest = steps.length - passed - failed;
console.log(
  `\n${((performance.now() - started) / 1000).toFixed(0)} s${
    rest > 0
      ? `; not run: ${steps
          .slice(-rest)
          .map(([name]) => name)
          .join(', ')}`
      : ''
  }`,
);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

/** The environment that set-up has just made or confirmed. */
function enginePython() {
  const home = process.env.TOOLWISE_HOME || join(root, '.toolwise');
  const own = process.env.TOOLWISE_ENGINE_PYTHON;
  const made = process.platform === 'win32' ? join(home, 'python/Scripts/python.exe') : join(home, 'python/bin/python');
  return own || (existsSync(made) ? made : 'python3');
}
