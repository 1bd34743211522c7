/**
 * One running supervisor (`python/supervisor.py`) and the talk with it: JSON lines to its standard input, answers on descriptor 3, and
 * what no program may see on descriptor 4. Runs one request at a time. Does not choose how the process is isolated (its maker passes the
 * command) and does not queue: see `workerPool.ts`.
 */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { CodeRequest, CodeResult } from './codeRunner.js';

/** How to start a supervisor. */
export interface WorkerCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Files handed over as open descriptors 5, 6, ... so that a process without rights to their folder can read them. */
  readonly openFiles: readonly string[];
  readonly cwd: string;
}

/** What came of a request: a result, or that the worker was lost, before or after the program had begun. */
export type WorkerOutcome = CodeResult | { readonly kind: 'lost'; readonly started: boolean; readonly error: string };

/** All of `python/`; a test sees to it that none is missing. */
export const pythonSources = [
  'supervisor.py',
  'assertions.py',
  'call.py',
  'candidate.py',
  'launcher.py',
  'plain_data.py',
  'plan.py',
  'preload.py',
  'processes.py',
  'program.py',
  'reports.py',
  'seccomp.py',
  'talk.py',
  'zygote.py',
] as const;

export const pythonSourcePath = (name: string): string => fileURLToPath(new URL(`python/${name}`, import.meta.url));

const startSeconds = 60;
/** How long beyond its limits a supervisor may stay silent before it counts as lost. */
const graceSeconds = 30;

type Message =
  | { kind: 'ready'; python: string; notes: string[] }
  | { kind: 'started'; id: number }
  | { kind: 'progress'; id: number }
  | { kind: 'infra'; id: number; error: string }
  | {
      kind: 'ran';
      id: number;
      ending: 'finished' | 'timeout' | 'memoryLimit' | 'outputLimit';
      exitCode: number;
      stdout: string;
      stderr: string;
      doesNotCompile?: boolean;
      report?: string;
      seconds: number;
    };

interface Pending {
  readonly id: number;
  started: boolean;
  readonly resolve: (outcome: WorkerOutcome) => void;
  readonly alive: () => void;
}

export class PythonWorker {
  readonly #child: ChildProcess;
  /** Resolves when the process is gone. */
  readonly exited: Promise<void>;
  readonly #ready: Promise<Message & { kind: 'ready' }>;
  #pending: Pending | undefined;
  #lastId = 0;
  #diagnostics = '';
  #dead: string | undefined;

