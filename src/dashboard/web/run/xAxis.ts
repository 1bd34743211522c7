/** What the charts have below: steps, seconds or trained tokens, each a growing function of the steps made. Pure. */
import { interpolate } from '../charts/lineData.js';
import type { SeriesPoints } from '../charts/seriesBuffer.js';
import { compact, count, duration } from '../format.js';

export type XKind = 'step' | 'time' | 'tokens';

export const X_KINDS: readonly (readonly [XKind, string])[] = [
  ['step', 'Steps'],
  ['time', 'Time'],
  ['tokens', 'Tokens'],
];

export const X_NAMES: Readonly<Record<XKind, string>> = { step: 'step', time: 'seconds of steps', tokens: 'trained tokens' };

export const X_FORMATS: Readonly<Record<XKind, (x: number) => string>> = {
  step: count,
  time: duration,
  tokens: compact,
};

/** The metrics whose sum over the steps is the axis, the first that is there. */
export const X_METRICS: Readonly<Record<XKind, readonly string[]>> = {
  step: [],
  time: ['seconds/step', 'seconds/training'],
  tokens: ['train/tokens'],
};

/** From steps made to places on the axis, and back. */
export interface XScale {
  readonly toX: (stepsMade: number) => number;
  readonly toSteps: (x: number) => number;
}

export const STEP_SCALE: XScale = { toX: (steps) => steps, toSteps: (x) => x };

/** Adds up a metric of each step; buckets count as often as they have values. */
export function sumScale({ steps, values, counts }: Pick<SeriesPoints, 'steps' | 'values' | 'counts'>): XScale {
  const n = steps.length;
  const made = new Float64Array(n + 1);
  const sums = new Float64Array(n + 1);
  for (let i = 0; i < n; i++) {
    made[i + 1] = steps[i]! + 1;
    sums[i + 1] = sums[i]! + Math.max(0, values[i]!) * counts[i]!;
  }
  return { toX: (at) => interpolate(made, sums, at), toSteps: (x) => interpolate(sums, made, x) };
}
