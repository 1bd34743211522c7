/**
 * Runs many rollouts: a bounded number at once, or all in lockstep. A rollout that infrastructure took is run once more as a whole; lost
 * again, it stays lost and its group goes on without it. Many losses in a row stop the run. Does not grade: `onRollout` and `onGroup` let
 * others begin.
 */
import { setMaxListeners } from 'node:events';
import type { Problem } from '../domain/problem.js';
import type { Rollout } from '../domain/trajectory.js';
import { deriveSeed } from '../random.js';
import { UserError } from '../userError.js';
import type { RolloutAgent } from './endpointAgent.js';
import { promptLimit, promptOf, type RolloutSettings } from './episode.js';
import { runInLockstep } from './lockstep.js';
import { ATTEMPTS_PER_TURN, type RolloutInput, runRollout } from './runRollout.js';

/** One rollout to run. */
export interface RolloutPlan<P extends Problem = Problem> {
  readonly problem: P;
  readonly groupId: string;
  readonly trajectoryId: string;
  /** Number of the problem's occurrence within the step, and of the sample within its group: coordinates of the seeds. */
  readonly occurrence: number;
  readonly sample: number;
  /** Of an environment's start; absent: from the run's seed and the group's id. */
  readonly startSeed?: number;
  /** In place of the settings' own. */
  readonly sampling?: RolloutSettings['sampling'];
}

export interface ScheduleOptions<P extends Problem = Problem> {
  readonly runSeed: number;
  /** Coordinate of the seeds; an evaluation gives a name of its own. */
  readonly step: number | string;
  /** Rollouts in flight at once. */
  readonly concurrency: number;
  readonly signal?: AbortSignal;
  /** All rollouts in flight take a turn together, as one fixed batch: bit-equal repeats on an engine with the extension `lockstep`. */
  readonly lockstep?: boolean;
  /** Losses in a row that stop the run. */
  readonly maxInfraInARow?: number;
  /** Called for each that ends; its group waits for it. */
  readonly onRollout?: (rollout: Rollout<P>, plan: RolloutPlan<P>) => void | Promise<void>;
  /** Called once a group, with its members in plan order, as soon as all are in. Awaited before the run ends. */
  readonly onGroup?: (rollouts: readonly Rollout<P>[], groupId: string) => void | Promise<void>;
}

/** The run was stopped because the machinery fails again and again. */
export class InfrastructureStop extends Error {
  override readonly name = 'InfrastructureStop';
}

/** Losses in a row that stop a run, where nothing else is said. */
const MOST_INFRA_IN_A_ROW = 32;

/** Counts rollouts that infrastructure took one after the other. */
export class InfraStreak {
  readonly #most: number;
  #inARow = 0;

  constructor(most = MOST_INFRA_IN_A_ROW) {
    this.#most = most;
  }

  came(): void {
    this.#inARow = 0;
  }

