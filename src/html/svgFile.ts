/** The plot of a figure as an SVG file of its own, for pages that cannot hold one: light and dark by the reader's setting. Draws nothing. */
import { type Html, toMarkup } from './html.js';

const STYLE = `
:root{--paper:#fff;--ink:#1d2125;--soft:#5c6670;--line:#d7dce1;--c0:#1f6feb;--c1:#c2410c;--c2:#15803d;--c3:#7e22ce;--c4:#b45309;--c5:#0e7490}
@media (prefers-color-scheme:dark){:root{--paper:#14171a;--ink:#e3e7eb;--soft:#98a2ad;--line:#333a41;--c0:#6ea8fe;--c1:#fb923c;--c2:#4ade80;--c3:#c084fc;--c4:#fbbf24;--c5:#22d3ee}}
svg{background:var(--paper);font:12px system-ui,sans-serif}text{fill:var(--ink)}text.soft{fill:var(--soft)}text.strong{font-weight:600}
.grid{stroke:var(--line)}.axis{stroke:var(--soft)}.margin{fill:var(--soft);opacity:.12}
.line{fill:none;stroke-width:2}.band{opacity:.16;stroke:none}.whisker{stroke:var(--ink);stroke-width:1.3}.dash{stroke-dasharray:5 4}
.s0{stroke:var(--c0)}.s1{stroke:var(--c1)}.s2{stroke:var(--c2)}.s3{stroke:var(--c3)}.s4{stroke:var(--c4)}.s5{stroke:var(--c5)}
.f0{fill:var(--c0)}.f1{fill:var(--c1)}.f2{fill:var(--c2)}.f3{fill:var(--c3)}.f4{fill:var(--c4)}.f5{fill:var(--c5)}
`;

/** @returns undefined where the figure holds no plot, because nothing was measured */
export function svgFile(figure: Html): string | undefined {
  const svg = /<svg viewBox="([^"]*)" role="img"([^>]*)>([\s\S]*)<\/svg>/.exec(toMarkup(figure));
  if (svg === null) return undefined;
  const [, box, label, content] = svg;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${box}" role="img"${label}>\n<style>${STYLE}</style>${content}</svg>\n`;
}
