import { describe, expect, it } from 'vitest';
import { escapeText, html, toMarkup } from './html.js';
import { facts, folded, page, quote, section, table } from './page.js';
import { barPlot, linePlot } from './plot.js';
import { linearScale, powerScale } from './scale.js';

const HOSTILE = `"'><script>alert(1)</script><img src=x onerror=alert(1)>&amp;`;

describe('markup', () => {
  it('escapes every text, in elements and in attributes', () => {
    const markup = toMarkup(html`<p title="${HOSTILE}">${HOSTILE}</p>`);
    expect(markup).not.toMatch(/<script|<img/);
    expect(markup.match(/["']/g)).toHaveLength(2);
    expect(markup).toContain('&amp;amp;');
  });

  it('leaves markup as it is, joins lists, and leaves out what is not there', () => {
    expect(toMarkup(html`${[html`<b>${1}</b>`, 'a<b']}${undefined}${false}`)).toBe('<b>1</b>a&lt;b');
  });

  it('does not take an object that looks like markup for markup', () => {
    const forged = JSON.parse('{"markup": "<script>"}') as never;
    expect(toMarkup(html`${forged}`)).not.toContain('<script>');
  });

  it('shows what must not be in a page as a replacement character', () => {
    expect(escapeText('a\u0000b\u001bc\ud800d\u202ee\tf\n😀')).toBe('a\ufffdb\ufffdc\ufffdd\ufffde\tf\n😀');
  });
});

describe('a page', () => {
  const whole = page({
    title: HOSTILE,
    subtitle: HOSTILE,
    body: [
      section(HOSTILE, facts([[HOSTILE, HOSTILE]]), table([[HOSTILE], [HOSTILE, html`<b>x</b>`]], { left: [1] }), quote(HOSTILE)),
      folded(HOSTILE, HOSTILE),
      linePlot({
        caption: HOSTILE,
        x: { label: HOSTILE, log: true },
        y: { label: HOSTILE },
        series: [
          { name: HOSTILE, points: [{ x: 1, y: 0.5 }] },
          { name: HOSTILE, points: [{ x: 2, y: 1, low: 0, high: 1 }] },
        ],
      }),
      barPlot({ caption: HOSTILE, bars: [{ label: HOSTILE, value: 1 }], y: { label: HOSTILE } }),
    ],
  });

  it('holds no script and asks for nothing from elsewhere', () => {
    const tags = whole.match(/<[^>]*>/g)!;
    expect(tags.filter((tag) => /^<(?:script|img|link|iframe|object|embed|form|base)/i.test(tag))).toEqual([]);
    expect(tags.filter((tag) => /\s(?:src|href|action|on\w+)\s*=/i.test(tag.replace(/"[^"]*"/g, '""')))).toEqual([]);
    expect(whole).not.toMatch(/https?:/);
    expect(whole).not.toMatch(/@import|url\(/);
  });

  it('forbids both by its policy, and styles by the hash of its own style alone', async () => {
    const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(whole)?.[1]?.replaceAll('&#39;', "'");
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('unsafe-inline');
    const style = /<style>([\s\S]*?)<\/style>/.exec(whole)![1]!;
    const { createHash } = await import('node:crypto');
    expect(policy).toContain(createHash('sha256').update(style).digest('base64'));
    expect(whole).not.toMatch(/ style="/);
  });

  it('is light or dark as its reader wants', () => {
    expect(whole).toContain('prefers-color-scheme:dark');
  });

  it('leaves out the middle of a long text, and says so', () => {
    const markup = toMarkup(quote(`a${'x'.repeat(100)}b`, 10));
    expect(markup).toContain('axxxx');
    expect(markup).toContain('… 92 characters left out …');
    expect(markup).toContain('xxxxb');
  });
});

describe('plots', () => {
  it('draw one point of a line where its values stand', () => {
    const svg = toMarkup(
      linePlot({
        caption: 'c',
        x: { label: 'k' },
        y: { label: 'share', range: [0, 1] },
        series: [
          {
            name: 's',
            points: [
              { x: 0, y: 0, low: 0, high: 0.5 },
              { x: 10, y: 1, low: 0.5, high: 1 },
            ],
          },
        ],
      }),
    );
    // from the left edge at the bottom to the right edge at the top
    expect(svg).toContain('points="64,254 704,14"');
    expect(svg).toContain('points="64,134 704,14 704,134 64,254"');
  });

  it('leave out what is no number, and say so where nothing is left', () => {
    const plot = (y: number) =>
      toMarkup(linePlot({ caption: 'c', x: { label: 'x' }, y: { label: 'y' }, series: [{ name: 's', points: [{ x: 1, y }] }] }));
    expect(plot(Number.NaN)).toContain('c: nothing was measured');
    expect(plot(3)).not.toContain('NaN');
    expect(toMarkup(barPlot({ caption: 'c', bars: [], y: { label: 'y' } }))).toContain('nothing was measured');
  });

  it('have ticks at round numbers, or at powers of two', () => {
    expect(linearScale(0, 1).ticks).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1]);
    expect(linearScale(-3, 47).ticks).toEqual([0, 10, 20, 30, 40]);
    expect(linearScale(5, 5).at(5)).toBe(0.5);
    expect(powerScale(1, 32).ticks).toEqual([1, 2, 4, 8, 16, 32]);
    expect(powerScale(1, 32).at(8)).toBeCloseTo(0.6, 12);
  });
});
