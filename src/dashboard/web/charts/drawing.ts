/** From lines to what the canvas is given: columns, the shape that a plot is built for, the range in sight. */
import uPlot from 'uplot';
import type { ChartColours } from './colours.js';
import { joined, type LinePoints, shapeOf, stacked, thinned } from './lineData.js';
import { plotOptions } from './plotOptions.js';
import type { LineChartProps, ShownLine } from './types.js';

export interface Drawing {
  readonly lines: readonly ShownLine[];
  readonly data: uPlot.AlignedData;
  readonly stack: boolean;
  /** A plot can be given other data of the same shape; for another shape it is built anew. */
  readonly shape: string;
}

/** Undefined where there is no point to draw. @param width of the canvas in CSS pixels: no line needs more points */
export function drawingOf(lines: readonly ShownLine[], { stack, log, xName, range }: LineChartProps, width: number): Drawing | undefined {
  const points = lines.map((each) => thinned(each.points, width, range?.from, range?.to));
  const isStack = stack === true && points.length > 1;
  const { x, columns } = isStack ? stacked(points) : joined(points, { log: log === true });
  if (x.length === 0) return undefined;
  const shape = [shapeOf(points), lines.map(({ line }) => line.key).join('\n'), isStack, log, xName].join('|');
  return { lines, data: [x, ...columns] as uPlot.AlignedData, stack: isStack, shape };
}

export interface Surface {
  readonly element: HTMLElement;
  readonly width: number;
  readonly height: number;
  readonly colours: ChartColours;
  readonly current: () => LineChartProps;
  readonly onCursor?: (u: uPlot) => void;
}

export function plotOf(
  { lines, data, stack }: Drawing,
  { element, width, height, colours, current, onCursor = () => undefined }: Surface,
): uPlot {
  return new uPlot(plotOptions({ width, height, lines, colours, stack, log: current().log === true, current, onCursor }), data, element);
}

/** The range that is looked at, or all of x. */
export function fit(u: uPlot, { range, startX }: LineChartProps): void {
  const x = u.data[0];
  let from = range?.from ?? startX ?? (x[0] as number);
  let to = range?.to ?? (x[x.length - 1] as number);
  if (!(to > from)) {
    from -= 0.5;
    to += 0.5;
  }
  u.setScale('x', { min: from, max: to });
}

/** The points with x in a range. */
export function cutTo(points: LinePoints, from: number, to: number): LinePoints {
  const inside: number[] = [];
  for (let i = 0; i < points.x.length; i++) if (points.x[i]! >= from && points.x[i]! <= to) inside.push(i);
  const pick = (values: ArrayLike<number>): Float64Array => Float64Array.from(inside, (i) => values[i]!);
  const { faint, low, high } = points;
  return {
    x: pick(points.x),
    y: pick(points.y),
    ...(faint && { faint: pick(faint) }),
    ...(low && { low: pick(low) }),
    ...(high && { high: pick(high) }),
  };
}
