/** Plots as inline SVG: lines with bands, bars with whiskers. Colours come from the page's style; a number that is not finite is left out. */
import { type Html, html } from './html.js';
import { linearScale, powerScale, type Scale } from './scale.js';

export interface Point {
  readonly x: number;
  readonly y: number;
  /** The interval around y. */
  readonly low?: number;
  readonly high?: number;
}

export interface Series {
  readonly name: string;
  readonly points: readonly Point[];
  readonly dashed?: boolean;
  /** Which of the colours; default: by its place. */
  readonly colour?: number;
}

export interface LinePlot {
  readonly caption: string;
  readonly x: { readonly label: string /** Powers of two. */; readonly log?: boolean };
  readonly y: { readonly label: string; readonly range?: readonly [number, number]; readonly format?: (value: number) => string };
  /** At most six colours. */
  readonly series: readonly Series[];
  /** Each line's name at its right end, in place of a legend above: a reader need not tell colours apart. */
  readonly endLabels?: boolean;
}

const WIDTH = 720;
const HEIGHT = 300;
const LEFT = 64;
const RIGHT = 16;
const TOP = 14;
const BOTTOM = 46;
const COLOURS = 6;
/** Of a label at a line's end: about the width of a letter, and the most for all. */
const LETTER = 7;
const MOST_LABEL = 180;
const LABEL_HEIGHT = 14;

const coordinate = (value: number): string => String(Math.round(value * 100) / 100);
const plain = (value: number): string => String(Number(value.toPrecision(6)));

const colourOf = ({ colour }: Series, place: number): number => (colour ?? place) % COLOURS;

export function linePlot(plot: LinePlot): Html {
  const series = plot.series.map((one) => ({ ...one, points: one.points.filter(({ x, y }) => Number.isFinite(x) && Number.isFinite(y)) }));
  const points = series.flatMap((one) => one.points);
  if (points.length === 0) return nothing(plot.caption);
  const xs = points.map(({ x }) => x);
  const ys = points.flatMap(({ y, low, high }) => [y, low ?? y, high ?? y].filter(Number.isFinite));
  const x = plot.x.log ? powerScale(least(xs), most(xs)) : linearScale(least(xs), most(xs), 8);
  const y = linearScale(...(plot.y.range ?? [least(ys), most(ys)]));
  const longest = most(series.map(({ name }) => name.length));
  const right = plot.endLabels ? RIGHT + Math.min(MOST_LABEL, longest * LETTER) : RIGHT;
  const left = (value: number): number => LEFT + x.at(value) * (WIDTH - LEFT - right);
  const top = (value: number): number => HEIGHT - BOTTOM - clamp(y.at(value)) * (HEIGHT - TOP - BOTTOM);
  const spot = (value: number, height: number): string => `${coordinate(left(value))},${coordinate(top(height))}`;
  const drawn = series.map((one, i) => {
    const colour = colourOf(one, i);
    const banded = one.points.filter(({ low, high }) => low !== undefined && high !== undefined);
    const edge = [...banded.map((p) => spot(p.x, p.high!)), ...banded.toReversed().map((p) => spot(p.x, p.low!))];
    return html`${banded.length > 1 && html`<polygon class="band f${colour}" points="${edge.join(' ')}"/>`}
<polyline class="line s${colour}${one.dashed ? ' dash' : ''}" points="${one.points.map((p) => spot(p.x, p.y)).join(' ')}"/>
${
  one.points.length <= 40 &&
  one.points.map(
    (p) =>
      html`<circle class="f${colour}" cx="${coordinate(left(p.x))}" cy="${coordinate(top(p.y))}" r="3"><title>${one.name}, ${plot.x.label} ${plain(p.x)}: ${valueText(p, plot.y.format ?? plain)}</title></circle>`,
  )
}
`;
  });
  return figure(plot.caption, !plot.endLabels && legend(series), [
    yAxis(y, top, plot.y.label, plot.y.format ?? plain, right),
    x.ticks.map(
      (tick) =>
        html`<text class="soft" x="${coordinate(left(tick))}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle">${plain(tick)}</text>`,
    ),
    html`<text class="soft" x="${(LEFT + WIDTH - right) / 2}" y="${HEIGHT - 8}" text-anchor="middle">${plot.x.label}</text>`,
    drawn,
    plot.endLabels && endLabels(series, (value) => top(value), WIDTH - right + 8),
  ]);
}

/** Names beside the lines' ends, moved apart where they would stand on each other. */
function endLabels(series: readonly Series[], top: (value: number) => number, x: number): Html {
  const labels = series.flatMap((one, i) =>
    one.points.length === 0 ? [] : [{ name: one.name, colour: colourOf(one, i), y: top(one.points.at(-1)!.y) + 4 }],
  );
  labels.sort((a, b) => a.y - b.y);
  for (let i = 1; i < labels.length; i++) labels[i]!.y = Math.max(labels[i]!.y, labels[i - 1]!.y + LABEL_HEIGHT);
  const below = Math.max(0, (labels.at(-1)?.y ?? 0) - (HEIGHT - BOTTOM));
  return html`${labels.map(({ name, colour, y }) => html`<text class="f${colour}" x="${x}" y="${coordinate(y - below)}">${name}</text>\n`)}`;
}

