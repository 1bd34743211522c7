/** The packed tarball, installed in an empty folder: what a user of the package gets. */
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findExecutable } from '../src/sandbox/host.js';
import { type CommandResult, run } from '../src/setup/command.js';
import type { Check } from '../src/setup/doctor.js';
import { packageRoot } from '../src/setup/paths.js';
import { inspectPythonEnv } from '../src/setup/pythonEnv.js';

let root: string;
let folder: string;

const npm = async (args: readonly string[], cwd: string): Promise<void> => {
  const done = await run('npm', args, { cwd });
  if (done.status !== 0) throw new Error(`npm ${args.join(' ')} failed:\n${done.output}`);
};

const toolwise = (args: readonly string[], env: Record<string, string> = {}): Promise<CommandResult> =>
  run('npx', ['--no-install', 'toolwise', ...args], {
    cwd: folder,
    env: { TOOLWISE_HOME: join(root, 'home'), TOOLWISE_ENGINE_PYTHON: '', ...env },
  });

const doctor = async (env: Record<string, string> = {}): Promise<{ status: number; check: (name: string) => Check }> => {
  const { status, stdout } = await toolwise(['doctor', '--json'], env);
  const { checks } = JSON.parse(stdout) as { checks: Check[] };
  return { status, check: (name) => checks.find((check) => check.name === name)! };
};

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'toolwise-package-test-'));
  folder = join(root, 'user');
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  await npm(['pack', '--silent', '--pack-destination', root], packageRoot());
  const tarball = readdirSync(root).find((name) => name.endsWith('.tgz'))!;
  await npm(['install', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts', join(root, tarball)], folder);
  // Compiling SQLite takes a minute and is no part of what is asked here: the build of the same version is taken over.
  const built = join(
    dirname(createRequire(import.meta.url).resolve('better-sqlite3/package.json')),
    'build',
    'Release',
    'better_sqlite3.node',
  );
  const release = join(folder, 'node_modules', 'better-sqlite3', 'build', 'Release');
  mkdirSync(release, { recursive: true });
  copyFileSync(built, join(release, 'better_sqlite3.node'));
}, 300_000);

afterAll(() => rmSync(root, { recursive: true, force: true }));

describe('the installed package', () => {
  it('lists its commands', async () => {
    const { status, stdout } = await toolwise(['--help']);
    expect(status).toBe(0);
    for (const name of ['doctor', 'demo', 'train', 'eval', 'grade', 'data', 'export', 'serve', 'ui', 'study'])
      expect(stdout).toContain(`  ${name} `);
  });

  it('finds what came with it, and says what set-up has still to do', async () => {
    const { status, check } = await doctor();
    expect(status).toBe(1);
    expect(check('npm packages')).toMatchObject({ status: 'ok' });
    expect(check('weights of nano')).toMatchObject({ status: 'ok' });
    expect(check('engine')).toMatchObject({ status: 'missing', remedy: 'Run: npx toolwise setup' });
    if (findExecutable('bwrap') !== undefined) expect(check('sandbox')).toMatchObject({ status: 'ok' });
  });

  it('loads its engine from a Python that has what it needs', async () => {
    const state = inspectPythonEnv();
    expect(state.kind).toBe('ready');
    const { check } = await doctor({ TOOLWISE_ENGINE_PYTHON: state.kind === 'ready' ? state.python : '' });
    expect(check('engine')).toMatchObject({ status: 'ok' });
  });

  it('holds no tests and no sources', () => {
    const files = readdirSync(join(folder, 'node_modules', 'toolwise'), { recursive: true, encoding: 'utf8' });
    expect(files.filter((file) => /\.test\.|^src|__pycache__|^engine\/tests/.test(file))).toEqual([]);
  });
});
