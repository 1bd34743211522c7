/** How the canvas draws lines, bands, dots and marks, and what it does with the pointer. */
import type uPlot from 'uplot';
import { number } from '../format.js';
import { type ChartColours, dashOf, faded } from './colours.js';
import { placeMarks } from './marks.js';
import { paddedRange } from './scale.js';
import type { ChartDot, LineChartProps, ShownLine } from './types.js';

export interface PlotWishes {
  readonly width: number;
  readonly height: number;
  readonly lines: readonly ShownLine[];
  readonly colours: ChartColours;
  readonly stack: boolean;
  readonly log: boolean;
  /** Asked at each draw: what the component was last given. */
  readonly current: () => LineChartProps;
  readonly onCursor: (u: uPlot) => void;
}

/** Less is a click. */
const LEAST_DRAG = 6;

export function plotOptions({ width, height, lines, colours, stack, log, current, onCursor }: PlotWishes): uPlot.Options {
  const series: uPlot.Series[] = [{}];
  const bands: uPlot.Band[] = [];
  for (const { line, points } of lines) {
    const stroke = colours.series[line.colour % colours.series.length]!;
    const dash = [...dashOf(line.dash ?? 0)];
    const base = { spanGaps: true, points: { show: false } };
    if (stack) {
      series.push({ ...base, stroke, width: 1, fill: faded(stroke, 0.35) });
      continue;
    }
    if (points.low !== undefined && points.high !== undefined) {
      series.push({ ...base, class: 'point-off', paths: () => null });
      series.push({ ...base, class: 'point-off', paths: spans, fill: faded(stroke, 0.28) });
    }
    if (points.faint !== undefined) series.push({ ...base, class: 'point-off', stroke: faded(stroke, 0.35), width: 1, dash });
    series.push({ ...base, stroke, width: points.faint === undefined ? 1.5 : 2, dash, points: { show: points.x.length === 1, size: 6 } });
  }
  // on a stack each line is filled down to the one below it
  if (stack) for (let i = series.length - 1; i > 1; i--) bands.push({ series: [i, i - 1], fill: series[i]!.fill as string });
  const font = '11px system-ui, sans-serif';
  const axis = { stroke: colours.muted, font, grid: { stroke: colours.grid, width: 1 }, ticks: { show: false } };
  const format = (value: number): string => (current().formatTick ?? current().formatY ?? number)(value);
  const withDots = (min: number | null, max: number | null): [number, number] => {
    const { range, dots } = current();
    const seen = (dots?.() ?? []).filter(({ x }) => range === undefined || (x >= range.from && x <= range.to));
    const values = seen.flatMap(({ y, low, high }) => [y, low ?? y, high ?? y]);
    return paddedRange(
      min === null ? null : Math.min(min, ...values),
      max === null ? null : Math.max(max, ...values),
      stack || current().fromZero === true,
    );
  };
  return {
    width,
    height,
    series,
    bands,
    padding: [8, 10, 0, 0],
    legend: { show: false },
    scales: {
      x: { time: false },
      y: log ? { distr: 3 } : { range: (_u, min, max) => withDots(min, max) },
    },
    axes: [
      {
        ...axis,
        size: 26,
        space: 60,
        ...(current().xSteps !== undefined && { incrs: [...current().xSteps!] }),
        values: (_u, splits) => splits.map((x) => (current().formatXTick ?? current().formatX ?? number)(x)),
      },
      {
        ...axis,
        size: (_u, values) => 14 + 6.4 * Math.max(3, ...(values ?? []).map((text) => text.length)),
        space: 30,
        values: (_u, splits) => splits.map((y) => (y === null ? '' : format(y))),
      },
    ],
    cursor: {
      drag: { x: true, y: false, setScale: false },
      points: { size: 6, width: 2 },
      sync: { key: current().group ?? `own ${Math.random()}`, setSeries: false, scales: ['x', null] },
      bind: {
        dblclick: () => () => {
          current().onRange?.(undefined);
          return null;
        },
      },
    },
    hooks: {
      setCursor: [onCursor],
      setSelect: [
        (u) => {
          if (u.select.width < LEAST_DRAG) return;
          const range = { from: u.posToVal(u.select.left, 'x'), to: u.posToVal(u.select.left + u.select.width, 'x') };
          u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          current().onRange?.(range);
        },
      ],
      draw: [(u) => drawMarks(u, current(), colours), (u) => drawDots(u, current().dots?.() ?? [], colours)],
    },
  };
}

