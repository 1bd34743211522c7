/** The lines of a panel: one a metric and run, read from the data when a frame is drawn. */

import type { LinePoints } from '../charts/lineData.js';
import { smoothed } from '../charts/smoothing.js';
import type { ChartLine, XRange } from '../charts/types.js';
import type { CurveData, StepRange } from './curveData.js';
import type { Panel } from './panels.js';
import { STEP_SCALE, sumScale, X_METRICS, type XKind, type XScale } from './xAxis.js';

export interface CurveSource {
  readonly id: string;
  readonly name: string;
  readonly data: CurveData;
}

export interface CurveChoice {
  readonly kind: XKind;
  /** Of the moving average, 0 for none. */
  readonly smoothing: number;
  readonly range: XRange | undefined;
}

const EMPTY: LinePoints = { x: new Float64Array(0), y: new Float64Array(0) };

/** Undefined where the run has not what the axis is made of. */
export function scaleOf(data: CurveData, kind: XKind): XScale | undefined {
  if (kind === 'step') return STEP_SCALE;
  const name = X_METRICS[kind].find((metric) => data.series(metric) !== undefined);
  const buffer = name === undefined ? undefined : data.series(name);
  return buffer === undefined ? undefined : sumScale(buffer.points);
}

/** The steps that a range of the axis is about, from 0. */
export function stepRange(scale: XScale | undefined, range: XRange | undefined): StepRange | undefined {
  if (scale === undefined || range === undefined) return undefined;
  return { from: scale.toSteps(range.from) - 1, to: scale.toSteps(range.to) - 1 };
}

/** One run: a colour a metric. Several: a colour a run and a dash a metric, so that a run is the same on every chart. */
export function curveLines(panel: Panel, sources: readonly CurveSource[], { kind, smoothing, range }: CurveChoice): readonly ChartLine[] {
  const several = sources.length > 1;
  return sources.flatMap(({ id, name, data }, run) =>
    panel.lines.map(
      ({ metric, label }, part): ChartLine => ({
        key: several ? `${id} ${metric}` : metric,
        label: several ? (panel.lines.length > 1 ? `${name} · ${label}` : name) : label,
        ...(several && { part: label }),
        colour: several ? run % 8 : part % 8,
        dash: several ? part + Math.floor(run / 8) : Math.floor(part / 8),
        read: () => readLine(data, metric, kind, panel.stack === true && !several ? 0 : smoothing, range),
      }),
    ),
  );
}

function readLine(data: CurveData, metric: string, kind: XKind, smoothing: number, range: XRange | undefined): LinePoints {
  const scale = scaleOf(data, kind);
  const buffer = scale === undefined ? undefined : data.series(metric, stepRange(scale, range));
  if (scale === undefined || buffer === undefined || buffer.length === 0) return EMPTY;
  const { steps, values, counts, low, high } = buffer.points;
  // a value of step s was measured once s + 1 steps were made
  const x = kind === 'step' ? steps.map((step) => step + 1) : steps.map((step) => scale.toX(step + 1));
  return {
    x,
    y: smoothing > 0 ? smoothed(values, counts, smoothing) : values,
    ...(smoothing > 0 && { faint: values }),
    ...(buffer.decimated && { low, high }),
  };
}
