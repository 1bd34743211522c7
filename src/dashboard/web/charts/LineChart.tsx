/**
 * Lines over a shared x with all that belongs to them: values at the cursor (pointer or keys), zoom by drag or keys, a legend that toggles, marks
 * with links, a table of values, downloads. The canvas is uPlot's. Data are read when a frame is drawn, so that nothing is rendered a point.
 */
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import './chart.css';
import { number } from '../format.js';
import { safeLabel } from '../safeText.js';
import { useTheme } from '../theme.js';
import { ChartMenu } from './ChartMenu.js';
import { ChartTable } from './ChartTable.js';
import { chartKey } from './chartKeys.js';
import { chartColours } from './colours.js';
import { cutTo, drawingOf, fit, plotOf } from './drawing.js';
import { drawSoon, forget } from './frames.js';
import { LegendItem, legendGroups } from './Legend.js';
import { extentOf, nearest } from './lineData.js';
import { chartPicture } from './picture.js';
import type { LineChartProps, ShownLine } from './types.js';

export type { ChartDot, ChartLine, ChartMark, LineChartProps, XRange } from './types.js';

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
  /** Near and not drawn yet. */
  const fresh = useRef(false);
  const shownLines = useRef<readonly ShownLine[]>([]);
  const readouts = useRef(new Map<string, HTMLElement>());
  const newest = useRef(props);
  newest.current = props;
  const [tableOpen, setTableOpen] = useState(false);
  const [, setTableRound] = useState(0);
  const tableShown = useRef(false);
  tableShown.current = tableOpen;
  const tableOf = useRef('');
  const [any, setAny] = useState(true);
  const colours = useMemo(() => chartColours(), [theme]);
  const described = useRef(0);
  const describing = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);

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

  /** The text alternatives follow a moving chart once a second, and never miss its last state. */
  const describe = (): void => {
    if (describing.current !== undefined) return;
    const wait = Math.max(0, described.current + 1000 - performance.now());
    describing.current = setTimeout(
      () => {
        describing.current = undefined;
        described.current = performance.now();
        describeNow();
      },
      described.current === 0 ? 0 : wait,
    );
  };
  const describeNow = (): void => {
    const signature = shownLines.current.map(({ points: { x, y } }) => `${x.length} ${x[0]} ${x[x.length - 1]} ${y[y.length - 1]}`).join();
    if (tableShown.current && signature !== tableOf.current) setTableRound((round) => round + 1);
    tableOf.current = signature;
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

  const followCursor = (u: uPlot): void => {
    const { left, idx } = u.cursor;
    const at = idx == null || left == null || left < 0 ? undefined : (u.data[0][idx] as number);
    tellAt(at);
    const box = figure.current?.querySelector<HTMLElement>('[data-x]');
    const text = at === undefined ? '' : `${newest.current.xName} ${(newest.current.formatX ?? number)(at)}`;
    if (box && box.textContent !== text) box.textContent = text;
  };

  const draw = (): void => {
    const element = holder.current;
    if (element === null) return;
    if (!visible.current && !fresh.current) {
      stale.current = true;
      return;
    }
    fresh.current = false;
    stale.current = false;
    const current = newest.current;
    const shown = read();
    shownLines.current = shown;
    const drawing = drawingOf(shown, current, element.clientWidth);
    setAny(drawing !== undefined);
    const next = drawing === undefined ? '' : `${theme} ${drawing.shape}`;
    if (drawing === undefined || shape.current !== next) {
      plot.current?.destroy();
      plot.current = undefined;
      shape.current = next;
    }
    if (drawing === undefined) return;
    if (plot.current === undefined) {
      plot.current = plotOf(drawing, {
        element,
        width: Math.max(120, element.clientWidth),
        height: current.big ? BIG_HEIGHT : HEIGHT,
        colours,
        current: () => newest.current,
        onCursor: followCursor,
      });
    } else plot.current.setData(drawing.data, false);
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
    // those that are near are drawn once, so that they are there when they come into sight; those in sight follow every change
    const seen = new IntersectionObserver((entries) => {
      visible.current = entries.at(-1)?.isIntersecting === true;
      if (visible.current && stale.current) changed.current();
    });
    const near = new IntersectionObserver(
      (entries) => {
        if (entries.at(-1)?.isIntersecting !== true || plot.current !== undefined) return;
        fresh.current = true;
        changed.current();
      },
      { rootMargin: '300px' },
    );
    seen.observe(element);
    near.observe(element);
    const resized = new ResizeObserver(() => {
      const u = plot.current;
      if (u === undefined || element.clientWidth < 50) return;
      const height = newest.current.big ? BIG_HEIGHT : HEIGHT;
      if (u.width !== element.clientWidth || u.height !== height) u.setSize({ width: element.clientWidth, height });
    });
    resized.observe(element);
    return () => {
      seen.disconnect();
      near.disconnect();
      resized.disconnect();
      forget(stableDraw.current);
      clearTimeout(describing.current);
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
          picture={() => chartPicture(title, shownForExport(), props)}
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
