/**
 * Weights & Biases through the user's own `wandb` package: a small Python program is fed lines of JSON and calls it. Key, server, mode and
 * folder are settled as with any use of that package (`wandb login`, WANDB_API_KEY, WANDB_BASE_URL, WANDB_MODE ...).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { basename, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type TrackedRun, type Tracker, TrackerGone } from './tracker.js';

export interface WandbOptions {
  readonly project: string;
  readonly entity?: string;
  /** A Python that has `wandb`. Default: TOOLWISE_WANDB_PYTHON, else `python3`. */
  readonly python?: string;
}

const BRIDGE = fileURLToPath(new URL('wandbBridge.py', import.meta.url));

export function wandb({ project, entity, python = process.env.TOOLWISE_WANDB_PYTHON || 'python3' }: WandbOptions): Tracker {
  let bridge: Bridge | undefined;
  return {
    name: 'wandb',
    async start(run, signal) {
      await bridge?.kill();
      bridge = new Bridge(python, run.folder);
      await bridge.send({ kind: 'start', project, ...(entity !== undefined && { entity }), ...described(run) }, signal);
    },
    async log(points, signal) {
      await bridge!.send({ kind: 'log', points }, signal);
    },
    async alarm({ kind, text }, signal) {
      await bridge!.send({ kind: 'alarm', title: kind, text }, signal);
    },
    async end({ kind }, signal) {
      await bridge!.send({ kind: 'end', exitCode: kind === 'ended' ? 0 : kind === 'failed' ? 1 : 130 }, signal);
      await bridge!.kill();
    },
  };
}

/** One run of ours is one of theirs, however often it goes on: its id comes from the folder and the time of its first start. */
function described({ folder, info, resumed }: TrackedRun): Record<string, unknown> {
  const id = createHash('sha256')
    .update(`${resolve(folder)} ${info.seed}`)
    .digest('hex')
    .slice(0, 16);
  return { id, name: basename(folder), folder: resolve(folder), resumed, config: { ...info.recipe, versions: info.versions } };
}

/** The Python program: one line out for each line in. */
class Bridge {
  readonly #process: ChildProcess;
  readonly #answers: AsyncIterator<string>;
  readonly #exited: Promise<unknown>;
  #lastWords = '';

  constructor(python: string, cwd: string) {
    this.#process = spawn(python, [BRIDGE], { cwd, stdio: ['pipe', 'pipe', 'pipe'] });
    this.#exited = once(this.#process, 'close').catch(() => undefined);
    this.#process.stdin!.on('error', () => undefined);
    this.#process.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#lastWords = `${this.#lastWords}${text}`.slice(-2000);
    });
    this.#answers = createInterface({ input: this.#process.stdout! })[Symbol.asyncIterator]();
  }

  async send(message: unknown, signal: AbortSignal): Promise<void> {
    const stop = (): void => void this.#process.kill();
    signal.addEventListener('abort', stop, { once: true });
    try {
      signal.throwIfAborted();
      this.#process.stdin!.write(`${JSON.stringify(message)}\n`);
      const { value, done } = await this.#answers.next();
      signal.throwIfAborted();
      if (done === true) {
        await this.#exited;
        throw new TrackerGone(`its Python program ended: ${this.#lastWords.trim().split('\n').at(-1) || 'no reason given'}`);
      }
      const answer = JSON.parse(value) as { ok?: boolean; gone?: string; error?: string };
      if (answer.gone !== undefined) throw new TrackerGone(answer.gone);
      if (answer.error !== undefined) throw new Error(answer.error);
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  async kill(): Promise<void> {
    this.#process.stdin!.end();
    const timer = setTimeout(() => this.#process.kill('SIGKILL'), 5000);
    await this.#exited;
    clearTimeout(timer);
  }
}
