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
}

export type CodeResult =
  | {
      readonly kind: 'ran';
      readonly ending: 'finished' | 'timeout' | 'memoryLimit' | 'outputLimit';
      /** Exit status; 128 + n after signal n. 0 is success. */
      readonly exitCode: number;
      readonly stdout: string;
      readonly stderr: string;
      /** Seconds the program ran, and seconds it waited for a free worker. */
      readonly seconds: number;
      readonly queuedSeconds: number;
    }
  | { readonly kind: 'infra'; readonly error: string };
