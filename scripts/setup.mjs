/**
 * Makes a clone ready: npm packages, build, then `toolwise setup`. Uses nothing but Node, because there may be nothing else yet. Each part
 * is done only where something has changed, so that a second call takes well under a second.
 *
 *   node scripts/setup.mjs [TARGET] [-- SCRIPT ARGS...]   then runs SCRIPT with Node
 *
 * TARGET: all (default), demo, nano, bench, check. `--quick` among the script's arguments leaves the weights of act 2 out.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const TARGETS = {
  all: ['--model', 'nano', 'smollm2-135m'],
  demo: ['--model', 'nano', 'smollm2-135m'],
  'demo --quick': ['--model', 'nano'],
  nano: ['--no-models'],
  bench: ['--model', 'nano', 'smollm2-135m'],
  check: ['--model', 'nano', '--dev'],
};

const separator = process.argv.indexOf('--');
const [target = 'all'] = process.argv.slice(2, separator === -1 ? undefined : separator);
const script = separator === -1 ? [] : process.argv.slice(separator + 1);
const needs = TARGETS[script.includes('--quick') ? `${target} --quick` : target] ?? TARGETS[target];
if (needs === undefined) fail(`there is no target ${target}: ${Object.keys(TARGETS).join(', ')}`);

checkNode();
if (!packagesAreRight()) {
  say('npm packages: installing by the lockfile');
  must('npm', ['ci', '--no-audit', '--no-fund'], 'Check the network and the npm configuration.');
}
buildIfChanged();
must(process.execPath, [join(root, 'dist/cli/main.js'), 'setup', '--quiet', ...needs]);
if (script.length > 0) await hand(script);

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  fail(`Node ${process.versions.node} is too old: 20.19 or newer is needed (nodejs.org)`);
}

/** Whether what is installed is what the lockfile names; npm writes its own record last. */
function packagesAreRight() {
  const read = (file) => JSON.parse(readFileSync(join(root, file), 'utf8')).packages;
  try {
    const installed = read('node_modules/.package-lock.json');
    return Object.entries(read('package-lock.json')).every(
      ([name, { version, optional }]) => name === '' || installed[name]?.version === version || (optional && installed[name] === undefined),
    );
  } catch {
    return false;
  }
}

function buildIfChanged() {
  const stamp = join(root, '.toolwise', 'built.json');
  const files = [...listed('src'), 'package.json', 'tsconfig.json', 'tsconfig.build.json', 'scripts/copy-assets.mjs'].sort();
  const state = { names: digest(files), content: digest(files.map((file) => [file, statSync(join(root, file)).mtimeMs])) };
  let built;
  try {
    built = JSON.parse(readFileSync(stamp, 'utf8'));
  } catch {
    built = undefined;
  }
  if (built?.content === state.content && existsSync(join(root, 'dist/cli/main.js'))) return;
  say('build: compiling');
  if (built?.names !== state.names) rmSync(join(root, 'dist'), { recursive: true, force: true });
  else rmSync(stamp, { force: true });
  must('npm', ['run', '--silent', 'build']);
  mkdirSync(join(root, '.toolwise'), { recursive: true });
  writeFileSync(stamp, JSON.stringify(state));
}

function listed(folder) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.test(-d)?\.ts$|\.pyc$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length));
}

function digest(value) {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}

/** Runs the script in the place of this process: signals of the terminal reach it by themselves, others are handed on. */
async function hand(args) {
  const child = spawn(process.execPath, args, { cwd: root, stdio: 'inherit' });
  process.on('SIGINT', () => undefined);
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  process.exitCode = await new Promise((resolve) => {
    child.on('error', (error) => fail(error.message));
    child.on('exit', (code) => resolve(code ?? 1));
  });
}

function must(program, args, hint) {
  const shell = process.platform === 'win32' && program === 'npm';
  const { status, error } = spawnSync(program, args, { cwd: root, stdio: ['ignore', process.stderr, process.stderr], shell });
  if (status === 0) return;
  if (error !== undefined || hint !== undefined) say(`${program} ${args[0]} failed${error ? `: ${error.message}` : ''}. ${hint ?? ''}`);
  process.exit(status ?? 1);
}

function say(line) {
  console.error(line);
}

function fail(line) {
  console.error(`error: ${line}`);
  process.exit(2);
}
