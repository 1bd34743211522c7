/** The sandbox and the judge of code for a batch of rows, opened when the first row asks, closed together. */
import { type CodeJudge, openCodeJudge } from '../reward/code/codeJudge.js';
import type { CodeRunner } from '../sandbox/codeRunner.js';
import { type OpenedRunner, openCodeRunner, type SandboxKind } from '../sandbox/open.js';

export interface SandboxOptions {
  readonly kind: SandboxKind;
  readonly workers: number;
  /** Wall-clock limit of one test, seconds. */
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
  /** Told once, when it opens. */
  readonly onNote?: (note: string) => void;
}

export class SandboxOnDemand {
  #runner: Promise<OpenedRunner> | undefined;
  #judge: Promise<CodeJudge> | undefined;

  constructor(private readonly options: SandboxOptions) {}

  /** Answers with an infrastructure failure where the sandbox cannot be opened. */
  readonly runner: CodeRunner = {
    name: 'on demand',
    run: async (request, signal) => {
      try {
        return await (await this.open()).run(request, signal);
      } catch (error) {
        return { kind: 'infra', error: error instanceof Error ? error.message : String(error) };
      }
    },
    close: () => this.close(),
  };

  /** @throws UserError where there is no sandbox */
  judge(): Promise<CodeJudge> {
    this.#judge ??= this.open().then((runner) =>
      openCodeJudge({ runner, timeoutSeconds: this.options.timeoutSeconds, memoryMb: this.options.memoryMb }),
    );
    return this.#judge;
  }

  /** @throws UserError where there is no sandbox */
  open(): Promise<OpenedRunner> {
    this.#runner ??= openCodeRunner({ kind: this.options.kind, workers: this.options.workers }).then((runner) => {
      for (const note of runner.notes) this.options.onNote?.(note);
      return runner;
    });
    return this.#runner;
  }

  get opened(): boolean {
    return this.#runner !== undefined;
  }

  async close(): Promise<void> {
    const runner = await this.#runner?.catch(() => undefined);
    await runner?.close();
  }
}
