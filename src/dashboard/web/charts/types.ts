/** What a chart is given: lines, dots, marks, and what is chosen about them. Types alone. */
import type { LinePoints } from './lineData.js';

export interface ChartLine {
  readonly key: string;
  readonly label: string;
  /** 0-based place among the theme's colours. */
  readonly colour: number;
  /** 0 is solid. */
  readonly dash?: number;
  /** Lines of one part (the same metric of several runs) share a place in the legend. */
  readonly part?: string;
  /** Called when a frame is drawn. */
  readonly read: () => LinePoints;
}

/** Points with an interval, drawn as dots above the lines: evaluations. */
export interface ChartDot {
  readonly x: number;
  readonly y: number;
  readonly low?: number;
  readonly high?: number;
  readonly colour: number;
}

/** A place on the x axis with a link. */
export interface ChartMark {
  readonly x: number;
  readonly kind: 'evaluation' | 'checkpoint';
  readonly label: string;
  readonly href: string;
}

export interface XRange {
  readonly from: number;
  readonly to: number;
}

export interface LineChartProps {
  readonly title: string;
  readonly hint?: string;
  readonly lines: readonly ChartLine[];
  readonly dots?: () => readonly ChartDot[];
  readonly marks?: () => readonly ChartMark[];
  /** Name of x, for axes and downloads: `step`. */
  readonly xName: string;
  readonly formatX?: (x: number) => string;
  readonly formatY?: (y: number) => string;
  /** For the axis; as `formatY` where absent. */
  readonly formatTick?: (y: number) => string;
  readonly fromZero?: boolean;
  /** Distances that the ticks of x may have, ascending; any round one where absent. */
  readonly xSteps?: readonly number[];
  /** For the axis; as `formatX` where absent. */
  readonly formatXTick?: (x: number) => string;
  /** Where x begins while no range is chosen; the first point where absent. */
  readonly startX?: number;
  readonly stack?: boolean;
  readonly log?: boolean;
  readonly onLog?: (log: boolean) => void;
  readonly range?: XRange | undefined;
  readonly onRange?: (range: XRange | undefined) => void;
  readonly hidden?: ReadonlySet<string>;
  readonly onToggle?: (keys: readonly string[]) => void;
  /** Charts of one group move their cursors together. */
  readonly group?: string;
  readonly subscribe?: (changed: () => void) => () => void;
  readonly big?: boolean;
  readonly onBig?: (big: boolean) => void;
  /** For the names of files that are saved. */
  readonly fileName?: string;
}

export interface ShownLine {
  readonly line: ChartLine;
  readonly points: LinePoints;
}
