/**
 * Messages to and from an MCP server that is a program: one JSON text a line. The program sees PATH, HOME and what it is given; it and what
 * it started end with the connection. Lines that are no message (programs print) are skipped; a line without end closes the connection.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { deserializeMessage, type JSONRPCMessage, serializeMessage, type Transport } from '@modelcontextprotocol/client';
import type { McpProgram } from './mcpServer.js';

/** Bytes of one message. */
const LONGEST_MESSAGE = 64 * 2 ** 20;
const KEPT_STDERR = 4000;
/** Milliseconds that a program has to end by itself, and again after it was asked to. */
const PATIENCE_MS = 1500;
/** Milliseconds for what is still in its pipes when it has ended. */
const LAST_WORDS_MS = 200;
const NEWLINE = 0x0a;

/** A message was longer than we take. */
export class MessageTooLong extends Error {
  override readonly name = 'MessageTooLong';
}

/** Ended with this process, however it ends. */
const running = new Set<ChildProcess>();
let watching = false;

export class ProgramTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #program: McpProgram;
  #process: ChildProcess | undefined;
  #parts: Buffer[] = [];
  #size = 0;
  #said = '';
  #ended: Promise<void> = Promise.resolve();
  /** All that it wrote has been heard. */
  #heard: Promise<void> = Promise.resolve();

  constructor(program: McpProgram) {
    this.#program = program;
  }

  /** The last of what it wrote to its error stream, or of what was no message. */
  get said(): string {
    return this.#said.trim();
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  start(): Promise<void> {
    const { command, args = [], env, cwd } = this.#program;
    const { PATH, HOME } = process.env;
    return new Promise((resolve, reject) => {
      const child = spawn(command, [...args], {
        env: { ...(PATH !== undefined && { PATH }), ...(HOME !== undefined && { HOME }), ...env },
        cwd,
        stdio: ['pipe', 'pipe', 'pipe'],
        // A group of its own: what it starts ends with it.
        detached: process.platform !== 'win32',
      });
      this.#process = child;
      this.#ended = new Promise((ended) => {
        child.once('error', (error) => {
          reject(error);
          this.onerror?.(error);
          ended();
        });
        child.once('exit', () => {
          killGroup(child, 'SIGKILL');
          running.delete(child);
          ended();
        });
      });
      child.once('spawn', () => {
        watch(child);
        resolve();
      });
      this.#heard = new Promise((heard) => {
        child.once('close', () => {
          this.#process = undefined;
          heard();
          this.onclose?.();
        });
      });
      child.stdin.on('error', (error) => this.onerror?.(error));
      child.stdout.on('data', (chunk: Buffer) => this.#take(chunk));
      child.stderr.on('data', (chunk: Buffer) => this.#hear(chunk.toString('utf8')));
    });
  }

  send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#process?.stdin;
    if (!stdin?.writable) return Promise.reject(hasEnded());
    return new Promise((resolve, reject) => {
      stdin.write(serializeMessage(message), (error) => (error ? reject(hasEnded()) : resolve()));
    });
  }

  async close(): Promise<void> {
    const child = this.#process;
    if (child?.pid === undefined) return;
    child.stdin?.end();
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      if (await within(this.#ended, PATIENCE_MS)) break;
      killGroup(child, signal);
    }
    await within(this.#ended, PATIENCE_MS);
    await within(this.#heard, LAST_WORDS_MS);
    child.stdout?.destroy();
    child.stderr?.destroy();
  }

  /** At once, for a program that does not answer. */
  kill(): void {
    if (this.#process) killGroup(this.#process, 'SIGKILL');
  }

  #take(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      const line = Buffer.concat([...this.#parts, chunk.subarray(from, end)]).toString('utf8');
      this.#parts = [];
      this.#size = 0;
      from = end + 1;
      this.#read(line);
    }
    if (from < chunk.length) {
      this.#parts.push(chunk.subarray(from));
      this.#size += chunk.length - from;
    }
    if (this.#size <= LONGEST_MESSAGE) return;
    this.#parts = [];
    this.#size = 0;
    this.onerror?.(new MessageTooLong(`the server sent a message of more than ${LONGEST_MESSAGE / 2 ** 20} MB`));
    this.kill();
  }

  #read(line: string): void {
    if (line.trim() === '') return;
    let message: JSONRPCMessage;
    try {
      message = deserializeMessage(line);
    } catch {
      this.#hear(`${line.slice(0, 500)}\n`);
      return;
    }
    this.onmessage?.(message);
  }

  #hear(text: string): void {
    this.#said = (this.#said + text).slice(-KEPT_STDERR);
  }
}

/** A pipe that nobody reads any more says only EPIPE. */
const hasEnded = (): Error => new Error('the server has ended');

function watch(child: ChildProcess): void {
  running.add(child);
  if (watching) return;
  watching = true;
  process.on('exit', () => {
    for (const one of running) killGroup(one, 'SIGKILL');
  });
}

function killGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, signal);
  } catch {
    // It has ended.
  }
}

/** Whether the promise was first. */
async function within(promise: Promise<void>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
