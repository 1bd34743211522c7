/**
 * A chart as a picture with its title and legend, in the colours of the theme: drawn for it, large enough to be read in a document, whatever
 * the size of the window.
 */
import type uPlot from 'uplot';
import { safeLabel } from '../safeText.js';
import { chartColours, dashOf } from './colours.js';
import { drawingOf, fit, plotOf } from './drawing.js';
import type { LineChartProps, ShownLine } from './types.js';

const WIDTH = 1100;
const HEIGHT = 460;

/** Null where there is nothing to draw, or the browser makes no picture. */
export async function chartPicture(title: string, lines: readonly ShownLine[], props: LineChartProps): Promise<Blob | null> {
  const drawing = drawingOf(lines, props, WIDTH);
  if (drawing === undefined) return null;
  const { group: _alone, ...alone } = props;
  const element = document.createElement('div');
  const u = plotOf(drawing, { element, width: WIDTH, height: HEIGHT, colours: chartColours(), current: () => alone });
  fit(u, props);
  // the canvas is drawn after the present task
  await new Promise((resolve) => setTimeout(resolve, 0));
  const picture = await framed(u, title, lines);
  u.destroy();
  return picture;
}

function framed(u: uPlot, title: string, lines: readonly ShownLine[]): Promise<Blob | null> {
  const colours = chartColours();
  const source = u.ctx.canvas;
  const scale = source.width / u.width;
  const canvas = document.createElement('canvas');
  const ctx = canvas.getContext('2d')!;
  const font = (size: number, weight = 400): string => `${weight} ${size * scale}px system-ui, sans-serif`;
  const pad = 12 * scale;
  ctx.font = font(12);
  const rows = legendRows(ctx, lines, source.width - 2 * pad, scale);
  const head = (34 + 18 * rows.length) * scale;
  canvas.width = source.width;
  canvas.height = source.height + head + pad;
  ctx.fillStyle = colours.background;
  ctx.fillRect(0, 0, canvas.width, canvas.height);
  ctx.fillStyle = colours.text;
  ctx.font = font(14, 600);
  ctx.fillText(safeLabel(title).slice(0, 120), pad, 22 * scale);
  ctx.font = font(12);
  for (const [i, row] of rows.entries()) {
    for (const { line, left } of row) {
      const middle = (38 + 18 * i) * scale;
      ctx.strokeStyle = colours.series[line.colour % colours.series.length]!;
      ctx.lineWidth = 2 * scale;
      ctx.setLineDash(dashOf(line.dash ?? 0).map((length) => length * scale));
      ctx.beginPath();
      ctx.moveTo(pad + left, middle);
      ctx.lineTo(pad + left + 18 * scale, middle);
      ctx.stroke();
      ctx.fillText(safeLabel(line.label), pad + left + 24 * scale, middle + 4 * scale);
    }
  }
  ctx.drawImage(source, 0, head);
  return new Promise((resolve) => canvas.toBlob(resolve, 'image/png'));
}

function legendRows(ctx: CanvasRenderingContext2D, lines: readonly ShownLine[], room: number, scale: number) {
  const rows: { line: ShownLine['line']; left: number }[][] = [[]];
  let left = 0;
  for (const { line } of lines) {
    const width = ctx.measureText(safeLabel(line.label)).width + 44 * scale;
    if (left > 0 && left + width > room) {
      rows.push([]);
      left = 0;
    }
    rows.at(-1)!.push({ line, left });
    left += width;
  }
  return rows;
}