export interface Bar {
  readonly label: string;
  readonly value: number;
  readonly low?: number;
  readonly high?: number;
}

export interface BarPlot {
  readonly caption: string;
  readonly bars: readonly Bar[];
  readonly x?: string;
  readonly y: { readonly label: string; readonly range?: readonly [number, number]; readonly format?: (value: number) => string };
}

export function barPlot(plot: BarPlot): Html {
  const bars = plot.bars.filter(({ value }) => Number.isFinite(value));
  if (bars.length === 0) return nothing(plot.caption);
  const ends = bars.flatMap(({ value, low, high }) => [value, low ?? value, high ?? value]);
  const format = plot.y.format ?? plain;
  const y = linearScale(...(plot.y.range ?? [Math.min(0, least(ends)), Math.max(0, most(ends))]));
  const top = (value: number): number => HEIGHT - BOTTOM - clamp(y.at(value)) * (HEIGHT - TOP - BOTTOM);
  const slot = (WIDTH - LEFT - RIGHT) / bars.length;
  const every = Math.ceil(bars.length / 16);
  const drawn = bars.map((bar, i) => {
    const middle = LEFT + (i + 0.5) * slot;
    const [from, to] = [top(Math.max(0, bar.value)), top(Math.min(0, bar.value))];
    const whisker = bar.low !== undefined && bar.high !== undefined;
    return html`<rect class="f0" x="${coordinate(middle - slot * 0.35)}" y="${coordinate(from)}" width="${coordinate(slot * 0.7)}" height="${coordinate(Math.max(0, to - from))}"><title>${bar.label}: ${valueText({ y: bar.value, ...bar }, format)}</title></rect>
${whisker && html`<line class="whisker" x1="${coordinate(middle)}" x2="${coordinate(middle)}" y1="${coordinate(top(bar.high!))}" y2="${coordinate(top(bar.low!))}"/>`}
${i % every === 0 && html`<text class="soft" x="${coordinate(middle)}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle">${bar.label}</text>`}
`;
  });
  return figure(plot.caption, false, [
    yAxis(y, top, plot.y.label, format),
    plot.x !== undefined &&
      html`<text class="soft" x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 8}" text-anchor="middle">${plot.x}</text>`,
    drawn,
  ]);
}

/** The frame of a plot. */
export function figure(caption: string, legendLine: Html | false, content: readonly Parameters<typeof html>[1][], height = HEIGHT): Html {
  return html`<figure>
<figcaption>${caption}${legendLine}</figcaption>
<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${caption}">
${content}
</svg>
</figure>`;
}

function yAxis(scale: Scale, top: (value: number) => number, label: string, format: (value: number) => string, right = RIGHT): Html {
  return html`${scale.ticks.map(
    (tick) =>
      html`<line class="grid" x1="${LEFT}" x2="${WIDTH - right}" y1="${coordinate(top(tick))}" y2="${coordinate(top(tick))}"/><text class="soft" x="${LEFT - 8}" y="${coordinate(top(tick) + 4)}" text-anchor="end">${format(tick)}</text>\n`,
  )}<line class="axis" x1="${LEFT}" x2="${WIDTH - right}" y1="${HEIGHT - BOTTOM}" y2="${HEIGHT - BOTTOM}"/>
<text class="soft" x="14" y="${(TOP + HEIGHT - BOTTOM) / 2}" text-anchor="middle" transform="rotate(-90 14 ${(TOP + HEIGHT - BOTTOM) / 2})">${label}</text>`;
}

function legend(series: readonly Series[]): Html | false {
  if (series.length < 2) return false;
  return html`<br>${series.map(
    (one, i) =>
      html`<svg class="key" viewBox="0 0 26 10" width="26" height="10" aria-hidden="true"><line class="line s${colourOf(one, i)}${one.dashed ? ' dash' : ''}" x1="1" x2="25" y1="5" y2="5"/></svg> ${one.name} &ensp; `,
  )}`;
}

function valueText({ y, low, high }: Omit<Point, 'x'>, format: (value: number) => string): string {
  return low === undefined || high === undefined ? format(y) : `${format(y)} [${format(low)}, ${format(high)}]`;
}

export const nothing = (caption: string): Html => html`<p class="soft">${caption}: nothing was measured.</p>`;

const clamp = (share: number): number => Math.min(1, Math.max(0, share));
const least = (values: readonly number[]): number => values.reduce((a, b) => Math.min(a, b));
const most = (values: readonly number[]): number => values.reduce((a, b) => Math.max(a, b));
