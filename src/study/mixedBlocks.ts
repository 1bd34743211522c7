/** Blocks whose arms ran on different processors: training makes their last bits large, so a difference within is not of the arms alone. */
import type { ArmResult } from './armResult.js';
import { jobOf } from './jobs.js';
import type { StudyPlan } from './plan.js';

export interface MixedBlock {
  readonly plan: string;
  /** 0-based. */
  readonly block: number;
  readonly seed: number;
  /** Two or more, in the order of the arms. */
  readonly processors: readonly string[];
}

/** In the order of the blocks, half-done ones too. Pure. */
export function mixedBlocks(plan: StudyPlan, results: ReadonlyMap<string, ArmResult>): MixedBlock[] {
  return Array.from({ length: plan.blocks }, (_, block): MixedBlock => {
    const done = plan.arms.flatMap((arm) => results.get(jobOf(plan, arm, block).key) ?? []);
    const processors = [...new Set(done.map(({ machine }) => String(machine.cpu ?? 'unknown')))];
    return { plan: plan.name, block, seed: plan.seed + block, processors };
  }).filter(({ processors }) => processors.length > 1);
}
