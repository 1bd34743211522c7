/**
 * Runs a study: block after block, the arms of a block side by side, each result kept as soon as it is there. Stopped anywhere it goes on
 * where it was. Does not judge: see `judge.ts`.
 */
import { rmSync } from 'node:fs';
import { cpus } from 'node:os';
import pLimit from 'p-limit';
import { UserError } from '../userError.js';
import type { ArmResult } from './armResult.js';
import { estimate, estimateFrom, type Took, tookBy, tookElsewhere, tookIn } from './estimate.js';
import { type Block, blocksOf, type Job, sideBySide } from './jobs.js';
import type { StudyPlan } from './plan.js';
import { makeStart, type RunOptions, runArm } from './runArm.js';
import { readResults, StudyFolder } from './studyFolder.js';
import { workOf } from './work.js';

export interface StudyOptions {
  readonly plans: readonly StudyPlan[];
  readonly out: string;
  /** Arms side by side; default: as many as there are cores for their threads. */
  readonly parallel?: number;
  /** No block is begun that would not end within it. */
  readonly budget?: Budget;
  /** Keep the run folders, to look at them in the dashboard. They take about 30 MB an arm of `nano`. */
  readonly keepRuns?: boolean;
  readonly log: RunOptions['log'];
  readonly onProgress?: (progress: StudyProgress) => void;
  readonly signal: AbortSignal;
}

/** Of one sitting: minutes by the clock, which are an estimate; steps of RL and tokens of rollouts, at most, by the recipes. */
export type Budget = Readonly<Partial<Record<(typeof BUDGETS)[number], number>>>;

export const BUDGETS = ['minutes', 'steps', 'tokens'] as const;

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
  /** Seconds to the end: an estimate, absent where nothing is known of such arms. */
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
  // before the folder is written: what a plan asked for counts from when it ran
  StudyFolder.refuse(options.out, options.plans);
  refuseBudget(options);
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
  readonly #here: Took[];
  readonly #elsewhere: readonly Took[] = tookElsewhere();
  readonly #done = { steps: 0, tokens: 0 };
  /** Blocks that this sitting has begun. */
  #ran = 0;
  /** Keys of the starts that this sitting has made. */
  readonly #made = new Set<string>();

  constructor(
    private readonly folder: StudyFolder,
    private readonly options: StudyOptions,
  ) {
    this.#blocks = blocksOf(options.plans);
    this.#results = folder.results();
    this.#here = tookIn(folder.path);
    this.#parallel = options.parallel ?? sideBySide(this.#blocks.flatMap(({ jobs }) => jobs));
  }

  async toTheEnd(): Promise<StudyEnd> {
    const { log } = this.options;
    const all = this.#all.length;
    const before = all - this.#left.length;
    if (before > 0) log(`${before} of ${all} arm-runs are there already`);
    for (const block of this.#blocks) {
      const jobs = block.jobs.filter(({ key }) => !this.#results.has(key));
      if (jobs.length === 0) continue;
      refuseOtherMachine(block, this.#results);
      const short = overBudget(this.options.budget, this.#spent(), this.#needs(jobs));
      if (short !== undefined && this.#ran > 0) {
        log(`block ${block.block + 1} ${short}: it is left for the next time`);
        break;
      }
      const { steps, tokens } = workOf(jobs);
      this.#done.steps += steps;
      this.#done.tokens += tokens;
      this.#ran++;
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

  #needs(jobs: readonly Job[]): Spent {
    return { minutes: (this.#secondsOf(jobs) ?? 0) / 60, ...workOf(jobs) };
  }

  #spent(): Spent {
    return { ...this.#done, minutes: (performance.now() - this.#started) / 60_000 };
  }

  /** Seconds by the clock that these arms take; undefined where nothing is known of such. */
  #secondsOf(jobs: readonly Job[]): number | undefined {
    return estimateFrom(jobs, this.#parallel, { here: this.#here, elsewhere: this.#elsewhere, made: this.#made })?.clock;
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
      return made.finally(() => this.#made.add(start.key));
    };
    const work = jobs.map((job) =>
      limit(async () => {
        signal.throwIfAborted();
        const model = await startOf(job);
        const result = await runArm(job, model, this.#runOptions(job, signal));
        this.#running.delete(job.key);
        this.folder.keep(result);
        this.#results.set(job.key, result);
        this.#here.push(...tookBy([job], this.#results));
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
    const { length: all } = this.#all;
    const left = this.#left;
    const seconds = left.length > 0 ? this.#secondsOf(left) : undefined;
    const running = [...this.#running.values()];
    this.options.onProgress?.({ done: all - left.length, all, running, ...(seconds !== undefined && { left: seconds }) });
  }
}

type Spent = Readonly<Record<(typeof BUDGETS)[number], number>>;

/** @throws UserError where the budget does not hold the first block that is left */
function refuseBudget({ plans, out, budget, parallel }: StudyOptions): void {
  const results = readResults(out);
  const blocks = blocksOf(plans);
  const beside = parallel ?? sideBySide(blocks.flatMap(({ jobs }) => jobs));
  const [first] = blocks
    .map(({ block, jobs }) => ({ block, left: jobs.filter(({ key }) => !results.has(key)) }))
    .filter(({ left }) => left.length > 0);
  if (budget === undefined || first === undefined) return;
  const needs = { ...workOf(first.left), minutes: (estimate(first.left, out, beside)?.clock ?? 0) / 60 };
  const short = overBudget(budget, { minutes: 0, steps: 0, tokens: 0 }, needs);
  if (short === undefined) return;
  throw new UserError(
    `block ${first.block + 1} ${short}: the budget does not hold one block`,
    'Raise it, or take fewer arms. What is done is kept.',
  );
}

/** What is taken of a budget that does not hold it, and what is left of it; undefined where it does. */
function overBudget(budget: Budget = {}, spent: Spent, needs: Spent): string | undefined {
  for (const kind of BUDGETS) {
    const most = budget[kind];
    if (most === undefined || spent[kind] + needs[kind] <= most) continue;
    const about = { minutes: 'about ', steps: '', tokens: 'at most ' }[kind];
    return `takes ${about}${whole(needs[kind])} ${kind}, and of ${whole(most)} there are ${whole(Math.floor(most - spent[kind]))} left`;
  }
  return undefined;
}

/** Up: what does not fit must not look as if it did. */
const whole = (value: number): string => Math.max(0, Math.ceil(value)).toLocaleString('en');

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
