/** Where a run stands, read from its record alone. */
import type { CheckpointRecord } from '../domain/event.js';
import type { Recipe, RlStage } from '../recipe/schema.js';
import type { StageState } from '../runs/runInfo.js';

/** The stage to go on with, the steps of it that are done, and the checkpoint they are in. */
export interface Position {
  readonly stage: Recipe['stages'][number];
  readonly step: number;
  readonly checkpoint?: CheckpointRecord;
}

/**
 * The first stage that has not ended: after its newest checkpoint, else at its start with what the stages before it gave. RL that ended
 * with fewer steps than the recipe has goes on; SFT does not, since its end is kept without optimizer state.
 *
 * @returns undefined where every stage has ended
 */
export function positionOf(
  { stages, rl }: { readonly stages: Recipe['stages']; readonly rl?: Pick<RlStage, 'steps'> | undefined },
  record: { stages(): readonly StageState[]; checkpoints(): readonly CheckpointRecord[] },
): Position | undefined {
  const states = record.stages();
  const checkpoints = record.checkpoints();
  let before: CheckpointRecord | undefined;
  for (const stage of stages) {
    const newest = checkpoints.filter((one) => one.stage === stage).at(-1);
    const longer = stage === 'rl' && rl !== undefined && newest !== undefined && newest.step < rl.steps;
    if (states.find((state) => state.stage === stage)?.endedAt !== undefined && !longer) {
      before = newest ?? before;
      continue;
    }
    const checkpoint = newest ?? before;
    return { stage, step: newest?.step ?? 0, ...(checkpoint && { checkpoint }) };
  }
  return undefined;
}
