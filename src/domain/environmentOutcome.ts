/** What an environment made of one rollout. Does not score: the environment did (see `environments/`). */
export interface EnvironmentOutcome {
  /** The environment's name. */
  readonly environment: string;
  /** Actions that were taken; refused calls are none. */
  readonly steps: number;
  /** Whether an action ended the task, rather than the policy or a limit. */
  readonly done: boolean;
  readonly success: boolean;
  /** Rewards by name, each a sum over the steps and the end. */
  readonly rewards: Readonly<Record<string, number>>;
}
