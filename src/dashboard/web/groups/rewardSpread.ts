/** What the rewards of a group come to: how far apart they are, and whether the group teaches anything. Pure. */
import { differ } from '../../../algorithm/advantages.js';
import type { Num } from '../../api.js';

export type Spread =
  /** No member has a reward: an evaluation, which is not trained on. */
  | { readonly kind: 'none' }
  | { readonly kind: 'single'; readonly reward: number }
  /** All the same within 1e-9 of their size: every advantage is exactly 0. */
  | { readonly kind: 'equal'; readonly reward: number; readonly count: number }
  | { readonly kind: 'mixed'; readonly mean: number; readonly deviation: number; readonly low: number; readonly high: number };

/** Rewards that are no numbers are left out. `deviation` is the sample's (divided by n - 1), as advantages use it. */
export function spreadOf(rewards: readonly (Num | undefined)[]): Spread {
  const known = rewards.filter((reward): reward is number => typeof reward === 'number');
  if (known.length === 0) return { kind: 'none' };
  const low = Math.min(...known);
  const high = Math.max(...known);
  if (known.length === 1) return { kind: 'single', reward: low };
  if (!differ(known)) return { kind: 'equal', reward: low, count: known.length };
  const mean = known.reduce((sum, reward) => sum + reward, 0) / known.length;
  const deviation = Math.sqrt(known.reduce((sum, reward) => sum + (reward - mean) ** 2, 0) / (known.length - 1));
  return { kind: 'mixed', mean, deviation, low, high };
}

/** Which two to compare at first: the best and the worst by reward, else a right and a wrong one, else the first two. */
export function pairToCompare<Member extends { readonly id: number; readonly reward?: Num; readonly correct?: boolean }>(
  members: readonly Member[],
): readonly [Member, Member] | undefined {
  const [first, second] = members;
  if (!first || !second) return undefined;
  const worth = (member: Member): number => member.reward ?? (member.correct === true ? 1 : 0);
  const ranked = [...members].sort((a, b) => worth(b) - worth(a) || a.id - b.id);
  const best = ranked[0]!;
  const worst = ranked.at(-1)!;
  return worth(best) === worth(worst) ? [first, second] : [best, worst];
}
