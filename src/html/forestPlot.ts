/**
 * A forest plot as inline SVG: one row an observation, the mean with its interval below them, lines at zero and at a margin on both sides.
 * A number that is not finite is left out. Draws; computes nothing.
 */
import { type Html, html } from './html.js';
import { figure, nothing } from './plot.js';
import { linearScale } from './scale.js';

export interface ForestPlot {
  readonly caption: string;
  readonly rows: readonly { readonly label: string; readonly value: number }[];
  /** An interval whose ends are not finite is not drawn. */
  readonly mean: { readonly label: string; readonly value: number; readonly low: number; readonly high: number };
  /** At least 0; nothing is drawn between -margin and margin where it is 0. */
  readonly margin: number;
  readonly x: { readonly label: string; readonly format?: (value: number) => string };
}

const WIDTH = 720;
const LEFT = 150;
const RIGHT = 170;
const TOP = 26;
const ROW = 20;
const BOTTOM = 46;

const coordinate = (value: number): string => String(Math.round(value * 100) / 100);
const plain = (value: number): string => String(Number(value.toPrecision(3)));

export function forestPlot({ caption, rows, mean, margin, x }: ForestPlot): Html {
  const shown = rows.filter(({ value }) => Number.isFinite(value));
  if (shown.length === 0 || !Number.isFinite(mean.value)) return nothing(caption);
  const interval = Number.isFinite(mean.low) && Number.isFinite(mean.high);
  const format = x.format ?? plain;
  const values = [0, margin, -margin, mean.value, ...(interval ? [mean.low, mean.high] : []), ...shown.map(({ value }) => value)];
  const [least, most] = [Math.min(...values.filter(Number.isFinite)), Math.max(...values.filter(Number.isFinite))];
  const room = (most - least || 1) * 0.04;
  const scale = linearScale(least - room, most + room, 6);
  const left = (value: number): string => coordinate(LEFT + scale.at(value) * (WIDTH - LEFT - RIGHT));
  const bottom = TOP + (shown.length + 1.6) * ROW;
  const height = bottom + BOTTOM;
  const meanAt = bottom - 0.8 * ROW;
  const across = (value: number, kind: string): Html =>
    html`<line class="${kind}" x1="${left(value)}" x2="${left(value)}" y1="${TOP}" y2="${coordinate(bottom)}"/>`;
  const row = (label: string, value: string, y: number, kind = 'soft'): Html =>
    html`<text class="${kind}" x="${LEFT - 12}" y="${coordinate(y + 4)}" text-anchor="end">${label}</text><text class="${kind}" x="${WIDTH - RIGHT + 12}" y="${coordinate(y + 4)}">${value}</text>`;
  return figure(
    caption,
    false,
    [
      Number.isFinite(margin) &&
        margin > 0 &&
        html`<rect class="margin" x="${left(-margin)}" y="${TOP}" width="${coordinate(Number(left(margin)) - Number(left(-margin)))}" height="${coordinate(bottom - TOP)}"/>
${[-margin, margin].map((value) => across(value, 'axis dash'))}
<text class="soft" x="${left(margin)}" y="${TOP - 8}" text-anchor="middle">margin ${format(margin)}</text>`,
      across(0, 'axis'),
      shown.map(({ label, value }, i) => {
        const y = TOP + (i + 0.7) * ROW;
        return html`${row(label, format(value), y)}<circle class="f0" cx="${left(value)}" cy="${coordinate(y)}" r="4"/>
`;
      }),
      row(
        mean.label,
        interval ? `${format(mean.value)} [${format(mean.low)}, ${format(mean.high)}]` : format(mean.value),
        meanAt,
        'strong',
      ),
      interval &&
        html`<line class="whisker" x1="${left(mean.low)}" x2="${left(mean.high)}" y1="${coordinate(meanAt)}" y2="${coordinate(meanAt)}"/>
${[mean.low, mean.high].map((end) => html`<line class="whisker" x1="${left(end)}" x2="${left(end)}" y1="${coordinate(meanAt - 5)}" y2="${coordinate(meanAt + 5)}"/>`)}`,
      html`<polygon class="f1" points="${diamond(Number(left(mean.value)), meanAt)}"/>
<line class="axis" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${coordinate(bottom)}" y2="${coordinate(bottom)}"/>
${scale.ticks.map((tick) => html`<text class="soft" x="${left(tick)}" y="${coordinate(bottom + 18)}" text-anchor="middle">${format(tick)}</text>`)}
<text class="soft" x="${(LEFT + WIDTH - RIGHT) / 2}" y="${coordinate(height - 8)}" text-anchor="middle">${x.label}</text>`,
    ],
    Math.round(height),
  );
}

const diamond = (x: number, y: number): string =>
  [`${x - 7},${y}`, `${x},${y - 6}`, `${x + 7},${y}`, `${x},${y + 6}`]
    .map((spot) => spot.split(',').map(Number).map(coordinate).join(','))
    .join(' ');
