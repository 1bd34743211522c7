/**
 * Runs a Python program somewhere it can do no harm. The one boundary between us and code that a model wrote. Implementations: the
 * pre-warmed bubblewrap zygote, one-shot bubblewrap, and `none` (only when asked for by name).
 */
export interface CodeRunner {
  /** For example `bubblewrap`; stands in reports. */
  readonly name: string;
  /** Never throws for what the program does; `infra` is for what we failed to do. */
  run(request: CodeRequest, signal?: AbortSignal): Promise<CodeResult>;
  close(): Promise<void>;
}

export interface CodeRequest {
  readonly code: string;
  readonly stdin?: string;
  /** Wall-clock limit of the program itself, seconds; queueing does not count. */
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
  /** Print the value of a last top-level expression, as a REPL does. */
  readonly echoLast?: boolean;
  /** How deep it may recurse, with a stack as large as its memory; absent: as Python is set. */
  readonly recursionLimit?: number;
  /** The most that is kept of its output, where that is not the runner's own limit. */
  readonly outputBytes?: number;
  /** What to do with `code` instead of running it as a program. */
  readonly task?: CodeTask;
}

/** Its name and its printing do not matter to a task; what came of it is the result's `report`. */
export type CodeTask =
  | {
      /** Load the code and call a function of it: a method of `class Solution`, or one of the module. */
      readonly kind: 'call';
      readonly functionName: string;
      /** A JSON array. */
      readonly arguments: string;
    }
  | {
      /**
       * Run a test program whose calls of the entry point are answered by the code in another process. The time limit holds for each case
       * of the tests, and for loading.
       */
      readonly kind: 'check';
      readonly entryPoint: string;
      /** Source that both sides run first. */
      readonly prefix: string;
      /** Never enters a process that runs the code, nor one that such a process is forked from. */
      readonly tests: string;
      /** Cases to leave out at the beginning. */
      readonly skip: number;
    };

export type CodeResult =
  | {
      readonly kind: 'ran';
      readonly ending: 'finished' | 'timeout' | 'memoryLimit' | 'outputLimit';
      /** Exit status; 128 + n after signal n. 0 is success. */
      readonly exitCode: number;
      readonly stdout: string;
      readonly stderr: string;
      /** The code is no Python; it did not run. */
      readonly doesNotCompile?: boolean;
      /** What the task found out, as JSON lines: `CallReport`, or `CheckReport`s. */
      readonly report?: string;
      /** Seconds the program ran, and seconds it waited for a free worker. */
      readonly seconds: number;
      readonly queuedSeconds: number;
    }
  | { readonly kind: 'infra'; readonly error: string };

/** `value`: what the function returned, as JSON. */
export type CallReport = { readonly value: unknown } | { readonly fault: 'compile' | 'run'; readonly text: string };

/** First the number of cases; then each case. `broken`: the tests themselves do not run; `lost`: the sandbox failed. */
export type CheckReport =
  | { readonly total: number }
  | { readonly broken: string }
  | { readonly lost: string }
  | { readonly case: number; readonly ok: true }
  | { readonly case: number; readonly ok: false; readonly fault: 'compile' | 'run' | 'memory' | 'mismatch'; readonly text: string };
