/** The numbers of a sparkline: few, in order, bounded. Pure. */
import type { Series } from '../../api.js';

export interface SparkData {
  readonly values: readonly number[];
  readonly lastStep: number;
}

export const sparkFrom = ({ steps, values }: Pick<Series, 'steps' | 'values'>): SparkData => ({
  values: values.filter((value): value is number => value !== null),
  lastStep: steps.at(-1) ?? -1,
});

/** Beyond `most` neighbours become their mean. */
export function sparkAppend({ values }: SparkData, step: number, value: number, most: number): SparkData {
  const longer = [...values, value];
  if (longer.length <= most) return { values: longer, lastStep: step };
  const halved: number[] = [];
  for (let i = 0; i < longer.length; i += 2) halved.push(i + 1 < longer.length ? (longer[i]! + longer[i + 1]!) / 2 : longer[i]!);
  return { values: halved, lastStep: step };
}

/** An SVG path that fills the box but for a pixel and a half all around; a flat line lies in the middle. */
export function sparkPath(values: readonly number[], width: number, height: number): string {
  const least = Math.min(...values);
  const most = Math.max(...values);
  const pad = 1.5;
  const x = (i: number): number => pad + (i / Math.max(1, values.length - 1)) * (width - 2 * pad);
  const y = (value: number): number => (most === least ? height / 2 : pad + ((most - value) / (most - least)) * (height - 2 * pad));
  return values.map((value, i) => `${i === 0 ? 'M' : 'L'}${x(i).toFixed(1)} ${y(value).toFixed(1)}`).join('');
}
