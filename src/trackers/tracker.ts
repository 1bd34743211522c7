/** Where a run's numbers may go beside its own store. Does not decide what is sent or when: see `hub.ts`. */
import type { RunInfo } from '../runs/runInfo.js';

export interface TrackedRun {
  readonly folder: string;
  readonly info: RunInfo;
  /** Whether the run goes on after an interruption. */
  readonly resumed: boolean;
}

/** Numbers of one moment, named for people: `rl/reward/total`, `evaluation/T=1 top-p 1/accuracy`. All finite. */
export interface TrackerPoint {
  /** The axis that `step` counts on, for example `rl`. */
  readonly axis: string;
  /** Steps of the stage that were made, so the first one ends at 1; an evaluation before it stands at 0. */
  readonly step: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly values: Readonly<Record<string, number>>;
}

/** Something a person should hear of now: a run that collapses. */
export interface TrackerAlarm {
  readonly kind: string;
  readonly text: string;
}

export type RunOutcome =
  | { readonly kind: 'ended'; readonly accuracy?: number }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'failed'; readonly error: string };

/** Each call may take its time and may throw: calls of one tracker never overlap, a failed one is made again, and the run does not wait. */
export interface Tracker {
  /** For messages, for example `mlflow`. */
  readonly name: string;
  start(run: TrackedRun, signal: AbortSignal): Promise<void>;
  log?(points: readonly TrackerPoint[], signal: AbortSignal): Promise<void>;
  alarm?(alarm: TrackerAlarm, signal: AbortSignal): Promise<void>;
  end(outcome: RunOutcome, signal: AbortSignal): Promise<void>;
}

/** A tracker that will not work however often it is tried, for example because a program is missing. */
export class TrackerGone extends Error {
  override readonly name = 'TrackerGone';
}
