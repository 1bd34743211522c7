/** Runs one program to its end and keeps what it printed. Does not throw for a failure: the exit status is a value. */
import { spawn } from 'node:child_process';
import { createWriteStream, type WriteStream } from 'node:fs';

export interface CommandResult {
  /** Exit status; 127 when the program could not be started, 128 + n after a signal, 124 when it ran past its time. */
  readonly status: number;
  readonly stdout: string;
  /** Standard output and errors as they came. */
  readonly output: string;
}

export interface CommandOptions {
  readonly cwd?: string;
  /** Laid over the environment of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Everything printed is added to this file as well. */
  readonly logFile?: string;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export async function run(program: string, args: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
  const log = options.logFile === undefined ? undefined : await openLog(options.logFile, [program, ...args].join(' '));
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...options.env },
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
  let stdout = '';
  let output = '';
  let timedOut = false;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    output += text;
    log?.write(text);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    log?.write(text);
  });
  const timer =
    options.timeoutMs === undefined
      ? undefined
      : setTimeout(() => {
          timedOut = true;
          child.kill('SIGKILL');
        }, options.timeoutMs);
  const status = await new Promise<number>((resolve) => {
    child.on('error', (error) => {
      output += error.message;
      if (child.pid === undefined) resolve(127);
    });
    child.on('close', (code, signal) => resolve(timedOut ? 124 : (code ?? (signal === null ? 1 : 137))));
  });
  clearTimeout(timer);
  if (log !== undefined) await new Promise<void>((resolve) => log.end(resolve));
  return { status, stdout, output };
}

/** The last lines that hold something, for an error message. */
export const tail = (text: string, lines = 12): string =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(-lines)
    .join('\n');

async function openLog(file: string, command: string): Promise<WriteStream> {
  const log = createWriteStream(file, { flags: 'a' });
  log.on('error', () => undefined);
  log.write(`\n$ ${command}\n`);
  return log;
}
