/** How hard a problem is for one model, from the share of its rollouts that were right (paper, section 3.3). Pure; samples nothing. */

export type Difficulty = 'easy' | 'medium' | 'hard';

export const DIFFICULTIES: readonly Difficulty[] = ['easy', 'medium', 'hard'];

/** The paper's bounds: easy from 0.75 on, hard up to 0.25, medium between. */
export const EASY_FROM = 0.75;
export const HARD_UP_TO = 0.25;

/** @param accuracy share of right rollouts, in [0, 1] */
export function difficultyOf(accuracy: number): Difficulty {
  if (accuracy >= EASY_FROM) return 'easy';
  return accuracy <= HARD_UP_TO ? 'hard' : 'medium';
}

/** Nothing is learned from a group whose rollouts are all right (`solved`) or all wrong (`unsolved`): the paper discards both. */
export type Certainty = 'solved' | 'unsolved';

export function certaintyOf(accuracy: number): Certainty | undefined {
  if (accuracy === 1) return 'solved';
  return accuracy === 0 ? 'unsolved' : undefined;
}

/**
 * The bar of a histogram over 0/n .. n/n that an accuracy belongs to: the nearest one, but 0 and n only for exactly none and all, however
 * many rollouts it was measured with.
 *
 * @param n rollouts a problem, at least 1
 * @returns a whole number in [0, n]; with n = 1 there is no bar between, and the nearest stands
 */
export function levelOf(accuracy: number, n: number): number {
  const nearest = Math.round(accuracy * n);
  if (accuracy <= 0 || accuracy >= 1 || n < 2) return Math.min(n, Math.max(0, nearest));
  return Math.min(n - 1, Math.max(1, nearest));
}
