/** How much arms have to do, as far as their recipes say it: the budget of a study that does not depend on a machine. Pure. */
import type { Job } from './jobs.js';

export interface Work {
  readonly sftStages: number;
  /** Of RL. */
  readonly steps: number;
  readonly rollouts: number;
  /** Of the rollouts, at most. */
  readonly tokens: number;
}

export function workOf(jobs: readonly Job[]): Work {
  const rl = jobs.flatMap(({ recipe }) => (recipe.rl && recipe.stages.includes('rl') ? [{ ...recipe.rl, ...recipe.limits }] : []));
  const sum = (of: (stage: (typeof rl)[number]) => number): number => rl.reduce((total, stage) => total + of(stage), 0);
  return {
    sftStages: jobs.filter(({ recipe }) => recipe.stages.includes('sft')).length,
    steps: sum(({ steps }) => steps),
    rollouts: sum(({ steps, groupsPerStep, groupSize }) => steps * groupsPerStep * groupSize),
    tokens: sum(({ steps, groupsPerStep, groupSize, responseTokens }) => steps * groupsPerStep * groupSize * responseTokens),
  };
}
