/**
 * Where an asynchronous stage stands in its stream of problems, read from the run's record alone. A stopped run loses what was in flight;
 * its places in the stream are sampled anew, and no place is trained twice.
 */
import type { Stage } from '../domain/event.js';
import type { RlStage } from '../recipe/schema.js';

export interface AsyncStart {
  /** First place that was never begun. */
  readonly next: number;
  /** Places that were begun and never trained: they are sampled anew. */
  readonly again: readonly number[];
}

/** Metric of a step: places of the stream that were begun until its rollouts were in. */
export const BEGUN = 'async/begun';

/** Names the policy that samples a group, and the group's place in the stream. */
export const asyncGroupId = (from: number, place: number): string => `rl/${from}/n${place}`;

/** The place, read back from a group's name; undefined where the group was not sampled asynchronously. */
export function placeOf(groupId: string): number | undefined {
  const place = /^rl\/\d+\/n(\d+)$/.exec(groupId)?.[1];
  return place === undefined ? undefined : Number(place);
}

/**
 * @param record of the run, without steps that were taken back
 * @param step steps of the stage that are made
 */
export function asyncStartOf(
  record: { metric(stage: Stage, name: string): readonly { step: number; value: number }[]; groupIds(stage: Stage): readonly string[] },
  step: number,
  { groupsPerStep, async }: Pick<RlStage, 'groupsPerStep' | 'async'>,
): AsyncStart {
  const begun = record.metric('rl', BEGUN);
  const next = begun.find((metric) => metric.step === step - 1)?.value;
  // At the start, or after steps that were synchronous.
  if (next === undefined) return { next: step * groupsPerStep, again: [] };
  const done = new Set(record.groupIds('rl').map(placeOf));
  const first = begun[0]!;
  // Where late groups are dropped, only those that may have been in flight are sampled anew: no older policy than the bound allows.
  const before = step - 1 - (async?.staleness ?? 0);
  const from = async?.stale === 'drop' ? (begun.find((metric) => metric.step === before)?.value ?? 0) : first.step * groupsPerStep;
  const again: number[] = [];
  for (let place = Math.max(from, first.step * groupsPerStep); place < next; place++) if (!done.has(place)) again.push(place);
  return { next, again };
}
