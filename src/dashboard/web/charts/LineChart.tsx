/**
 * Lines over a shared x with all that belongs to them: values at the cursor (pointer or keys), zoom by drag or keys, a legend that toggles, marks
 * with links, a table of values, downloads. The canvas is uPlot's. Data are read when a frame is drawn, so that nothing is rendered a point.
 */
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import './chart.css';
import { number } from '../format.js';
import { safeLabel } from '../safeText.js';
import { useTheme } from '../theme.js';
import { ChartMenu } from './ChartMenu.js';
import { ChartTable } from './ChartTable.js';
import { chartColours } from './colours.js';
import { drawSoon, forget } from './frames.js';
import { extentOf, joined, type LinePoints, nearest, shapeOf, stacked } from './lineData.js';
import { plotOptions } from './plotOptions.js';

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
  /** Whether the axis has ticks at whole numbers only. */
  readonly wholeX?: boolean;
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

const HEIGHT = 190;
const BIG_HEIGHT = 420;

export function LineChart(props: LineChartProps) {
  const { title, hint, lines, xName, formatX = number, formatY = number, range, hidden, log = false, big = false } = props;
  const theme = useTheme();
  const id = useId();
  const holder = useRef<HTMLDivElement>(null);
  const figure = useRef<HTMLElement>(null);
  const live = useRef<HTMLParagraphElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const shape = useRef('');
  const visible = useRef(false);
  const stale = useRef(true);
  const shownLines = useRef<readonly ShownLine[]>([]);
  const readouts = useRef(new Map<string, HTMLElement>());
  const newest = useRef(props);
  newest.current = props;
  const [tableOpen, setTableOpen] = useState(false);
  const [any, setAny] = useState(true);
  const colours = useMemo(() => chartColours(), [theme]);
  const described = useRef(0);

  const read = (): readonly ShownLine[] =>
    newest.current.lines.filter(({ key }) => newest.current.hidden?.has(key) !== true).map((line) => ({ line, points: line.read() }));

  const tellAt = (x: number | undefined): void => {
    const { formatY: format = number } = newest.current;
    for (const { line, points } of shownLines.current) {
      const element = readouts.current.get(line.key);
      if (element === undefined) continue;
      const i = x === undefined ? points.x.length - 1 : nearest(points.x, x);
      const value = i < 0 ? undefined : (points.y[i] as number);
      const low = i < 0 ? undefined : points.low?.[i];
      const high = i < 0 ? undefined : points.high?.[i];
      const band = x !== undefined && low !== undefined && high !== undefined && low !== high ? ` [${format(low)}, ${format(high)}]` : '';
      const text = `${format(value as number)}${band}`;
      if (element.textContent !== text) element.textContent = text;
    }
  };

  const describe = (): void => {
    const now = performance.now();
    if (now - described.current < 1000 && described.current > 0) return;
    described.current = now;
    const { formatY: format = number, title: name } = newest.current;
    const parts = shownLines.current.map(({ line, points }) => {
      const extent = extentOf(points);
      return extent === undefined
        ? `${line.label}: no values`
        : `${line.label}: last ${format(extent.last)}, least ${format(extent.min)}, most ${format(extent.max)}`;
    });
    holder.current?.setAttribute(
      'aria-label',
      safeLabel(`${name}. ${parts.slice(0, 8).join('; ')}. Arrow keys move the cursor, plus and minus zoom.`),
    );
  };

  const draw = (): void => {
    const element = holder.current;
    if (element === null) return;
    if (!visible.current) {
      stale.current = true;
      return;
    }
    stale.current = false;
    const current = newest.current;
    const shown = read();
    shownLines.current = shown;
    const points = shown.map((each) => each.points);
    const isStacked = current.stack === true && points.length > 1;
    const { x, columns } = isStacked ? stacked(points) : joined(points, { log: current.log === true });
    const next = [
      shapeOf(points),
      shown.map(({ line }) => line.key).join('\n'),
      isStacked,
      current.log,
      theme,
      current.xName,
      current.wholeX,
    ].join('|');
    const some = x.length > 0;
    setAny(some);
    if (!some) {
      plot.current?.destroy();
      plot.current = undefined;
      shape.current = '';
      return;
    }
    const data = [x, ...columns] as uPlot.AlignedData;
    if (plot.current === undefined || shape.current !== next) {
      plot.current?.destroy();
      shape.current = next;
      plot.current = new uPlot(
        plotOptions({
          width: Math.max(120, element.clientWidth),
          height: current.big ? BIG_HEIGHT : HEIGHT,
          lines: shown,
          colours,
          stack: isStacked,
          log: current.log === true,
          current: () => newest.current,
          onCursor: (u) => {
            const { left, idx } = u.cursor;
            const at = idx == null || left == null || left < 0 ? undefined : (u.data[0][idx] as number);
            tellAt(at);
            const box = figure.current?.querySelector<HTMLElement>('[data-x]');
            const text = at === undefined ? '' : `${newest.current.xName} ${(newest.current.formatX ?? number)(at)}`;
            if (box && box.textContent !== text) box.textContent = text;
          },
        }),
        data,
        element,
      );
    } else plot.current.setData(data, false);
    fit(plot.current, newest.current);
    if ((plot.current.cursor.left ?? -1) < 0) tellAt(undefined);
    describe();
  };
  const drawNow = useRef(draw);
  drawNow.current = draw;
  const changed = useRef(() => {
    drawSoon(stableDraw.current);
  });
  const stableDraw = useRef(() => drawNow.current());

  useLayoutEffect(() => {
    const element = holder.current;
    if (element === null) return;
    const seen = new IntersectionObserver(
      (entries) => {
        visible.current = entries.at(-1)?.isIntersecting === true;
        if (visible.current && stale.current) changed.current();
      },
      { rootMargin: '200px' },
    );
    seen.observe(element);
    const resized = new ResizeObserver(() => {
      const u = plot.current;
      if (u === undefined || element.clientWidth < 50) return;
      const height = newest.current.big ? BIG_HEIGHT : HEIGHT;
      if (u.width !== element.clientWidth || u.height !== height) u.setSize({ width: element.clientWidth, height });
    });
    resized.observe(element);
    return () => {
      seen.disconnect();
      resized.disconnect();
      forget(stableDraw.current);
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, []);
  useEffect(() => props.subscribe?.(changed.current), [props.subscribe]);
  // whatever is rendered anew may have changed what is drawn
  useEffect(() => changed.current());

  const onKeyDown = (event: KeyboardEvent): void => {
    const u = plot.current;
    if (u === undefined || event.ctrlKey || event.metaKey || event.altKey || event.target !== event.currentTarget) return;
    if (chartKey(u, event, newest.current)) {
      event.preventDefault();
      event.stopPropagation();
      const at = u.cursor.idx == null ? undefined : (u.data[0][u.cursor.idx] as number);
      if (at !== undefined && live.current !== null) {
        const values = shownLines.current.map(({ line, points }) => `${line.label} ${formatY(points.y[nearest(points.x, at)] as number)}`);
        live.current.textContent = `${xName} ${formatX(at)}: ${values.slice(0, 6).join(', ')}`;
      }
    }
  };

  const shownForExport = (): readonly ShownLine[] => {
    const from = range?.from ?? Number.NEGATIVE_INFINITY;
    const to = range?.to ?? Number.POSITIVE_INFINITY;
    return read().map(({ line, points }) => ({ line, points: cutTo(points, from, to) }));
  };

  return (
    <figure class={`chart${big ? ' chart-big' : ''}`} ref={figure} aria-labelledby={`${id}-title`}>
      <figcaption class="chart-head">
        <h3 id={`${id}-title`} title={hint}>
          <bdi>{safeLabel(title)}</bdi>
        </h3>
        <span class="chart-x" data-x aria-hidden="true" />
        <ChartMenu
          title={title}
          log={log}
          onLog={props.onLog}
          big={big}
          onBig={props.onBig}
          table={tableOpen}
          onTable={() => setTableOpen(!tableOpen)}
          plot={() => plot.current}
          lines={shownForExport}
          xName={xName}
          fileName={props.fileName ?? title}
        />
      </figcaption>
      <ul class="legend">
        {legendGroups(lines).map((members) => (
          <LegendItem
            key={members[0]!.part ?? members[0]!.key}
            lines={members}
            hidden={hidden}
            onToggle={lines.length > 1 ? props.onToggle : undefined}
            readout={(key, element) => {
              if (element === null) readouts.current.delete(key);
              else readouts.current.set(key, element);
            }}
          />
        ))}
      </ul>
      <div ref={holder} class="chart-plot" tabIndex={0} role="group" aria-roledescription="chart" onKeyDown={onKeyDown} />
      {!any && <p class="chart-none">{lines.every(({ key }) => hidden?.has(key)) ? 'All lines are switched off.' : 'No values yet.'}</p>}
      <p ref={live} class="hidden" aria-live="polite" />
      {tableOpen && <ChartTable title={title} lines={shownForExport()} xName={xName} formatX={formatX} formatY={formatY} />}
    </figure>
  );
}

function legendGroups(lines: readonly ChartLine[]): readonly (readonly ChartLine[])[] {
  const groups = new Map<string, ChartLine[]>();
  for (const line of lines) {
    const key = line.part === undefined ? `line ${line.key}` : `part ${line.part}`;
    groups.set(key, [...(groups.get(key) ?? []), line]);
  }
  return [...groups.values()];
}

interface LegendItemProps {
  readonly lines: readonly ChartLine[];
  readonly hidden: ReadonlySet<string> | undefined;
  readonly onToggle: ((keys: readonly string[]) => void) | undefined;
  readonly readout: (key: string, element: HTMLElement | null) => void;
}

function LegendItem({ lines, hidden, onToggle, readout }: LegendItemProps) {
  const shown = lines.filter(({ key }) => hidden?.has(key) !== true);
  const off = shown.length === 0;
  const first = lines[0]!;
  const several = lines.length > 1;
  const label = (
    <>
      <LineSign line={first} plain={several} />
      <bdi class="legend-label">{safeLabel(first.part ?? first.label)}</bdi>
    </>
  );
  return (
    <li class={off ? 'legend-off' : ''}>
      {onToggle === undefined ? (
        <span class="legend-item">{label}</span>
      ) : (
        <button
          type="button"
          class="legend-item"
          aria-pressed={!off}
          title={off ? 'Show' : 'Hide'}
          onClick={() => onToggle((off ? lines : shown).map(({ key }) => key))}
        >
          {label}
        </button>
      )}
      {shown.map((line) => (
        <span key={line.key} class="legend-value" title={several ? safeLabel(line.label) : undefined}>
          {several && <span class={`legend-dot back-${line.colour + 1}`} />}
          <span ref={(element) => readout(line.key, element)} />
        </span>
      ))}
    </li>
  );
}

/** How a line is drawn, in its colour; `plain` without one, where the colour tells something else. */
function LineSign({ line, plain }: { line: ChartLine; plain: boolean }) {
  return (
    <svg
      class={`legend-line ${plain ? 'series-plain' : `series-${line.colour + 1}`} dash-${(line.dash ?? 0) % 4}`}
      width="18"
      height="8"
      aria-hidden="true"
    >
      <path d="M0 4H18" />
    </svg>
  );
}

/** The range that is looked at, or all of x. */
function fit(u: uPlot, { range, startX }: LineChartProps): void {
  const x = u.data[0];
  let from = range?.from ?? startX ?? (x[0] as number);
  let to = range?.to ?? (x[x.length - 1] as number);
  if (!(to > from)) {
    from -= 0.5;
    to += 0.5;
  }
  u.setScale('x', { min: from, max: to });
}

function cutTo(points: LinePoints, from: number, to: number): LinePoints {
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

/** Whether the key was the chart's: arrows move the cursor, with Shift the range; plus and minus zoom at the cursor; 0 and Escape show all. */
function chartKey(u: uPlot, event: KeyboardEvent, { onRange, range, startX }: LineChartProps): boolean {
  const x = u.data[0];
  const { min, max } = u.scales.x!;
  if (min == null || max == null) return false;
  const first = startX ?? (x[0] as number);
  const last = x[x.length - 1] as number;
  const to = (index: number): true => {
    const i = Math.max(u.valToIdx(min), Math.min(u.valToIdx(max), index));
    u.setCursor({ left: u.valToPos(x[i] as number, 'x'), top: u.over.clientHeight / 2 });
    return true;
  };
  const idx = u.cursor.idx ?? u.valToIdx(max);
  const zoom = (factor: number): true => {
    const centre = u.cursor.idx == null ? (min + max) / 2 : (x[u.cursor.idx] as number);
    const from = Math.max(first, centre - (centre - min) * factor);
    const end = Math.min(last, centre + (max - centre) * factor);
    onRange?.(from <= first && end >= last ? undefined : { from, to: end });
    return true;
  };
  const pan = (share: number): true => {
    const width = max - min;
    const from = Math.max(first, Math.min(last - width, min + share * width));
    onRange?.({ from, to: from + width });
    return true;
  };
  switch (event.key) {
    case 'ArrowLeft':
      return event.shiftKey ? pan(-0.25) : to(idx - 1);
    case 'ArrowRight':
      return event.shiftKey ? pan(0.25) : to(idx + 1);
    case 'PageUp':
      return to(idx - 10);
    case 'PageDown':
      return to(idx + 10);
    case 'Home':
      return to(0);
    case 'End':
      return to(x.length - 1);
    case '+':
    case '=':
      return zoom(0.5);
    case '-':
      return zoom(2);
    case '0':
      onRange?.(undefined);
      return true;
    case 'Escape':
      if (range === undefined) return false;
      onRange?.(undefined);
      return true;
    default:
      return false;
  }
}
