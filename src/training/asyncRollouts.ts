/**
 * Rolls out and scores groups in the background, across steps: a bounded number of rollouts at once, each from the policy that its group
 * began with. Which groups are begun, taken and let go is decided by the ledger (`asyncLedger.ts`). Does not publish and does not train.
 */
import { setMaxListeners } from 'node:events';
import { type Advantage, advantage as advantageOf } from '../algorithm/advantages.js';
import type { Metrics } from '../domain/event.js';
import type { Problem } from '../domain/problem.js';
import type { Rollout } from '../domain/trajectory.js';
import type { Sampler } from '../engine/sampler.js';
import { deriveSeed } from '../random.js';
import { scoreRollouts } from '../reward/rewardFunction.js';
import { promptOf } from '../rollout/episode.js';
import { ATTEMPTS_PER_TURN, type RolloutInput, runRollout } from '../rollout/runRollout.js';
import { InfraStreak, isAgent } from '../rollout/scheduler.js';
import { AsyncLedger, type LedgerGroup, type Plan } from './asyncLedger.js';
import { type AsyncStart, asyncGroupId, BEGUN } from './asyncPosition.js';
import { problemsAt } from './problemStream.js';
import { type AdvantagedGroup, isTrained, type RlContext, rolloutsBy, type SampledGroups } from './rl.js';

/** What a step gets. */
export interface AsyncBatch<P extends Problem> extends SampledGroups<P> {
  readonly metrics: Metrics;
}

interface Flight<P extends Problem> {
  readonly group: LedgerGroup;
  readonly problem: P;
  readonly groupId: string;
  readonly sampler: Sampler;
  readonly rollouts: (Rollout<P> | undefined)[];
  /** Ends the group's rollouts; its reason says whether they are cut or let go. */
  readonly stop: AbortController;
  promptTokens?: readonly number[];
  scored?: AdvantagedGroup<P>;
}

interface Seat<P extends Problem> {
  readonly flight: Flight<P>;
  readonly sample: number;
}

const CUT = new Error('cut at the deadline of its step');
const LET_GO = new Error('let go');

export class AsyncRollouts<P extends Problem> {
  readonly #ledger: AsyncLedger;
  readonly #context: RlContext<P>;
  readonly #concurrency: number;
  readonly #advantages: Advantage;
  readonly #flights = new Map<LedgerGroup, Flight<P>>();
  readonly #work = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  readonly #onAbort = (): void => this.#fail(this.#context.signal.reason);
  readonly #infra = new InfraStreak();
  #queue: Seat<P>[] = [];
  #active = 0;
  #cut = 0;
  #training: { readonly context: RlContext<P>; readonly sampler: Sampler; readonly step: number } | undefined;
  #failure: { readonly error: unknown } | undefined;
  #wake: () => void = () => undefined;

