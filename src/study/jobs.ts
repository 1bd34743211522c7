/** What a study has to run: one job an arm and block, each with a key by which equal ones are shared between claims and plans. Runs nothing. */
import { availableParallelism } from 'node:os';
import type { Recipe } from '../recipe/schema.js';
import type { ArmResult } from './armResult.js';
import { decisive, hashOf } from './hash.js';
import type { Arm, StudyPlan } from './plan.js';

export interface Job {
  /** Equal for jobs that would compute the same. */
  readonly key: string;
  readonly arm: Arm;
  /** 0-based. */
  readonly block: number;
  readonly seed: number;
  /** The recipe with the block's seed; its model is the start's, where there is one. */
  readonly recipe: Recipe;
  readonly start: StartJob | undefined;
}

export interface StartJob {
  readonly key: string;
  readonly recipe: Recipe;
}

export interface Block {
  readonly block: number;
  readonly seed: number;
  readonly jobs: readonly Job[];
}

/** Blocks in order, over all plans: a block's jobs of one seed stand together, each key once. */
export function blocksOf(plans: readonly StudyPlan[]): Block[] {
  const blocks = new Map<string, { block: number; seed: number; jobs: Map<string, Job> }>();
  for (const plan of plans) {
    for (let block = 0; block < plan.blocks; block++) {
      const seed = plan.seed + block;
      const place = `${block}/${seed}`;
      const found = blocks.get(place) ?? { block, seed, jobs: new Map<string, Job>() };
      blocks.set(place, found);
      for (const arm of plan.arms) {
        const job = jobOf(plan, arm, block);
        if (!found.jobs.has(job.key)) found.jobs.set(job.key, job);
      }
    }
  }
  return [...blocks.values()]
    .sort((a, b) => a.block - b.block || a.seed - b.seed)
    .map(({ block, seed, jobs }) => ({ block, seed, jobs: [...jobs.values()] }));
}

/** Arms side by side: as many as have cores for their engine's threads. */
export function sideBySide(jobs: readonly Job[]): number {
  const cores = availableParallelism();
  const threads = Math.max(1, ...jobs.map(({ recipe }) => (recipe.engine.threads === 'auto' ? cores : recipe.engine.threads)));
  return Math.max(1, Math.floor(cores / threads));
}

export function jobOf(plan: StudyPlan, arm: Arm, block: number): Job {
  const seed = plan.seed + block;
  const start = plan.start && { key: hashOf({ start: decisive(plan.start), seed }), recipe: { ...plan.start, seed } };
  const recipe = { ...arm.recipe, seed };
  const key = hashOf({ recipe: decisive(recipe), seed, ...(start && { start: start.key }) });
  return { key, arm, block, seed, recipe, start };
}

/** Of one arm, those that are there, in the order of the blocks. */
export function resultsOfArm(plan: StudyPlan, name: string, results: ReadonlyMap<string, ArmResult>): ArmResult[] {
  const arm = plan.arms.find((one) => one.name === name)!;
  return Array.from({ length: plan.blocks }, (_, block) => results.get(jobOf(plan, arm, block).key)).filter(
    (result) => result !== undefined,
  );
}
