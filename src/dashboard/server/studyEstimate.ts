/** How long a study may take still: the mean of what has ended, times what is left, over those side by side. Pure. */
import type { ArmResult } from '../../study/armResult.js';
import type { StudyEstimate } from '../api.js';

/** So many that ended last tell how many ran beside each other: `--parallel` may have been another one before. */
const LAST = 8;

/**
 * @param left arm-runs
 * @param running arms that run now; undefined where the study does not
 * @returns undefined where nothing is left, or nothing has ended that could tell
 */
export function estimateOf(ended: readonly ArmResult[], left: number, running: number | undefined): StudyEstimate | undefined {
  const seconds = ended.map((result) => result.seconds).filter((value) => value > 0);
  if (seconds.length === 0 || left === 0) return undefined;
  const each = seconds.reduce((sum, value) => sum + value, 0) / seconds.length;
  // at a block's end fewer run for a while, so those that have ended are asked too
  const beside = running === undefined ? 1 : Math.max(1, Math.min(left, Math.max(running, besideEachOther(ended))));
  return { seconds: (each * left) / beside, each, of: seconds.length, beside };
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
