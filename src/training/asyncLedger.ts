/**
 * Which groups are being sampled ahead, which are in, and what a step may train on: the books of asynchronous training, without promises
 * and without rollouts. Its one law: a group sampled from the policy after `from` steps is trained at step `s` only where
 * s - from <= staleness.
 *
 * The law holds without waste because of how many may be begun: while step s is being assembled at most (staleness + 1) x groups live, so
 * that all of them can be trained in time. A group at its limit is taken, waited for, or let go as the recipe says.
 */
import type { Async, DynamicSampling } from '../recipe/schema.js';

/** One group that was begun and is neither trained nor let go. */
export interface LedgerGroup {
  /** Its place in the stream of problems; a group that is sampled anew keeps it. */
  readonly number: number;
  /** RL steps in the policy that samples it. */
  readonly from: number;
  /** Times it was let go before. */
  readonly again: number;
  /** Rollouts that ended. */
  done: number;
  state: 'running' | 'ready' | 'cut';
}

export interface LedgerRules {
  /** Groups of a step. */
  readonly groups: number;
  readonly groupSize: number;
  /** Steps of the stage. */
  readonly steps: number;
  readonly async: Async;
  readonly dynamicSampling?: DynamicSampling;
}

/** What may be done now: wait for more rollouts, cut those of some groups first, or begin the step. */
export type Plan<G extends LedgerGroup = LedgerGroup> =
  | { readonly kind: 'wait' }
  | { readonly kind: 'cut'; readonly groups: readonly G[] }
  | {
      readonly kind: 'begin';
      /** To be trained, oldest first. */
      readonly take: readonly G[];
      /** Still sampled, and beyond the bound at every later step. */
      readonly late: readonly G[];
      /** In, but without a gradient: replaced by others. */
      readonly replaced: readonly G[];
      /** Of the step's oldest groups, those that later steps get. */
      readonly carriedOver: number;
    };

/** A group that was too late so often is let go for good: its problem may be one that always takes too long. */
const MOST_REQUEUES = 2;

export class AsyncLedger {
  readonly #rules: LedgerRules;
  readonly #live = new Set<LedgerGroup>();
  #replaced: LedgerGroup[] = [];
  #again: { readonly number: number; readonly again: number }[];
  #next: number;

  /** @param start where a resumed stage stands: the first number that was never begun, and those to be sampled anew */
  constructor(rules: LedgerRules, start: { readonly next: number; readonly again: readonly number[] } = { next: 0, again: [] }) {
    this.#rules = rules;
    this.#next = start.next;
    this.#again = start.again.map((number) => ({ number, again: 0 }));
  }

  /** First number that was never begun. */
  get next(): number {
    return this.#next;
  }

  get live(): readonly LedgerGroup[] {
    return [...this.#live];
  }

  /**
   * Begins as many groups as can still be trained in time.
   *
   * @param step the step that is being assembled or, with `training`, trained
   */
  begin(step: number, training = false): LedgerGroup[] {
    const { groups, steps, async } = this.#rules;
    const ahead = Math.min(async.staleness + 1, steps - step) - (training ? 1 : 0);
    const begun: LedgerGroup[] = [];
    const beyond = Math.max(0, this.#replaced.length - ((this.#rules.dynamicSampling?.maxBatches ?? 1) - 1) * groups);
    while (this.#live.size + beyond < ahead * groups) {
      const { number, again } = this.#again.shift() ?? { number: this.#next++, again: 0 };
      const group: LedgerGroup = { number, again, from: step, done: 0, state: 'running' };
      this.#live.add(group);
      begun.push(group);
    }
    return begun;
  }

  /**
   * All rollouts of a group are in and scored. Without a gradient it is replaced, where the recipe asks for it; not one that was cut, since
   * its step is past the deadline.
   */
  ready(group: LedgerGroup, hasGradient: boolean): void {
    const stays = hasGradient || group.state === 'cut' || this.#rules.dynamicSampling === undefined;
    group.state = 'ready';
    if (stays || !this.#live.has(group)) return;
    this.#live.delete(group);
    this.#replaced.push(group);
  }

  /** What step `step` may do now. Changes nothing. */
  plan(step: number): Plan {
    const { groups, groupSize, async, dynamicSampling } = this.#rules;
    const live = [...this.#live].sort(byAge);
    const atLimit = live.filter(({ from }) => step - from >= async.staleness);
    const late = atLimit.filter(({ state }) => state !== 'ready');
    const ready = live.filter(({ state }) => state === 'ready');
    const inTime = late.length === 0 || async.stale !== 'wait';
    const used = ready.length + this.#replaced.length;
    const enough = ready.length >= groups || (dynamicSampling !== undefined && used >= dynamicSampling.maxBatches * groups);
    const size = Math.max(groups, atLimit.length - late.length);
    const begin = (carriedOver: number): Plan => ({
      kind: 'begin',
      take: ready.slice(0, size),
      late,
      replaced: this.#replaced,
      carriedOver,
    });
    if (inTime && enough) return begin(0);
    if (async.deadline === undefined) return { kind: 'wait' };

    const oldest = live.slice(0, Math.max(groups, atLimit.length));
    const done = oldest.reduce((sum, group) => sum + group.done, 0);
    if (done < async.deadline.share * oldest.length * groupSize) return { kind: 'wait' };
    const running = oldest.filter(({ state }) => state === 'running');
    if (async.deadline.rest === 'cut') return running.length > 0 ? { kind: 'cut', groups: running } : { kind: 'wait' };
    if (!inTime || ready.length === 0) return { kind: 'wait' };
    return begin(oldest.filter((group) => group.state === 'running' && !late.includes(group)).length);
  }

  /**
   * Takes what a plan to begin names.
   * @returns how many of the late groups are sampled anew, by a later policy
   */
  take(step: number, plan: Extract<Plan, { kind: 'begin' }>): { readonly requeued: number; readonly dropped: number } {
    for (const group of plan.take) {
      if (step - group.from > this.#rules.async.staleness)
        throw new Error(`group ${group.number}, sampled after ${group.from} steps, would be trained at step ${step}`);
      this.#live.delete(group);
    }
    let requeued = 0;
    for (const group of plan.late) {
      this.#live.delete(group);
      if (this.#rules.async.stale !== 'requeue' || group.again >= MOST_REQUEUES) continue;
      this.#again.push({ number: group.number, again: group.again + 1 });
      requeued++;
    }
    this.#replaced = [];
    return { requeued, dropped: plan.late.length - requeued };
  }
}

/** Oldest policy first, then in the stream's order. */
const byAge = (a: LedgerGroup, b: LedgerGroup): number => a.from - b.from || a.number - b.number;
