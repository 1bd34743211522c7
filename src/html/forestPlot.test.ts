import { describe, expect, it } from 'vitest';
import { type ForestPlot, forestPlot } from './forestPlot.js';
import { html, toMarkup } from './html.js';
import { linePlot } from './plot.js';
import { svgFile } from './svgFile.js';

const HOSTILE = `"'><script>alert(1)</script>&amp;`;
const plot = (change: Partial<ForestPlot> = {}): string =>
  toMarkup(
    forestPlot({
      caption: 'c',
      rows: [
        { label: 'block 1', value: -10 },
        { label: 'block 2', value: 10 },
      ],
      mean: { label: 'mean', value: 0, low: -8, high: 8 },
      margin: 5,
      x: { label: 'points' },
      ...change,
    }),
  );
const numbers = (text: string, pattern: RegExp): number[] => [...text.matchAll(pattern)].map((match) => Number(match[1]));

describe('a forest plot', () => {
  it('draws a point a row, the mean with its interval, zero and the margin, where they stand', () => {
    const svg = plot();
    // From -10.8 to 10.8 over 400 pixels that begin at 150.
    const at = (value: number): number => Math.round(100 * (150 + ((value + 10.8) / 21.6) * 400)) / 100;
    expect(numbers(svg, /<circle [^>]*cx="([\d.]+)"/g)).toEqual([at(-10), at(10)]);
    expect(svg).toContain(`<line class="whisker" x1="${at(-8)}" x2="${at(8)}"`);
    expect(svg).toContain(`<line class="axis" x1="${at(0)}" x2="${at(0)}"`);
    for (const margin of [-5, 5]) expect(svg).toContain(`<line class="axis dash" x1="${at(margin)}" x2="${at(margin)}"`);
    expect(svg).toContain(`<polygon class="f1" points="${at(0) - 7},`);
    expect(svg).toContain('0 [-8, 8]');
  });

  it('has a row more for each value', () => {
    const height = (svg: string): number => numbers(svg, /viewBox="0 0 720 (\d+)"/g)[0]!;
    const rows = Array.from({ length: 12 }, (_, i) => ({ label: `block ${i}`, value: i }));
    expect(height(plot({ rows })) - height(plot())).toBe(200);
  });

  it('leaves out what is not finite, and says so where nothing is left', () => {
    const rows = [Number.NaN, 3, Number.POSITIVE_INFINITY].map((value, i) => ({ label: `block ${i}`, value }));
    const svg = plot({ rows, mean: { label: 'mean', value: 3, low: Number.NaN, high: Number.NaN }, margin: Number.NaN });
    expect(svg).not.toMatch(/NaN|Infinity/);
    expect(svg).not.toContain('whisker');
    expect(svg.match(/<circle/g)).toHaveLength(1);
    expect(plot({ rows: [] })).toContain('nothing was measured');
    expect(plot({ mean: { label: 'm', value: Number.NaN, low: 0, high: 0 } })).toContain('nothing was measured');
  });

  it('draws no margin of 0, and one value with room around it', () => {
    const svg = plot({ rows: [{ label: 'b', value: 0 }], mean: { label: 'm', value: 0, low: 0, high: 0 }, margin: 0 });
    expect(svg).not.toContain('dash');
    expect(svg).not.toMatch(/NaN/);
    expect(svg).toContain('cx="350"');
  });

  it('escapes every text', () => {
    const svg = plot({
      caption: HOSTILE,
      rows: [{ label: HOSTILE, value: 1 }],
      mean: { label: HOSTILE, value: 1, low: 0, high: 2 },
      x: { label: HOSTILE, format: () => HOSTILE },
    });
    expect(svg).not.toContain('<script');
    expect(svg).toContain('&lt;script&gt;');
  });
});

describe('names at the ends of lines', () => {
  const lines = (...series: (readonly [name: string, y: number, colour?: number])[]): string =>
    toMarkup(
      linePlot({
        caption: 'c',
        x: { label: 'x' },
        y: { label: 'y', range: [0, 1] },
        series: series.map(([name, y, colour]) => ({
          name,
          points: [
            { x: 0, y: 0 },
            { x: 1, y },
          ],
          ...(colour !== undefined && { colour }),
        })),
        endLabels: true,
      }),
    );

  it('stand beside them in their colour, in place of a legend, and not on each other', () => {
    const svg = lines(['first', 0.5], ['second', 0.5, 4], ['third', 0.5]);
    const labels = [...svg.matchAll(/<text class="(f\d)" x="[\d.]+" y="([\d.]+)">(\w+)</g)].map(([, colour, y, name]) => [
      name,
      colour,
      Number(y),
    ]);
    expect(labels).toEqual([
      ['first', 'f0', 138],
      ['second', 'f4', 152],
      ['third', 'f2', 166],
    ]);
    expect(svg).not.toContain('class="key"');
  });

  it('stay above the axis where all lines end at the bottom', () => {
    const heights = numbers(lines(['a', 0], ['b', 0], ['c', 0]), /<text class="f\d" x="[\d.]+" y="([\d.]+)"/g);
    expect(heights).toEqual([226, 240, 254]);
  });
});

describe('a plot as a file', () => {
  it('is an SVG document with styles of its own and escaped texts', () => {
    const file = svgFile(
      forestPlot({
        caption: HOSTILE,
        rows: [{ label: 'b', value: 1 }],
        mean: { label: 'm', value: 1, low: 0, high: 2 },
        margin: 1,
        x: { label: 'x' },
      }),
    )!;
    expect(file).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" viewBox="0 0 720 \d+" role="img" aria-label="/);
    expect(file).toContain('prefers-color-scheme:dark');
    expect(file).not.toMatch(/<script|<figure|href|url\(/);
    expect(file.match(/<svg/g)).toHaveLength(1);
    // Entities that XML knows without a declaration.
    expect([...new Set(file.match(/&\w+;/g))].filter((entity) => !['&lt;', '&gt;', '&amp;', '&quot;'].includes(entity))).toEqual([]);
  });

  it('is not made where nothing was measured', () => {
    expect(svgFile(html`<p>nothing</p>`)).toBeUndefined();
  });
});
