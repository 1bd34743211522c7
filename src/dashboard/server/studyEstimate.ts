/** How long a study may take still, from what has ended in it and from how many ran side by side. Pure. */
import type { ArmResult } from '../../study/armResult.js';
import { estimateFrom, tookBy } from '../../study/estimate.js';
import type { Job } from '../../study/jobs.js';
import type { StudyEstimate } from '../api.js';

/** So many that ended last tell how many ran beside each other: `--parallel` may have been another one before. */
const LAST = 8;

/**
 * @param running arms that run now; undefined where the study does not
 * @returns undefined where nothing is left, or nothing has ended that could tell
 */
export function estimateOf(
  { jobs, results }: { readonly jobs: readonly Job[]; readonly results: ReadonlyMap<string, ArmResult> },
  running: number | undefined,
): StudyEstimate | undefined {
  const left = jobs.filter(({ key }) => !results.has(key));
  const ended = [...results.values()];
  const here = tookBy(jobs, results);
  // at a block's end fewer run for a while, so those that have ended are asked too
  const beside = running === undefined ? 1 : Math.max(1, Math.min(left.length, Math.max(running, besideEachOther(ended))));
  const known = left.length > 0 ? estimateFrom(left, beside, { here }) : undefined;
  return known && { seconds: known.clock, each: known.seconds / left.length, of: here.length, beside };
}

/** The most that ran at one time. */
function besideEachOther(ended: readonly ArmResult[]): number {
  const spans = ended
    .flatMap((result): [from: number, to: number][] => {
      const to = Date.parse(result.ended ?? '');
      return Number.isFinite(to) ? [[to - 1000 * result.seconds, to]] : [];
    })
    .sort(([, a], [, b]) => b - a)
    .slice(0, LAST);
  const at = (time: number): number => spans.filter(([from, to]) => from <= time && time <= to).length;
  return Math.max(0, ...spans.map(([from, to]) => at((from + to) / 2)));
}
