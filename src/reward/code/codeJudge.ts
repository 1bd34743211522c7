/**
 * Where programs are judged: a sandbox with a time and a memory limit for each test, and one more try when the sandbox itself fails. Does
 * not know what a right answer is: see `gradeCode.ts`.
 */
import { cpus } from 'node:os';
import type { CodeRequest, CodeResult, CodeRunner } from '../../sandbox/codeRunner.js';
import { openCodeRunner, type SandboxKind } from '../../sandbox/open.js';

export interface CodeJudgeOptions {
  /** A sandbox that is open already; it stays open after `close`. Absent: one is opened. */
  readonly runner?: CodeRunner;
  /** Which sandbox to open. Default `auto`. */
  readonly sandbox?: SandboxKind;
  /** Tests that run at the same time, over all programs. Default: one for each processor. */
  readonly workers?: number;
  /** Wall-clock limit of one test, seconds. Default 10. */
  readonly timeoutSeconds?: number;
  /** Default 1024. */
  readonly memoryMb?: number;
}

export interface CodeJudge {
  /** The sandbox's name, for reports. */
  readonly name: string;
  readonly notes: readonly string[];
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
  /** Runs with the judge's limits; tried once more when the sandbox fails. */
  run(request: Omit<CodeRequest, 'timeoutSeconds' | 'memoryMb'>, signal?: AbortSignal): Promise<CodeResult>;
  close(): Promise<void>;
}

/** Frames; infinite recursion ends here within the default memory limit. */
const recursionLimit = 500_000;

/** @throws UserError where the sandbox cannot be opened */
export async function openCodeJudge(options: CodeJudgeOptions = {}): Promise<CodeJudge> {
  const { timeoutSeconds = 10, memoryMb = 1024, workers = cpus().length } = options;
  const own = options.runner === undefined ? await openCodeRunner({ kind: options.sandbox ?? 'auto', workers }) : undefined;
  const runner: CodeRunner = options.runner ?? own!;
  return {
    name: runner.name,
    notes: own?.notes ?? [],
    timeoutSeconds,
    memoryMb,
    async run(request, signal) {
      const whole: CodeRequest = { recursionLimit, ...request, timeoutSeconds, memoryMb };
      const result = await runner.run(whole, signal);
      return result.kind === 'infra' && !signal?.aborted ? runner.run(whole, signal) : result;
    },
    close: async () => own?.close(),
  };
}