  private constructor(command: WorkerCommand) {
    const descriptors = command.openFiles.map((path) => openSync(path, 'r'));
    const stdio: StdioOptions = ['pipe', 'ignore', 'pipe', 'pipe', 'pipe', ...descriptors];
    try {
      this.#child = spawn(command.file, command.args, { cwd: command.cwd, env: command.env, stdio });
    } finally {
      for (const descriptor of descriptors) closeSync(descriptor);
    }
    let becameReady: (message: Message & { kind: 'ready' }) => void = () => {};
    let failed: (error: Error) => void = () => {};
    this.#ready = new Promise((resolve, reject) => {
      becameReady = resolve;
      failed = reject;
    });
    this.#ready.catch(() => {});
    this.exited = new Promise((resolve) => {
      const lose = (why: string) => {
        this.#dead ??= why;
        failed(new Error(this.#dead));
        const pending = this.#pending;
        this.#pending = undefined;
        pending?.resolve({ kind: 'lost', started: pending.started, error: this.#dead });
        resolve();
      };
      this.#child.once('error', (error) => lose(`cannot start ${command.file}: ${error.message}`));
      this.#child.once('exit', () => {
        // Should something outlive it with our pipes in hand, we do not wait for that.
        const streams = [this.#child.stderr, this.#child.stdio[3], this.#child.stdio[4]];
        setTimeout(() => streams.forEach((stream) => void stream?.destroy()), 500).unref();
      });
      this.#child.once('close', (code, signal) => lose(`the sandbox process ended (${signal ?? `status ${code}`})${this.#said()}`));
    });
    for (const pipe of [this.#child.stdin, this.#child.stdio[4]]) pipe?.on('error', () => {}); // a broken pipe shows as `close`
    const diagnostics = this.#child.stderr as Readable;
    diagnostics.setEncoding('utf8').on('data', (text: string) => {
      this.#diagnostics = (this.#diagnostics + text).slice(-2000);
    });
    readLines(this.#child.stdio[3] as Readable, (line) => {
      const message = parseMessage(line);
      if (message === undefined) this.kill(`the sandbox answered with something else than JSON: ${line.slice(0, 200)}`);
      else if (message.kind === 'ready') becameReady(message);
      else this.#receive(message);
    });
  }

  /**
   * Starts a supervisor and waits until it answers.
   * @throws Error with what the process said when it did not come up.
   */
  static async start(command: WorkerCommand): Promise<PythonWorker> {
    const worker = new PythonWorker(command);
    const timer = setTimeout(() => worker.kill(`the sandbox did not answer within ${startSeconds} s`), startSeconds * 1000);
    try {
      await worker.#ready;
      return worker;
    } finally {
      clearTimeout(timer);
    }
  }

  get alive(): boolean {
    return this.#dead === undefined;
  }

  /** What the supervisor has to say about itself, for example a module that could not be loaded. */
  async notes(): Promise<{ python: string; notes: readonly string[] }> {
    const { python, notes } = await this.#ready;
    return { python, notes };
  }

  /** Runs one program. `outputBytes` is the most that is kept of stdout and of stderr; more ends the program. */
  async run(request: CodeRequest, outputBytes: number, queuedSeconds: number, signal?: AbortSignal): Promise<WorkerOutcome> {
    if (this.#pending !== undefined) throw new Error('a worker runs one program at a time');
    if (this.#dead !== undefined) return { kind: 'lost', started: false, error: this.#dead };
    const id = ++this.#lastId;
    const cancel = () => this.#write({ kind: 'cancel', id });
    const silence = (request.timeoutSeconds + graceSeconds) * 1000;
    const watchdog = setTimeout(() => this.kill('the sandbox stopped answering'), silence);
    try {
      const outcome = await new Promise<WorkerOutcome>((resolve) => {
        this.#pending = { id, started: false, resolve, alive: () => watchdog.refresh() };
        this.#send(id, request, request.outputBytes ?? outputBytes);
        if (signal?.aborted) cancel();
        else signal?.addEventListener('abort', cancel, { once: true });
      });
      return outcome.kind === 'ran' ? { ...outcome, queuedSeconds } : outcome;
    } finally {
      clearTimeout(watchdog);
      signal?.removeEventListener('abort', cancel);
    }
  }

  /** Ends the supervisor and what it runs; resolves when the process is gone. */
  async close(): Promise<void> {
    (this.#child.stdin as Writable).end();
    const timer = setTimeout(() => this.kill('closed'), 2000);
    await this.exited;
    clearTimeout(timer);
  }

  /** At once, without a last word. */
  kill(why: string): void {
    this.#dead ??= why;
    this.#child.kill('SIGKILL');
  }

  /** The process that was started, for tests that look for what is left of it. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  #send(id: number, request: CodeRequest, outputBytes: number): void {
    const { code, stdin = '', timeoutSeconds, memoryMb, echoLast = false, recursionLimit, task } = request;
    const message = { kind: 'run', id, code, stdin, timeoutSeconds, memoryMb, echoLast, recursionLimit, outputBytes };
    if (task?.kind !== 'check') {
      this.#write({ ...message, task });
      return;
    }
    const { tests, ...open } = task;
    const secret = Buffer.from(tests);
    this.#write({ ...message, task: { ...open, secretBytes: secret.length } });
    (this.#child.stdio[4] as Writable).write(secret);
  }

  #write(message: object): void {
    (this.#child.stdin as Writable).write(`${JSON.stringify(message)}\n`);
  }

  #receive(message: Exclude<Message, { kind: 'ready' }>): void {
    const pending = this.#pending;
    if (pending === undefined || pending.id !== message.id) return;
    if (message.kind === 'started' || message.kind === 'progress') {
      pending.started = true;
      pending.alive();
      return;
    }
    this.#pending = undefined;
    const { id: _, ...result } = message;
    pending.resolve(result.kind === 'infra' ? result : { ...result, queuedSeconds: 0 });
  }

  #said(): string {
    const text = this.#diagnostics.trim();
    return text === '' ? '' : `: ${text}`;
  }
}

function parseMessage(line: string): Message | undefined {
  try {
    return JSON.parse(line) as Message;
  } catch {
    return undefined;
  }
}

/** Calls `take` with each complete line. Pieces are joined once a line, so a long line costs linear time. */
function readLines(stream: Readable, take: (line: string) => void): void {
  let pieces: string[] = [];
  stream.setEncoding('utf8').on('data', (text: string) => {
    const lines = text.split('\n');
    pieces.push(lines[0]!);
    for (const next of lines.slice(1)) {
      const line = pieces.join('');
      pieces = [next];
      take(line);
    }
  });
  stream.on('error', () => {});
}
