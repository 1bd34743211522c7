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

/** 1, 2, 5, 10, 20, 50 ... */
const ROUND = Array.from({ length: 36 }, (_, i) => [1, 2, 5][i % 3]! * 10 ** Math.floor(i / 3));
const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;

/** Distances of ticks: whole steps and tokens; seconds, minutes, hours and days as clocks have them. */
export const X_STEPS: Readonly<Record<XKind, readonly number[]>> = {
  step: ROUND,
  time: [
    ...[0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30],
    ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
    ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR),
    ...[1, 2, 5, 10, 20, 50, 100].map((days) => days * DAY),
  ],
  tokens: ROUND,
};

/** Short where a tick stands at a whole unit. */
export const X_TICKS: Readonly<Record<XKind, (x: number) => string>> = {
  step: count,
  time: (x) => {
    if (x === 0) return '0';
    for (const [unit, name] of [
      [DAY, 'd'],
      [HOUR, 'h'],
      [MINUTE, 'min'],
      [1, 's'],
    ] as const)
      if (x % unit === 0) return `${x / unit} ${name}`;
    return duration(x);
  },
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