/** Least to most of each bucket as an upright bar; buckets in one pixel column become one. Many bars are cheap where an outline is not. */
const spans: uPlot.Series.PathBuilder = (u, seriesIdx, from, to) => {
  const x = u.data[0];
  const low = u.data[seriesIdx - 1]!;
  const high = u.data[seriesIdx]!;
  const path = new Path2D();
  const first = u.valToPos(x[from] as number, 'x', true);
  const last = u.valToPos(x[to] as number, 'x', true);
  const wide = Math.max(1, Math.round((last - first) / Math.max(1, to - from)));
  let column = Number.NaN;
  let least = 0;
  let most = 0;
  const add = (): void => {
    if (Number.isNaN(column)) return;
    const top = u.valToPos(most, 'y', true);
    path.rect(column - (wide >> 1), top, wide, Math.max(1, u.valToPos(least, 'y', true) - top));
  };
  for (let i = from; i <= to; i++) {
    const bottom = low[i];
    const top = high[i];
    if (bottom == null || top == null) continue;
    const at = Math.round(u.valToPos(x[i] as number, 'x', true));
    if (at === column) {
      if (bottom < least) least = bottom;
      if (top > most) most = top;
      continue;
    }
    add();
    [column, least, most] = [at, bottom, top];
  }
  add();
  return { stroke: null, fill: path, flags: 0 };
};

function drawMarks(u: uPlot, { marks }: LineChartProps, colours: ChartColours): void {
  const all = marks?.() ?? [];
  const { ctx } = u;
  const { left, top, width, height } = u.bbox;
  ctx.save();
  ctx.strokeStyle = colours.line;
  ctx.lineWidth = Math.max(1, devicePixelRatio);
  for (const { x, kind } of all) {
    if (kind !== 'evaluation') continue;
    const at = Math.round(u.valToPos(x, 'x', true));
    if (at < left || at > left + width) continue;
    ctx.globalAlpha = 0.45;
    ctx.setLineDash([2 * devicePixelRatio, 4 * devicePixelRatio]);
    ctx.beginPath();
    ctx.moveTo(at, top);
    ctx.lineTo(at, top + height);
    ctx.stroke();
  }
  ctx.restore();
  placeMarks(u, all);
}

function drawDots(u: uPlot, dots: readonly ChartDot[], colours: ChartColours): void {
  const { ctx } = u;
  const { left, width, top, height } = u.bbox;
  ctx.save();
  ctx.beginPath();
  ctx.rect(left - 6 * devicePixelRatio, top, width + 12 * devicePixelRatio, height);
  ctx.clip();
  ctx.lineWidth = 1.5 * devicePixelRatio;
  for (const { x, y, low, high, colour } of dots) {
    const at = u.valToPos(x, 'x', true);
    if (at < left - 1 || at > left + width + 1) continue;
    const place = (value: number): number => u.valToPos(value, 'y', true);
    ctx.strokeStyle = colours.series[colour % colours.series.length]!;
    ctx.fillStyle = colours.background;
    if (low !== undefined && high !== undefined) {
      ctx.beginPath();
      ctx.moveTo(at, place(low));
      ctx.lineTo(at, place(high));
      ctx.stroke();
    }
    ctx.beginPath();
    ctx.arc(at, place(y), 3.5 * devicePixelRatio, 0, 2 * Math.PI);
    ctx.fill();
    ctx.stroke();
  }
  ctx.restore();
}
