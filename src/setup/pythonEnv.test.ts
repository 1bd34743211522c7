import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { homeFolder } from './paths.js';
import { ensurePythonEnv, hasNvidiaGpu, inspectPythonEnv } from './pythonEnv.js';

let root: string;
let options: { home: string; engine: string; log: (line: string) => void };
const calls = (): string[] => (existsSync(join(root, 'calls')) ? readFileSync(join(root, 'calls'), 'utf8').trim().split('\n') : []);

/** A Python that makes environments of itself, writes down what pip is asked, and fails where `<root>/fail` says. */
const fakePython = () => `#!/bin/sh
case "$1" in
  -c) echo "\${FAKE_VERSION:-3.11} 64"; exit 0 ;;
esac
if [ "$2" = venv ]; then mkdir -p "$3/bin" && cp "$0" "$3/bin/python"; exit 0; fi
shift 2
echo "$@" >> ${root}/calls
if [ -f ${root}/fail ] && echo "$@" | grep -q -- "$(cat ${root}/fail)"; then echo "no matching distribution"; exit 1; fi
exit 0
`;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'toolwise-env-test-'));
  mkdirSync(join(root, 'engine'));
  writeFileSync(join(root, 'engine', 'requirements.txt'), 'torch==9.9.9\nnumpy==1.0\n');
  writeFileSync(join(root, 'engine', 'requirements-dev.txt'), 'pytest==1.0\n');
  writeFileSync(join(root, 'python3'), fakePython());
  chmodSync(join(root, 'python3'), 0o755);
  vi.stubEnv('TOOLWISE_PYTHON', join(root, 'python3'));
  vi.stubEnv('TOOLWISE_ENGINE_PYTHON', '');
  vi.stubEnv('TOOLWISE_TORCH', '');
  options = { home: join(root, 'home'), engine: join(root, 'engine'), log: () => undefined };
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true, force: true });
});

describe.skipIf(process.platform === 'win32')("the engine's Python environment", () => {
  it('is installed once, torch first, and is then left alone', async () => {
    expect(inspectPythonEnv(options)).toEqual({ kind: 'missing', reason: 'it is not installed' });
    const python = await ensurePythonEnv(options);
    const made = calls();
    expect(made[0]).toContain('torch==9.9.9');
    expect(made.at(-1)).toBe(`install -r ${join(root, 'engine', 'requirements.txt')}`);
    expect(await ensurePythonEnv(options)).toBe(python);
    expect(calls()).toEqual(made);
  });

  it('is made anew after an interrupted installation, and when the requirements change', async () => {
    writeFileSync(join(root, 'fail'), '^install -r');
    await expect(ensurePythonEnv(options)).rejects.toThrow(/failed:\nno matching distribution/);
    expect(inspectPythonEnv(options)).toEqual({ kind: 'missing', reason: 'its installation was interrupted' });
    rmSync(join(root, 'fail'));
    await ensurePythonEnv(options);
    writeFileSync(join(root, 'engine', 'requirements.txt'), 'torch==9.9.9\nnumpy==2.0\n');
    expect(inspectPythonEnv(options)).toEqual({ kind: 'missing', reason: 'its requirements have changed' });
    await ensurePythonEnv(options);
    expect(inspectPythonEnv(options).kind).toBe('ready');
  });

  it('gets more packages without being made anew', async () => {
    await ensurePythonEnv(options);
    const before = calls().length;
    await ensurePythonEnv({ ...options, extras: ['dev'] });
    expect(calls().slice(before)).toEqual([
      `install -r ${join(root, 'engine/requirements.txt')} -r ${join(root, 'engine/requirements-dev.txt')}`,
    ]);
    expect(inspectPythonEnv(options).kind).toBe('ready');
  });

  it.skipIf(process.platform === 'darwin')('falls back from the CPU build of torch to the plain one', async () => {
    writeFileSync(join(root, 'fail'), '+cpu');
    const lines: string[] = [];
    await ensurePythonEnv({ ...options, log: (line) => lines.push(line) });
    expect(calls().map((call) => call.split(' ').filter((word) => /torch|index/.test(word)))).toEqual([
      ['torch==9.9.9+cpu'],
      ['torch==9.9.9+cpu', '--extra-index-url', 'https://download.pytorch.org/whl/cpu'],
      ['torch==9.9.9'],
      [],
    ]);
    expect(lines.join('\n')).toContain('large download');
  });

  it.skipIf(process.platform === 'darwin')('takes the CPU build of torch even beside a GPU', async () => {
    writeFileSync(join(root, 'nvidia-smi'), '#!/bin/sh\necho "GPU 0: some card"\n');
    chmodSync(join(root, 'nvidia-smi'), 0o755);
    vi.stubEnv('PATH', `${root}:${process.env.PATH}`);
    expect(await hasNvidiaGpu()).toBe(true);
    await ensurePythonEnv(options);
    expect(calls()[0]).toContain('torch==9.9.9+cpu');
    expect(inspectPythonEnv(options)).toMatchObject({ kind: 'ready', torch: '9.9.9+cpu' });
  });

  it('takes the plain build of torch where it is asked for, and refuses a build that is none', async () => {
    vi.stubEnv('TOOLWISE_TORCH', 'gpu');
    await expect(ensurePythonEnv(options)).rejects.toThrow('TOOLWISE_TORCH: gpu is no build of torch');
    vi.stubEnv('TOOLWISE_TORCH', 'plain');
    await ensurePythonEnv(options);
    expect(calls()[0]).toBe('install torch==9.9.9');
    expect(inspectPythonEnv(options)).toMatchObject({ kind: 'ready', torch: '9.9.9' });
  });

  it('refuses a Python that is too old, and says which ones would do', async () => {
    vi.stubEnv('FAKE_VERSION', '3.8');
    await expect(ensurePythonEnv(options)).rejects.toThrow(/python3 is 3\.8\): 3\.10 to 3\.14 with venv is needed/);
  });

  it('may be one that the user made', async () => {
    vi.stubEnv('TOOLWISE_ENGINE_PYTHON', join(root, 'python3'));
    expect(await ensurePythonEnv(options)).toBe(join(root, 'python3'));
    vi.stubEnv('TOOLWISE_ENGINE_PYTHON', join(root, 'nowhere'));
    await expect(ensurePythonEnv(options)).rejects.toThrow('TOOLWISE_ENGINE_PYTHON: there is no');
  });

  it('is installed by one of two set-ups that start together', async () => {
    await Promise.all([ensurePythonEnv(options), ensurePythonEnv(options)]);
    expect(calls().filter((call) => call.startsWith('install -r'))).toHaveLength(1);
  });
});

describe('the folder that set-up writes to', () => {
  it('is the one named, else in the clone, else in the cache of the user', () => {
    expect(homeFolder({ TOOLWISE_HOME: '/x/y' }, root)).toBe('/x/y');
    expect(homeFolder({ XDG_CACHE_HOME: '/cache' }, root)).toBe('/cache/toolwise');
    mkdirSync(join(root, 'src'));
    writeFileSync(join(root, 'tsconfig.json'), '{}');
    expect(homeFolder({ XDG_CACHE_HOME: '/cache' }, root)).toBe(join(root, '.toolwise'));
  });
});