  /** @throws Error where the stage is not asynchronous */
  constructor(context: RlContext<P>, start: AsyncStart) {
    const { stage, signal } = context;
    if (!stage.async) throw new Error('the stage is not asynchronous');
    this.#context = context;
    this.#ledger = new AsyncLedger(
      {
        groups: stage.groupsPerStep,
        groupSize: stage.groupSize,
        steps: stage.steps,
        async: stage.async,
        ...(stage.dynamicSampling && { dynamicSampling: stage.dynamicSampling }),
      },
      start,
    );
    this.#concurrency = stage.concurrency === 'auto' ? stage.groupsPerStep * stage.groupSize : stage.concurrency;
    this.#advantages = advantageOf(stage.algorithm.advantage);
    setMaxListeners(0, this.#stop.signal);
    signal.addEventListener('abort', this.#onAbort, { once: true });
    if (signal.aborted) this.#onAbort();
  }

  /**
   * Begins what may be begun from the policy of `step`, and waits until the step has its groups.
   *
   * @param context where this step's problems come from
   * @param sampler the policy after `step` steps
   * @throws InfrastructureStop, EngineError (user), UserError, or the signal's reason; everything in flight is ended by `close`
   */
  async batch(context: RlContext<P>, sampler: Sampler, step: number): Promise<AsyncBatch<P>> {
    this.#training = undefined;
    this.#begin(context, sampler, step, false);
    for (;;) {
      if (this.#failure) throw this.#failure.error;
      const plan = this.#ledger.plan(step);
      if (plan.kind === 'begin') return this.#take(plan, context, sampler, step);
      if (plan.kind === 'cut') for (const group of plan.groups) this.#cutOff(group);
      else {
        this.#tellProgress(context);
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        this.#begin(context, sampler, step, false);
      }
    }
  }

  /** Ends everything in flight and waits for it. May be called twice. */
  async close(): Promise<void> {
    this.#context.signal.removeEventListener('abort', this.#onAbort);
    this.#failure ??= { error: LET_GO };
    this.#queue = [];
    this.#stop.abort(LET_GO);
    for (const { stop } of this.#flights.values()) stop.abort(LET_GO);
    await Promise.allSettled(this.#work);
  }

  #begin(context: RlContext<P>, sampler: Sampler, step: number, training: boolean): void {
    const { recipe, stage } = context;
    const begun = this.#ledger.begin(step, training);
    const { seed, from } = context.order ?? { seed: recipe.seed, from: 0 };
    const places = begun.map(({ number }) => Math.max(0, number - from * stage.groupsPerStep));
    const problems = problemsAt(context.problems, seed, places);
    for (const [i, group] of begun.entries()) {
      const groupId = asyncGroupId(group.from, group.number);
      const rollouts = new Array<undefined>(stage.groupSize).fill(undefined);
      const flight: Flight<P> = { group, problem: problems[i]!, groupId, sampler, rollouts, stop: new AbortController() };
      setMaxListeners(0, flight.stop.signal);
      this.#flights.set(group, flight);
      for (let sample = 0; sample < stage.groupSize; sample++) this.#queue.push({ flight, sample });
    }
    this.#fill();
  }

  #take(plan: Extract<Plan, { kind: 'begin' }>, context: RlContext<P>, sampler: Sampler, step: number): AsyncBatch<P> {
    const scored = (groups: readonly LedgerGroup[]): AdvantagedGroup<P>[] =>
      groups.map((group) => this.#flights.get(group)!.scored!).filter(({ group }) => group.members.length > 0);
    const taken = scored(plan.take);
    const replaced = scored(plan.replaced);
    const lags = plan.take.map(({ from }) => step - from);
    const { requeued, dropped } = this.#ledger.take(step, plan);
    for (const group of plan.late) this.#letGo(group);
    for (const group of [...plan.take, ...plan.replaced]) this.#flights.delete(group);
    const trained = taken.filter((group) => isTrained(context.stage, group));
    const metrics = {
      'async/lag': lags.length === 0 ? 0 : lags.reduce((sum, lag) => sum + lag, 0) / lags.length,
      'async/lagMax': Math.max(0, ...lags),
      'async/dropped': dropped,
      'async/requeued': requeued,
      'async/carriedOver': plan.carriedOver,
      'async/cut': this.#cut,
      'async/inFlight': this.#active,
      [BEGUN]: this.#ledger.next,
    };
    this.#cut = 0;
    this.#begin(context, sampler, step, true);
    this.#training = { context, sampler, step };
    return { all: [...taken, ...replaced], trained, metrics };
  }

  /** Starts waiting rollouts as far as there is room. */
  #fill(): void {
    while (this.#active < this.#concurrency && this.#failure === undefined) {
      const seat = this.#queue.shift();
      if (!seat) return;
      this.#active++;
      const work = this.#run(seat).finally(() => {
        this.#work.delete(work);
      });
      this.#work.add(work);
    }
  }

