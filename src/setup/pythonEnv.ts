/**
 * The engine's Python environment: a virtual environment with pinned packages, made once. A stamp that is written last says that it is
 * whole, so an interrupted installation is done again, and a finished one costs a few milliseconds.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { UserError } from '../userError.js';
import { run, tail } from './command.js';
import { withLock } from './lock.js';
import { engineFolder, homeFolder, makeInHome, pythonIn } from './paths.js';

/** Packages beyond what the engine needs to run: `convert` to de-quantise a GGUF file, `dev` for its tests. */
export type Extra = 'convert' | 'dev';

export interface PythonEnvOptions {
  readonly log: (line: string) => void;
  readonly extras?: readonly Extra[];
  /** Default: `homeFolder()`. */
  readonly home?: string;
  /** Folder with the requirements; default: the package's engine. */
  readonly engine?: string;
}

export type PythonEnvState =
  | { readonly kind: 'ready'; readonly python: string; readonly torch: string }
  | { readonly kind: 'missing'; readonly reason: string };

interface Stamp {
  readonly requirements: string;
  readonly extras: Partial<Record<Extra, string>>;
  /** Which build of torch was taken, for a person to read. */
  readonly torch: string;
}

export const OLDEST_PYTHON = [3, 10] as const;
const NEWEST_PYTHON = [3, 14] as const;
const CANDIDATES = ['python3.12', 'python3.13', 'python3.11', 'python3.14', 'python3.10', 'python3', 'python'];
/** PyTorch's own index of builds without GPU libraries. */
const CPU_INDEX = 'https://download.pytorch.org/whl/cpu';

/** Whether the environment is whole and up to date. Reads two small files. `TOOLWISE_ENGINE_PYTHON` names one that the user made. */
export function inspectPythonEnv(options: Omit<PythonEnvOptions, 'log'> = {}): PythonEnvState {
  const own = process.env.TOOLWISE_ENGINE_PYTHON;
  if (own) return existsSync(own) ? { kind: 'ready', python: own, torch: 'yours' } : { kind: 'missing', reason: `there is no ${own}` };
  const { environment, requirements } = places(options);
  const python = pythonIn(environment);
  const stamp = readStamp(environment);
  if (!existsSync(python)) return { kind: 'missing', reason: 'it is not installed' };
  if (stamp === undefined) return { kind: 'missing', reason: 'its installation was interrupted' };
  if (stamp.requirements !== digest(requirements)) return { kind: 'missing', reason: 'its requirements have changed' };
  for (const extra of options.extras ?? []) {
    const file = extraFile(options, extra);
    if (stamp.extras[extra] !== digest(file)) return { kind: 'missing', reason: `the packages of ${basename(file)} are not installed` };
  }
  return { kind: 'ready', python, torch: stamp.torch };
}

/**
 * Installs what is missing; gives the environment's Python.
 *
 * @throws UserError when there is no usable Python or pip fails, with the end of pip's output
 */
export async function ensurePythonEnv(options: PythonEnvOptions): Promise<string> {
  const before = inspectPythonEnv(options);
  if (before.kind === 'ready') return before.python;
  if (process.env.TOOLWISE_ENGINE_PYTHON) throw new UserError(`TOOLWISE_ENGINE_PYTHON: ${before.reason}`, 'Correct it, or unset it.');
  return withLock(options.home ?? homeFolder(), 'python-env', options.log, async () => {
    const state = inspectPythonEnv(options);
    return state.kind === 'ready' ? state.python : install(options);
  });
}

async function install(options: PythonEnvOptions): Promise<string> {
  const { home, environment, requirements, logFile } = places(options);
  const { log } = options;
  const python = pythonIn(environment);
  let stamp = readStamp(environment);
  if (stamp === undefined || stamp.requirements !== digest(requirements) || !existsSync(python)) {
    rmSync(environment, { recursive: true, force: true });
    makeInHome(home);
    writeFileSync(logFile, '');
    const base = await findPython();
    log(`Python environment: creating ${environment} with ${base.program} (${base.version})`);
    const made = await run(base.program, ['-m', 'venv', environment], { logFile });
    if (made.status !== 0) {
      throw new UserError(
        `${base.program} cannot make a virtual environment:\n${tail(made.output)}`,
        'On Debian or Ubuntu: apt-get install python3-venv. Or name another Python in TOOLWISE_PYTHON.',
      );
    }
    const torch = await installTorch(python, requirements, logFile, log);
    log('Python environment: installing the other packages');
    await pip(python, ['install', '-r', requirements], logFile);
    stamp = { requirements: digest(requirements), extras: {}, torch };
    writeStamp(environment, stamp);
  }
  for (const extra of options.extras ?? []) {
    const file = extraFile(options, extra);
    if (stamp.extras[extra] === digest(file)) continue;
    log(`Python environment: installing ${basename(file)}`);
    await pip(python, ['install', '-r', requirements, '-r', file], logFile);
    stamp = { ...stamp, extras: { ...stamp.extras, [extra]: digest(file) } };
    writeStamp(environment, stamp);
  }
  log('Python environment: ready');
  return python;
}

