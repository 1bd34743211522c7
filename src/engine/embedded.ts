/**
 * Starts, watches and stops the engine that comes with this package: a Python process on this machine, reached like any other engine. It
 * lives as long as its standard input is open, so it ends with this process, however that ends. Does not restart it: the caller decides.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { delimiter, dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { engineFolder } from '../setup/paths.js';
import { inspectPythonEnv } from '../setup/pythonEnv.js';
import { UserError } from '../userError.js';
import { makeFolder, writingTo } from '../userPath.js';
import type { Engine } from './engine.js';
import { EngineError } from './engineError.js';
import { engineOver } from './tinkerClient.js';
import { TinkerSession } from './tinkerSession.js';

export interface EmbeddedEngineOptions {
  /** Name to Hugging Face folder. */
  readonly models: Readonly<Record<string, string>>;
  /** Checkpoints are kept here; those of an earlier process load again. */
  readonly checkpoints: string;
  /** What the engine writes to standard error is added to this file. */
  readonly logFile: string;
  /** Default `auto`: an NVIDIA GPU that torch can use, else the CPU. */
  readonly device?: 'auto' | 'cpu' | 'cuda';
  /** Default `auto`. */
  readonly dtype?: 'auto' | 'bfloat16' | 'float32';
  /** `auto`, the default: as many as are free. */
  readonly threads?: 'auto' | number;
  /** Default: the environment that set-up made. */
  readonly python?: string;
  /** Called once when the engine ends or falls silent and nobody asked it to; its open calls have failed by then. Close it then. */
  readonly onDeath?: (error: EngineError) => void;
  readonly signal?: AbortSignal;
}

export interface EmbeddedEngine extends Engine {
  readonly pid: number;
  /** Ends the process too: by closing its input, then SIGTERM, then SIGKILL. */
  close(): Promise<void>;
}

const START_MS = 300_000;
const GRACE_MS = 8_000;

const ANOTHER_FOLDER = 'Choose another folder with --out.';

/** @throws UserError when it is not installed or refuses to start (a bad model folder); EngineError when it dies on the way */
export async function startEmbeddedEngine(options: EmbeddedEngineOptions): Promise<EmbeddedEngine> {
  const python = options.python ?? installedPython();
  const key = `tml-${randomBytes(32).toString('hex')}`;
  makeFolder(options.checkpoints, ANOTHER_FOLDER);
  makeFolder(dirname(options.logFile), ANOTHER_FOLDER);
  const child = launch(python, key, options);
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(`it could not be started: ${error.message}`));
    child.once('exit', (code, signal) => resolve(signal === null ? `exit code ${code}` : `killed by ${signal}`));
  });
  try {
    const port = await ready(child, ended, options);
    const session = await TinkerSession.open({ url: `http://127.0.0.1:${port}`, key });
    return watch(child, ended, session, options);
  } catch (error) {
    await stop(child, ended);
    throw error;
  }
}

function installedPython(): string {
  const state = inspectPythonEnv();
  if (state.kind === 'ready') return state.python;
  throw new UserError(`the engine's Python environment is not ready: ${state.reason}`, 'Run: npx toolwise setup');
}

function launch(python: string, key: string, options: EmbeddedEngineOptions): ChildProcess {
  const folder = engineFolder();
  const threads = options.threads ?? 'auto';
  const log = writingTo(options.logFile, () => openSync(options.logFile, 'a'), ANOTHER_FOLDER);
  const args = [
    '-m',
    'toolwise_engine',
    '--device',
    options.device ?? 'auto',
    '--dtype',
    options.dtype ?? 'auto',
    '--threads',
    String(threads),
    '--checkpoints',
    options.checkpoints,
  ];
  for (const [name, model] of Object.entries(options.models)) args.push('--model', `${name}=${model}`);
  try {
    return spawn(python, args, {
      cwd: folder,
      stdio: ['pipe', 'pipe', log],
      // A group of its own: Ctrl-C in the terminal is for us, and the engine has to outlive it until we have saved.
      detached: true,
      env: {
        ...process.env,
        PYTHONPATH: [folder, process.env.PYTHONPATH].filter(Boolean).join(delimiter),
        PYTHONUNBUFFERED: '1',
        TOOLWISE_ENGINE_KEY: key,
        HF_HUB_OFFLINE: '1',
        TOKENIZERS_PARALLELISM: 'false',
        ...(threads === 'auto' ? {} : { OMP_NUM_THREADS: String(threads), MKL_NUM_THREADS: String(threads) }),
      },
    });
  } finally {
    closeSync(log);
  }
}

async function ready(child: ChildProcess, ended: Promise<string>, options: EmbeddedEngineOptions): Promise<number> {
  const lines = createInterface({ input: child.stdout! });
  const serving = new Promise<number>((resolve) => {
    lines.on('line', (line) => {
      const port = portIn(line);
      if (port !== undefined) resolve(port);
    });
  });
  const death = ended.then((how): never => {
    const last = lastLine(options.logFile);
    if (how === 'exit code 2') throw new UserError(`the engine does not start: ${last}`, `Its log is ${options.logFile}`);
    throw new EngineError('connection', `the engine ended before it served (${how}): ${last}; its log is ${options.logFile}`);
  });
  let timer: NodeJS.Timeout | undefined;
  let cancel: () => void = () => {};
  const given = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new EngineError('connection', `the engine did not start within ${START_MS / 1000} s`)), START_MS);
    cancel = () => reject(options.signal?.reason);
    options.signal?.addEventListener('abort', cancel, { once: true });
    if (options.signal?.aborted) cancel();
  });
  try {
    return await Promise.race([serving, death, given]);
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener('abort', cancel);
    death.catch(() => undefined);
  }
}

function portIn(line: string): number | undefined {
  try {
    const said = JSON.parse(line) as { event?: unknown; port?: unknown };
    return said.event === 'ready' && typeof said.port === 'number' ? said.port : undefined;
  } catch {
    return undefined;
  }
}

function watch(child: ChildProcess, ended: Promise<string>, session: TinkerSession, options: EmbeddedEngineOptions): EmbeddedEngine {
  let over = false;
  const die = async (error: EngineError): Promise<void> => {
    if (over) return;
    over = true;
    options.onDeath?.(error);
    await session.end(error);
  };
  void ended.then((how) =>
    die(new EngineError('connection', `the engine died (${how}): ${lastLine(options.logFile)}; its log is ${options.logFile}`)),
  );
  // A process that lives but has fallen silent is as good as dead.
  void session.ended.then((reason) => die(new EngineError('connection', reason.message)));
  const engine = engineOver(session);
  return {
    ...engine,
    pid: child.pid!,
    close: async () => {
      over = true;
      await engine.close();
      await stop(child, ended);
    },
  };
}

async function stop(child: ChildProcess, ended: Promise<string>): Promise<void> {
  child.stdin?.on('error', () => undefined).end();
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (await within(ended, GRACE_MS)) return;
    child.kill(signal);
  }
  await ended;
}

async function within(ended: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const result = await Promise.race([ended.then(() => true), late]);
  clearTimeout(timer);
  return result;
}

function lastLine(file: string): string {
  try {
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    return (lines.at(-1) ?? '').slice(0, 500) || 'its log is empty';
  } catch {
    return 'it has no log';
  }
}