  /** Never rejects. */
  async #run({ flight, sample }: Seat<P>): Promise<void> {
    let rollout: Rollout<P> | undefined;
    try {
      rollout = await this.#rollout(flight, sample, 0);
      if (rollout.kind === 'infra') {
        this.#infra.lost(rollout.error);
        rollout = await this.#rollout(flight, sample, ATTEMPTS_PER_TURN);
      }
      if (rollout.kind === 'infra') this.#infra.lost(rollout.error);
      else this.#infra.came();
    } catch (error) {
      const { reason } = flight.stop.signal;
      if (reason === CUT) rollout = this.#lost(flight, sample);
      else if (reason !== LET_GO) this.#fail(error);
    }
    this.#active--;
    this.#fill();
    if (rollout) await this.#in(flight, sample, rollout);
  }

  #rollout(flight: Flight<P>, sample: number, firstAttempt: number): Promise<Rollout<P>> {
    const { recipe } = this.#context;
    const { problem, groupId, group, stop } = flight;
    const input: RolloutInput<P> = {
      problem,
      groupId,
      trajectoryId: `${groupId}/${sample}`,
      startSeed: deriveSeed(recipe.seed, 'start', groupId),
      signal: stop.signal,
      seed: (turn, attempt) => deriveSeed(recipe.seed, `async ${group.from}`, group.number, sample, turn, firstAttempt + attempt),
    };
    const how = rolloutsBy(this.#context, flight.sampler);
    if (isAgent(how)) return how.run(input);
    flight.promptTokens ??= promptOf(problem, how);
    return runRollout(how, { ...input, promptTokens: flight.promptTokens });
  }

  /** Takes a rollout that ended; scores the group once all of them did. */
  async #in(flight: Flight<P>, sample: number, rollout: Rollout<P>): Promise<void> {
    const { group } = flight;
    if (flight.rollouts[sample] !== undefined) return;
    flight.rollouts[sample] = rollout;
    group.done++;
    try {
      if (group.done === flight.rollouts.length) await this.#score(flight);
    } catch (error) {
      this.#fail(error);
    }
    this.#wake();
  }

  async #score(flight: Flight<P>): Promise<void> {
    const { scoring, sink, stage } = this.#context;
    const rollouts = flight.rollouts.map((rollout) => rollout!);
    const { group, lost } = await scoreRollouts(rollouts, scoring, { signal: this.#stop.signal });
    if (flight.stop.signal.reason === LET_GO) return;
    for (const { trajectoryId, error } of lost) {
      if (error === CUT.message) this.#cut++;
      else sink({ kind: 'note', level: 'warning', text: `rollout ${trajectoryId} was lost: ${error}` });
    }
    const advantages = this.#advantages(group.members.map((member) => member.reward.total));
    flight.scored = { group, advantages, sampledFrom: flight.group.from };
    this.#ledger.ready(flight.group, isTrained(stage, flight.scored));
    // A group without a gradient made room for another.
    if (this.#training) this.#begin(this.#training.context, this.#training.sampler, this.#training.step, true);
  }

  /** What still runs of a group leaves it, as if the machinery had lost it: it is no wrong answer. */
  #cutOff(group: LedgerGroup): void {
    const flight = this.#flights.get(group)!;
    group.state = 'cut';
    const waiting = this.#queue.filter((seat) => seat.flight === flight);
    this.#queue = this.#queue.filter((seat) => seat.flight !== flight);
    flight.stop.abort(CUT);
    for (const { sample } of waiting) void this.#track(this.#in(flight, sample, this.#lost(flight, sample)));
  }

  #letGo(group: LedgerGroup): void {
    const flight = this.#flights.get(group)!;
    this.#flights.delete(group);
    this.#queue = this.#queue.filter((seat) => seat.flight !== flight);
    flight.stop.abort(LET_GO);
  }

  #lost({ groupId, problem }: Flight<P>, sample: number): Rollout<P> {
    return { kind: 'infra', trajectoryId: `${groupId}/${sample}`, groupId, problem, error: CUT.message };
  }

  #track(promise: Promise<void>): void {
    const work = promise.finally(() => {
      this.#work.delete(work);
    });
    this.#work.add(work);
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#queue = [];
    this.#stop.abort(error);
    for (const { stop } of this.#flights.values()) stop.abort(LET_GO);
    this.#wake();
  }

  #tellProgress({ stage, onProgress }: RlContext<P>): void {
    const all = stage.groupsPerStep * stage.groupSize;
    const done = [...this.#ledger.live]
      .sort((a, b) => b.done - a.done)
      .slice(0, stage.groupsPerStep)
      .reduce((sum, group) => sum + group.done, 0);
    onProgress?.(done, all);
  }
}