/** The CPU build where pip can have it, since the engine computes on the CPU, else the plain one, which `TOOLWISE_TORCH=plain` asks for. */
async function installTorch(python: string, requirements: string, logFile: string, log: (line: string) => void): Promise<string> {
  const pin = readFileSync(requirements, 'utf8').match(/^torch==([\d.]+)/m)?.[1];
  if (pin === undefined) throw new Error(`${requirements} does not pin torch`);
  // There is only one for macOS.
  const plain = process.platform === 'darwin' || plainTorchWanted();
  if (!plain) {
    const probe = ['install', '--no-deps', '--retries', '0', `torch==${pin}+cpu`];
    for (const more of [[], ['--extra-index-url', CPU_INDEX]]) {
      log(`Python environment: installing torch ${pin}, CPU build${more.length > 0 ? ` from ${CPU_INDEX}` : ''}`);
      const tried = await run(python, ['-m', 'pip', ...probe, ...more], { logFile, env: PIP_ENV });
      if (tried.status === 0) return `${pin}+cpu`;
    }
    log(`Python environment: pip finds no CPU build of torch; taking the plain one, a large download with GPU libraries in it`);
  } else {
    log(`Python environment: installing torch ${pin}`);
  }
  await pip(python, ['install', `torch==${pin}`], logFile);
  return pin;
}

/** @throws UserError for a value that means nothing, rather than installing the other build */
function plainTorchWanted(): boolean {
  const wanted = process.env.TOOLWISE_TORCH ?? '';
  if (!['', 'cpu', 'plain'].includes(wanted)) throw new UserError(`TOOLWISE_TORCH: ${wanted} is no build of torch`, 'Use cpu or plain.');
  return wanted === 'plain';
}

const PIP_ENV = { PIP_DISABLE_PIP_VERSION_CHECK: '1', PIP_NO_INPUT: '1', PIP_PROGRESS_BAR: 'off' };

async function pip(python: string, args: readonly string[], logFile: string): Promise<void> {
  const done = await run(python, ['-m', 'pip', ...args], { logFile, env: PIP_ENV });
  if (done.status === 0) return;
  throw new UserError(
    `pip ${args.join(' ')} failed:\n${tail(done.output)}`,
    `The whole output is in ${logFile}. Check the network and pip's configuration, then run the same command again.`,
  );
}

export async function hasNvidiaGpu(): Promise<boolean> {
  if (existsSync('/proc/driver/nvidia/version')) return true;
  const listed = await run('nvidia-smi', ['-L'], { timeoutMs: 10_000 });
  return listed.status === 0 && /GPU \d/.test(listed.stdout);
}

/** First usable Python: `TOOLWISE_PYTHON`, then the usual names. @throws UserError */
export async function findPython(): Promise<{ readonly program: string; readonly version: string }> {
  const named = process.env.TOOLWISE_PYTHON;
  const seen: string[] = [];
  for (const program of named ? [named] : CANDIDATES) {
    const script = 'import sys, struct, venv, ensurepip; print("%d.%d %d" % (*sys.version_info[:2], struct.calcsize("P") * 8))';
    const asked = await run(program, ['-c', script], { timeoutMs: 20_000 });
    const found = asked.stdout.match(/^(\d+)\.(\d+) (\d+)/);
    if (asked.status !== 0 || found === null) continue;
    const version = [Number(found[1]), Number(found[2])] as const;
    if (version[0] === 3 && version[1] >= OLDEST_PYTHON[1] && version[1] <= NEWEST_PYTHON[1] && found[3] === '64') {
      return { program, version: version.join('.') };
    }
    seen.push(`${program} is ${version.join('.')}`);
  }
  const range = `${OLDEST_PYTHON.join('.')} to ${NEWEST_PYTHON.join('.')}`;
  throw new UserError(
    `no usable Python${seen.length > 0 ? ` (${seen.join(', ')})` : ''}: ${range} with venv is needed`,
    'On Debian or Ubuntu: apt-get install python3 python3-venv. Elsewhere: python.org. TOOLWISE_PYTHON names one that is not on the PATH.',
  );
}

function places(options: Omit<PythonEnvOptions, 'log'>) {
  const home = options.home ?? homeFolder();
  return {
    home,
    environment: join(home, 'python'),
    requirements: join(options.engine ?? engineFolder(), 'requirements.txt'),
    logFile: join(home, 'python-env.log'),
  };
}

const extraFile = (options: Omit<PythonEnvOptions, 'log'>, extra: Extra): string =>
  join(options.engine ?? engineFolder(), `requirements-${extra}.txt`);

const digest = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');

const stampFile = (environment: string): string => join(environment, 'toolwise.json');

function readStamp(environment: string): Stamp | undefined {
  try {
    return JSON.parse(readFileSync(stampFile(environment), 'utf8')) as Stamp;
  } catch {
    return undefined;
  }
}

const writeStamp = (environment: string, stamp: Stamp): void => writeFileSync(stampFile(environment), `${JSON.stringify(stamp)}\n`);
