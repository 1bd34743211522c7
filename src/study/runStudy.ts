/**
 * Runs a study: block after block, the arms of a block side by side, each result kept as soon as it is there. Stopped anywhere it goes on
 * where it was. Does not judge: see `judge.ts`.
 */
import { rmSync } from 'node:fs';
import { cpus } from 'node:os';
import pLimit from 'p-limit';
import { UserError } from '../userError.js';
import type { ArmResult } from './armResult.js';
import { type Block, blocksOf, type Job, sideBySide } from './jobs.js';
import type { StudyPlan } from './plan.js';
import { makeStart, type RunOptions, runArm } from './runArm.js';
import { StudyFolder } from './studyFolder.js';

export interface StudyOptions {
  readonly plans: readonly StudyPlan[];
  readonly out: string;
  /** Arms side by side; default: as many as there are cores for their threads. */
  readonly parallel?: number;
  /** No block is begun that would not end within so many minutes. */
  readonly minutes?: number;
  /** Keep the run folders, to look at them in the dashboard. They take about 30 MB an arm of `nano`. */
  readonly keepRuns?: boolean;
  readonly log: RunOptions['log'];
  readonly onProgress?: (progress: StudyProgress) => void;
  readonly signal: AbortSignal;
}

export interface StudyProgress {
  readonly done: number;
  readonly all: number;
  readonly running: readonly {
    readonly arm: string;
    readonly block: number;
    readonly stage: string;
    readonly step: number;
    readonly steps: number;
  }[];
  /** Seconds to the end, from what arms took so far; absent before the first has ended. */
  readonly left?: number;
}

export interface StudyEnd {
  readonly results: ReadonlyMap<string, ArmResult>;
  /** Jobs that were there before, that ran now, and that are left because of the budget. */
  readonly before: number;
  readonly ran: number;
  readonly left: number;
}

/** @throws UserError for what the user can mend; the signal's reason, and the study can go on */
export async function runStudy(options: StudyOptions): Promise<StudyEnd> {
  const folder = StudyFolder.open(options.out, options.plans);
  try {
    return await new Running(folder, options).toTheEnd();
  } finally {
    folder.close();
  }
}

class Running {
  readonly #blocks: readonly Block[];
  readonly #results: Map<string, ArmResult>;
  readonly #parallel: number;
  readonly #started = performance.now();
  readonly #running = new Map<string, StudyProgress['running'][number]>();
  /** Wall-clock seconds of the arms that ended in this sitting. */
  readonly #took: number[] = [];

  constructor(
    private readonly folder: StudyFolder,
    private readonly options: StudyOptions,
  ) {
    this.#blocks = blocksOf(options.plans);
    this.#results = folder.results();
    this.#parallel = options.parallel ?? sideBySide(this.#blocks.flatMap(({ jobs }) => jobs));
  }

  async toTheEnd(): Promise<StudyEnd> {
    const { log, minutes } = this.options;
    const all = this.#all.length;
    const before = all - this.#left.length;
    if (before > 0) log(`${before} of ${all} arm-runs are there already`);
    for (const block of this.#blocks) {
      const jobs = block.jobs.filter(({ key }) => !this.#results.has(key));
      if (jobs.length === 0) continue;
      refuseOtherMachine(block, this.#results);
      const needed = this.#secondsOf(jobs.length) / 60;
      const elapsed = (performance.now() - this.#started) / 60_000;
      if (minutes !== undefined && elapsed + needed > minutes) {
        const text = `block ${block.block + 1} takes about ${needed.toFixed(0)} minutes, and of ${minutes} there are ${(minutes - elapsed).toFixed(0)} left`;
        if (this.#took.length === 0)
          throw new UserError(`${text}: the budget does not hold one block`, 'Raise --minutes, or take fewer arms. What is done is kept.');
        log(`${text}: it is left for the next time`);
        break;
      }
      await this.#block(jobs);
      log(`block ${block.block + 1} is complete (seed ${block.seed}, ${block.jobs.length} arms)`);
    }
    const left = this.#left.length;
    return { results: this.#results, before, ran: all - before - left, left };
  }

  get #all(): readonly Job[] {
    return this.#blocks.flatMap(({ jobs }) => jobs);
  }

  get #left(): readonly Job[] {
    return this.#all.filter(({ key }) => !this.#results.has(key));
  }

  /** Seconds that so many arms take here, from those that ended; 0 before there are any. */
  #secondsOf(arms: number): number {
    const known = this.#took.length > 0 ? this.#took : [...this.#results.values()].map(({ seconds }) => seconds);
    if (known.length === 0) return 0;
    const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
    return mean * Math.ceil(arms / this.#parallel);
  }

  /** The first arm that fails ends the others; what has ended is kept. */
  async #block(jobs: readonly Job[]): Promise<void> {
    const stop = new AbortController();
    const signal = AbortSignal.any([stop.signal, this.options.signal]);
    const limit = pLimit(this.#parallel);
    const starts = new Map<string, Promise<string>>();
    const startOf = (job: Job): Promise<string> | undefined => {
      const { start } = job;
      if (start === undefined) return undefined;
      const made = starts.get(start.key) ?? makeStart(start, this.#runOptions(job, signal));
      starts.set(start.key, made);
      return made;
    };
    const work = jobs.map((job) =>
      limit(async () => {
        signal.throwIfAborted();
        const begun = performance.now();
        const model = await startOf(job);
        const result = await runArm(job, model, this.#runOptions(job, signal));
        this.#took.push((performance.now() - begun) / 1000);
        this.#running.delete(job.key);
        this.folder.keep(result);
        this.#results.set(job.key, result);
        if (this.options.keepRuns !== true) rmSync(this.folder.runFolder(job.key), { recursive: true, force: true });
        this.#tell();
      }).catch((error: unknown) => {
        stop.abort(error);
        throw error;
      }),
    );
    await Promise.allSettled(work);
    this.options.signal.throwIfAborted();
    stop.signal.throwIfAborted();
    for (const key of starts.keys()) rmSync(this.folder.startFolder(key), { recursive: true, force: true });
  }

  #runOptions(job: Job, signal: AbortSignal): RunOptions {
    return {
      folder: this.folder,
      log: (line, level) => this.options.log(`${job.arm.name}, block ${job.block + 1}: ${line}`, level),
      onStep: (stage, step, steps) => {
        this.#running.set(job.key, { arm: job.arm.name, block: job.block, stage, step, steps });
        this.#tell();
      },
      signal,
    };
  }

  #tell(): void {
    const all = this.#all.length;
    const left = this.#left.length;
    const seconds = this.#secondsOf(left);
    this.options.onProgress?.({ done: all - left, all, running: [...this.#running.values()], ...(seconds > 0 && { left: seconds }) });
  }
}

/** A block stays on one machine: its arms are compared with each other. */
function refuseOtherMachine({ block, jobs }: Block, results: ReadonlyMap<string, ArmResult>): void {
  const here = cpus()[0]?.model ?? 'unknown';
  const there = jobs.flatMap(({ key }) => results.get(key)?.machine.cpu ?? []).find((cpu) => cpu !== here);
  if (there === undefined) return;
  throw new UserError(
    `block ${block + 1} was begun on a machine with ${there}; this one has ${here}`,
    'Go on there, or remove the results of that block: its arms are compared with each other.',
  );
}
