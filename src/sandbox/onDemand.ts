/**
 * A sandbox that is opened by the first program to be run, for work that may never need one. Does not choose the kind: see `open.ts`.
 */
import { cpus } from 'node:os';
import type { CodeRequest, CodeResult, CodeRunner } from './codeRunner.js';
import { findExecutable } from './host.js';
import { type OpenedRunner, openCodeRunner, type SandboxKind } from './open.js';

export interface OnDemandOptions {
  readonly kind: SandboxKind;
  /** Programs at once. Default: one for each processor. */
  readonly workers?: number;
  /** Told when it opens what a person should know about it. */
  readonly onNote?: (note: string) => void;
}

export class RunnerOnDemand implements CodeRunner {
  readonly name = 'on demand';
  #opened: Promise<OpenedRunner> | undefined;

  constructor(private readonly options: OnDemandOptions) {}

  /** @throws UserError where there is no sandbox */
  open(): Promise<OpenedRunner> {
    const { kind, workers = cpus().length, onNote } = this.options;
    this.#opened ??= openCodeRunner({ kind, workers }).then((runner) => {
      for (const note of runner.notes) onNote?.(note);
      return runner;
    });
    return this.#opened;
  }

  get opened(): boolean {
    return this.#opened !== undefined;
  }

  /** An infrastructure failure where the sandbox cannot be opened. */
  async run(request: CodeRequest, signal?: AbortSignal): Promise<CodeResult> {
    try {
      return await (await this.open()).run(request, signal);
    } catch (error) {
      return { kind: 'infra', error: error instanceof Error ? error.message : String(error) };
    }
  }

  async close(): Promise<void> {
    const runner = await this.#opened?.catch(() => undefined);
    await runner?.close();
  }
}

/** Whether there is anything to open: bubblewrap is installed, or no sandbox was asked for. Starts nothing; it may still not work. */
export const isInstalled = (kind: SandboxKind): boolean => kind === 'none' || findExecutable('bwrap') !== undefined;