  /** @throws InfrastructureStop where it was one too many */
  lost(error: string): void {
    this.#inARow++;
    if (this.#inARow < this.#most) return;
    throw new InfrastructureStop(
      `${this.#most} rollouts in a row were lost to failures of the engine or the tools. The last one: ${error}`,
    );
  }
}

/** Plans of one step: `groupSize` rollouts of each problem; ids begin with `prefix`, occurrences are counted from `first`. */
export function planGroups<P extends Problem>(problems: readonly P[], groupSize: number, prefix: string, first = 0): RolloutPlan<P>[] {
  return problems.flatMap((problem, i) =>
    Array.from({ length: groupSize }, (_, sample) => {
      const occurrence = first + i;
      const groupId = `${prefix}/${occurrence}`;
      return { problem, groupId, trajectoryId: `${groupId}/${sample}`, occurrence, sample };
    }),
  );
}

/**
 * @param how what all rollouts share; or an agent that runs each by itself, never in lockstep
 * @returns one rollout a plan, in the plans' order
 * @throws UserError when a prompt is too long, before anything is sampled
 * @throws InfrastructureStop, EngineError (user), the signal's reason, or what a callback threw; everything in flight is ended first
 */
export async function runRollouts<P extends Problem>(
  plans: readonly RolloutPlan<P>[],
  how: RolloutSettings | RolloutAgent,
  options: ScheduleOptions<P>,
): Promise<Rollout<P>[]> {
  return (await runAll(plans, how, options, true)).results();
}

/**
 * As `runRollouts`, but keeps nothing: a group is let go of once its callbacks are done, and no more than `concurrency` of them run at once,
 * so that memory does not grow with the number of plans.
 */
export async function streamRollouts<P extends Problem>(
  plans: readonly RolloutPlan<P>[],
  how: RolloutSettings | RolloutAgent,
  options: ScheduleOptions<P>,
): Promise<void> {
  await runAll(plans, how, options, false);
}

async function runAll<P extends Problem>(
  plans: readonly RolloutPlan<P>[],
  how: RolloutSettings | RolloutAgent,
  options: ScheduleOptions<P>,
  keep: boolean,
): Promise<Run<P>> {
  options.signal?.throwIfAborted();
  const run = new Run(plans, how, options, keep);
  try {
    if (options.lockstep === true && !isAgent(how)) await run.inLockstep(how);
    else await run.concurrently();
    await run.groupsHandled();
  } catch (error) {
    run.abort(error);
    await run.groupsHandled().catch(() => undefined);
    throw error;
  } finally {
    run.close();
  }
  return run;
}

/** Whether it takes each rollout through by itself. */
export const isAgent = (how: RolloutSettings | RolloutAgent): how is RolloutAgent => 'run' in how;

class Run<P extends Problem> {
  readonly #stop = new AbortController();
  readonly #onAbort = (): void => this.abort(this.options.signal?.reason);
  readonly #prompts: Map<string, readonly number[]>;
  readonly #results: (Rollout<P> | undefined)[];
  readonly #groups = new Map<string, { readonly members: number[]; missing: number }>();
  readonly #handlers = new Set<Promise<void>>();
  readonly #infra: InfraStreak;

  constructor(
    private readonly plans: readonly RolloutPlan<P>[],
    private readonly how: RolloutSettings | RolloutAgent,
    private readonly options: ScheduleOptions<P>,
    private readonly keep: boolean,
  ) {
    this.#prompts = isAgent(how) ? new Map() : promptsByGroup(plans, how, keep);
    setMaxListeners(0, this.#stop.signal);
    options.signal?.addEventListener('abort', this.#onAbort, { once: true });
    this.#infra = new InfraStreak(options.maxInfraInARow);
    this.#results = new Array(plans.length).fill(undefined);
    for (const [i, plan] of plans.entries()) {
      const group = this.#groups.get(plan.groupId) ?? { members: [], missing: 0 };
      group.members.push(i);
      group.missing++;
      this.#groups.set(plan.groupId, group);
    }
  }

  /** As many workers as may be in flight, each taking the next plan. */
  async concurrently(): Promise<void> {
    let next = 0;
    const work = async (): Promise<void> => {
      while (next < this.plans.length) {
        const i = next++;
        let rollout = await this.#rollout(this.#input(i, 0));
        if (rollout.kind === 'infra') {
          this.#infra.lost(rollout.error);
          rollout = await this.#rollout(this.#input(i, ATTEMPTS_PER_TURN));
        }
        const handled = this.#done(i, rollout);
        if (!this.keep) await handled;
      }
    };
    const workers = Math.max(1, Math.min(this.options.concurrency, this.plans.length));
    await this.#together(Array.from({ length: workers }, work));
  }

  /** In portions of `concurrency`; the lost ones of a portion are run again together. */
  async inLockstep(settings: RolloutSettings): Promise<void> {
    const size = Math.max(1, this.options.concurrency);
    for (let from = 0; from < this.plans.length; from += size) {
      const portion = Array.from({ length: Math.min(size, this.plans.length - from) }, (_, i) => from + i);
      const lost: number[] = [];
      await this.#portion(settings, portion, 0, (i, rollout) => {
        if (rollout.kind === 'finished') return void this.#done(i, rollout);
        this.#infra.lost(rollout.error);
        lost.push(i);
      });
      lost.sort((a, b) => a - b);
      await this.#portion(settings, lost, ATTEMPTS_PER_TURN, (i, rollout) => void this.#done(i, rollout));
      if (!this.keep) await this.groupsHandled();
    }
  }

