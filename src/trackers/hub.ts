/**
 * Hands a run's events to its trackers, which start at the first of them, without ever holding the run up: each has a queue of its own, what fails is tried again after a
 * while, what cannot be delivered is dropped and counted. Knows no tracker by name.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { EventSink, RunEvent } from '../domain/event.js';
import { untilAborted } from '../tools/callTool.js';
import { type RunOutcome, type TrackedRun, type Tracker, type TrackerAlarm, TrackerGone, type TrackerPoint } from './tracker.js';

export interface HubOptions {
  /** Told what a person should know; each trouble once. */
  readonly warn: (text: string) => void;
  /** Milliseconds until a failed call is made again, doubled each time up to a minute. Default 1,000. */
  readonly retryAfter?: number;
  /** Milliseconds that the end of a run may take. Default 15,000. */
  readonly patience?: number;
}

/** Points that wait for one tracker; beyond it the oldest are dropped. */
const MOST_WAITING = 10_000;
const LONGEST_WAIT = 60_000;
const CALL_TIMEOUT = 30_000;

export class TrackerHub {
  readonly #lines: Line[];
  readonly #patience: number;

  constructor(trackers: readonly Tracker[], run: TrackedRun, options: HubOptions) {
    this.#patience = options.patience ?? 15_000;
    this.#lines = trackers.map((tracker) => new Line(tracker, run, options));
  }

  readonly sink: EventSink = (event) => {
    for (const line of this.#lines) line.begin();
    const point = pointOf(event);
    const alarm = event.kind === 'note' && event.alarm !== undefined ? { kind: event.alarm, text: event.text } : undefined;
    for (const line of this.#lines) {
      if (point) line.log(point);
      if (alarm) line.alarm(alarm);
    }
  };

  /** Delivers what waits, for a bounded time. Never throws. */
  async end(outcome: RunOutcome): Promise<void> {
    await Promise.all(this.#lines.map((line) => line.end(outcome, this.#patience)));
  }
}

/** What a tracker is sent for an event; nothing for most. Numbers that are not finite are left out. */
export function pointOf(event: RunEvent): TrackerPoint | undefined {
  const at = Date.now();
  if (event.kind === 'stepEnded') {
    const { stage, step, metrics } = event;
    return { axis: stage, step: step + 1, at, values: named(stage, metrics) };
  }
  if (event.kind === 'evaluation') {
    const { name, stage, step, metrics } = event.record;
    return { axis: stage, step, at, values: named(`evaluation/${stage}/${name}`, metrics) };
  }
  return undefined;
}

const named = (prefix: string, metrics: Readonly<Record<string, number>>): Record<string, number> =>
  Object.fromEntries(
    Object.entries(metrics)
      .filter(([, value]) => Number.isFinite(value))
      .map(([name, value]) => [`${prefix}/${name}`, value]),
  );

/** One tracker with what waits for it. */
class Line {
  #points: TrackerPoint[] = [];
  #alarms: TrackerAlarm[] = [];
  #told = new Set<string>();
  #outcome: RunOutcome | undefined;
  #dropped = 0;
  #gone = false;
  #wake: () => void = () => undefined;
  readonly #stop = new AbortController();
  #done: Promise<void> | undefined;

  constructor(
    private readonly tracker: Tracker,
    private readonly run: TrackedRun,
    private readonly options: HubOptions,
  ) {}

  begin(): void {
    this.#done ??= this.#work().catch((error: unknown) => {
      this.#gone = true;
      if (!this.#stop.signal.aborted) this.#warn(`${messageOf(error)}; the run goes on without it`);
    });
  }

  log(point: TrackerPoint): void {
    if (this.#gone || this.tracker.log === undefined) return;
    this.#points.push(point);
    if (this.#points.length > MOST_WAITING) {
      this.#points.shift();
      this.#dropped++;
    }
    this.#wake();
  }

  alarm(alarm: TrackerAlarm): void {
    if (this.#gone || this.tracker.alarm === undefined || this.#told.has(alarm.kind)) return;
    this.#told.add(alarm.kind);
    this.#alarms.push(alarm);
    this.#wake();
  }

  async end(outcome: RunOutcome, patience: number): Promise<void> {
    this.#outcome = outcome;
    this.begin();
    this.#wake();
    const timer = setTimeout(() => this.#stop.abort(new Error('the run has ended')), patience);
    await this.#done;
    clearTimeout(timer);
    const lost = this.#dropped + this.#points.length;
    if (!this.#gone || !this.#stop.signal.aborted) {
      if (lost > 0 && !this.#gone) this.#warn(`${lost} points were not delivered`);
      return;
    }
    const missing = lost === 0 ? 'it was not told of it' : `${lost} points were not delivered (they are in the run's folder)`;
    this.#warn(`not reached before the run's end; ${missing}`);
  }

  async #work(): Promise<void> {
    await this.#insist((signal) => this.tracker.start(this.run, signal));
    for (;;) {
      const alarm = this.#alarms[0];
      if (alarm) {
        await this.#insist((signal) => this.tracker.alarm!(alarm, signal));
        this.#alarms.shift();
        continue;
      }
      const points = this.#points.slice(0, 100);
      if (points.length > 0) {
        await this.#insist((signal) => this.tracker.log!(points, signal));
        const sent = new Set(points);
        this.#points = this.#points.filter((point) => !sent.has(point));
        continue;
      }
      if (this.#outcome) {
        const outcome = this.#outcome;
        return this.#insist((signal) => this.tracker.end(outcome, signal));
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Until it succeeds, the tracker is gone, or the run's end has waited long enough. */
  async #insist(call: (signal: AbortSignal) => Promise<void>): Promise<void> {
    let wait = this.options.retryAfter ?? 1000;
    for (;;) {
      try {
        const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(CALL_TIMEOUT)]);
        await untilAborted(call(signal), signal);
        return;
      } catch (error) {
        if (error instanceof TrackerGone) throw error;
        this.#stop.signal.throwIfAborted();
        this.#once(`${messageOf(error)}; it is tried again, the run goes on`);
        await sleep(wait, undefined, { signal: this.#stop.signal, ref: this.#outcome !== undefined });
        wait = Math.min(2 * wait, LONGEST_WAIT);
      }
    }
  }

  #once(text: string): void {
    if (this.#told.has(text)) return;
    this.#told.add(text);
    this.#warn(text);
  }

  #warn(text: string): void {
    this.options.warn(`${this.tracker.name}: ${text}`);
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
