/** What a run tells those who listen (the run store, the terminal, later a dashboard). Rooms send events; they never ask who listens. */
import type { Reward } from './reward.js';
import type { Trajectory } from './trajectory.js';
import type { Verdict } from './verdict.js';

export type Stage = 'base' | 'sft' | 'rl';

/** Numbers of one step by name, for example `reward/total`, `rollout/tokens`, `seconds/training`. */
export type Metrics = Readonly<Record<string, number>>;

export type RunEvent =
  | { readonly kind: 'stageStarted'; readonly stage: Stage; readonly steps: number }
  | { readonly kind: 'stageEnded'; readonly stage: Stage; readonly seconds: number }
  | { readonly kind: 'trajectory'; readonly record: TrajectoryRecord }
  /** Everything of this step is on its way to the store; `checkpoint` is the path to resume from, where one was made. */
  | {
      readonly kind: 'stepEnded';
      readonly stage: Stage;
      readonly step: number;
      readonly metrics: Metrics;
      readonly checkpoint?: CheckpointRecord;
    }
  | { readonly kind: 'evaluation'; readonly record: EvaluationRecord }
  | { readonly kind: 'checkpoint'; readonly record: CheckpointRecord }
  | { readonly kind: 'checkpointDropped'; readonly path: string }
  | { readonly kind: 'refresh'; readonly record: RefreshRecord }
  /** Something a person should read; `warning` colours it. `alarm` names the way in which a run seems to collapse. */
  | { readonly kind: 'note'; readonly level: 'info' | 'warning'; readonly text: string; readonly alarm?: string };

export interface TrajectoryRecord {
  readonly stage: Stage;
  /** 0-based; for evaluations the number of steps made before. */
  readonly step: number;
  /** `train`, or the name of the evaluation it belongs to. */
  readonly split: string;
  readonly trajectory: Trajectory;
  readonly verdict?: Verdict;
  readonly reward?: Reward;
  readonly advantage?: number;
  /**
   * Probability of each of the model's tokens under the policy before the last update that saw them, over that of the policy that the step
   * started from; 1 for others' tokens; float32 values, [length]. Only where an update saw the rollout.
   */
  readonly ratios?: readonly number[];
  /** The same of its branches, in their order. */
  readonly branchRatios?: readonly (readonly number[])[];
  /** RL steps in the policy that sampled it, where training is asynchronous; else it is the step's own. */
  readonly sampledFrom?: number;
}

export interface CheckpointRecord {
  readonly path: string;
  readonly stage: Stage;
  /** Steps of the stage that are in it. */
  readonly step: number;
  readonly policyVersion: number;
  /** Whether the optimizer's state is in it. */
  readonly optimizer: boolean;
  /** Why it is kept, for example `newest`, `best`, `end of stage`. */
  readonly reason: string;
}

export interface EvaluationRecord {
  /** For example `T=1 top-p 1`. */
  readonly name: string;
  readonly stage: Stage;
  readonly step: number;
  readonly metrics: Metrics;
}

/** The training problems that RL goes on with, chosen by how often the policy of the moment solves them. */
export interface RefreshRecord {
  /** RL steps made before. */
  readonly step: number;
  /** Their places among the training problems, with their ids; empty where none could be chosen, and the stream stays as it was. */
  readonly selected: readonly { readonly index: number; readonly id: string }[];
  readonly metrics: Metrics;
}

export type EventSink = (event: RunEvent) => void;

/** Passes each event to all sinks, in order. */
export const broadcast =
  (...sinks: readonly EventSink[]): EventSink =>
  (event) => {
    for (const sink of sinks) sink(event);
  };