  abort(reason: unknown): void {
    this.#stop.abort(reason);
  }

  close(): void {
    this.options.signal?.removeEventListener('abort', this.#onAbort);
  }

  async groupsHandled(): Promise<void> {
    await Promise.all(this.#handlers);
  }

  results(): Rollout<P>[] {
    return this.#results.map((rollout) => rollout!);
  }

  async #portion(
    settings: RolloutSettings,
    indices: readonly number[],
    firstAttempt: number,
    done: (i: number, rollout: Rollout<P>) => void,
  ): Promise<void> {
    const inputs = indices.map((i) => this.#input(i, firstAttempt));
    const label = `step ${this.options.step}`;
    await this.#together([runInLockstep(settings, inputs, label, (at, rollout) => done(indices[at]!, rollout))]);
  }

  #rollout(input: RolloutInput<P>): Promise<Rollout<P>> {
    return isAgent(this.how) ? this.how.run(input) : runRollout(this.how, input);
  }

  /** Waits for all; the first error ends the others. */
  async #together(work: readonly Promise<void>[]): Promise<void> {
    const guarded = work.map((promise) =>
      promise.catch((error: unknown) => {
        this.abort(error);
        throw error;
      }),
    );
    await Promise.allSettled(guarded);
    this.#stop.signal.throwIfAborted();
  }

  #input(i: number, firstAttempt: number): RolloutInput<P> {
    const plan = this.plans[i]!;
    const prompt = this.#prompt(plan);
    const { runSeed, step } = this.options;
    return {
      problem: plan.problem,
      groupId: plan.groupId,
      trajectoryId: plan.trajectoryId,
      ...(prompt && { promptTokens: prompt }),
      startSeed: plan.startSeed ?? deriveSeed(runSeed, 'start', plan.groupId),
      signal: this.#stop.signal,
      ...(plan.sampling && { sampling: plan.sampling }),
      seed: (turn, attempt) => deriveSeed(runSeed, step, plan.occurrence, plan.sample, turn, firstAttempt + attempt),
    };
  }

  #prompt({ groupId, problem }: RolloutPlan<P>): readonly number[] | undefined {
    if (isAgent(this.how)) return undefined;
    const made = this.#prompts.get(groupId) ?? promptOf(problem, this.how);
    this.#prompts.set(groupId, made);
    return made;
  }

  /** Never rejects: what a callback throws ends the run. */
  #done(i: number, rollout: Rollout<P>): Promise<void> {
    if (rollout.kind === 'infra') this.#infra.lost(rollout.error);
    else this.#infra.came();
    this.#results[i] = rollout;
    const handled = this.#handle(this.plans[i]!, rollout);
    this.#handlers.add(handled);
    return handled.then(
      () => void this.#handlers.delete(handled),
      (error: unknown) => this.abort(error),
    );
  }

  async #handle(plan: RolloutPlan<P>, rollout: Rollout<P>): Promise<void> {
    await this.options.onRollout?.(rollout, plan);
    const group = this.#groups.get(plan.groupId)!;
    group.missing--;
    if (group.missing > 0) return;
    const members = group.members.map((member) => this.#results[member]!);
    if (!this.keep) {
      for (const member of group.members) this.#results[member] = undefined;
      this.#prompts.delete(plan.groupId);
    }
    await this.options.onGroup?.(members, plan.groupId);
  }
}

/** One prompt a group; where they are not kept, only measured. @throws UserError for one that is too long. */
function promptsByGroup(plans: readonly RolloutPlan[], settings: RolloutSettings, keep: boolean): Map<string, readonly number[]> {
  const prompts = new Map<string, readonly number[]>();
  const most = promptLimit(settings);
  let last: string | undefined;
  for (const { groupId, problem } of plans) {
    if (groupId === last || prompts.has(groupId)) continue;
    last = groupId;
    const prompt = promptOf(problem, settings);
    if (prompt.length > most) {
      throw new UserError(
        `The prompt of problem ${JSON.stringify(problem.id)} has ${prompt.length} tokens; at most ${most} are allowed.`,
        'Raise limits.promptTokens as far as the model allows, or leave the problem out.',
      );
    }
    if (keep) prompts.set(groupId, prompt);
  }
  return prompts;
}
