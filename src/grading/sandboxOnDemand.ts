/** The sandbox and the judge of code for a batch of rows, opened when the first row asks, closed together. */
import { type CodeJudge, openCodeJudge } from '../reward/code/codeJudge.js';
import type { CodeRunner } from '../sandbox/codeRunner.js';
import { isInstalled, type OnDemandOptions, RunnerOnDemand } from '../sandbox/onDemand.js';
import type { OpenedRunner } from '../sandbox/open.js';

export interface SandboxOptions extends OnDemandOptions {
  /** Wall-clock limit of one test, seconds. */
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
}

export class SandboxOnDemand {
  /** Answers with an infrastructure failure where the sandbox cannot be opened. */
  readonly runner: RunnerOnDemand;
  /** For what can be decided without it, though not as well; undefined where there is none to be opened. */
  readonly secondOpinion: CodeRunner | undefined;
  #judge: Promise<CodeJudge> | undefined;

  constructor(private readonly options: SandboxOptions) {
    this.runner = new RunnerOnDemand(options);
    this.secondOpinion = isInstalled(options.kind) ? this.runner : undefined;
  }

  /** @throws UserError where there is no sandbox */
  judge(): Promise<CodeJudge> {
    const { timeoutSeconds, memoryMb } = this.options;
    this.#judge ??= this.open().then((runner) => openCodeJudge({ runner, timeoutSeconds, memoryMb }));
    return this.#judge;
  }

  /** @throws UserError where there is no sandbox */
  open(): Promise<OpenedRunner> {
    return this.runner.open();
  }

  get opened(): boolean {
    return this.runner.opened;
  }

  close(): Promise<void> {
    return this.runner.close();
  }
}
