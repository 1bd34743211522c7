/**
 * One self-contained HTML page: no script, no request, a policy that forbids both, light and dark by the reader's setting. The kit of all
 * reports: `page`, `section`, `facts`, `table`, `quote`, and the plots of `plot.ts`.
 */
import { createHash } from 'node:crypto';
import { type Html, html, type Piece, toMarkup } from './html.js';

const STYLE = `
:root{color-scheme:light dark;--paper:#fff;--ink:#1d2125;--soft:#5c6670;--line:#d7dce1;--shade:#f4f6f8;
--c0:#1f6feb;--c1:#c2410c;--c2:#15803d;--c3:#7e22ce;--c4:#b45309;--c5:#0e7490;--good:#15803d;--bad:#b91c1c}
@media (prefers-color-scheme:dark){:root{--paper:#14171a;--ink:#e3e7eb;--soft:#98a2ad;--line:#333a41;--shade:#1c2126;
--c0:#6ea8fe;--c1:#fb923c;--c2:#4ade80;--c3:#c084fc;--c4:#fbbf24;--c5:#22d3ee;--good:#4ade80;--bad:#f87171}}
*{box-sizing:border-box}
body{margin:0 auto;padding:2rem 1.25rem 4rem;max-width:72rem;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,sans-serif}
h1{font-size:1.7rem;margin:0 0 .2rem}h2{font-size:1.2rem;margin:2.4rem 0 .6rem}h3{font-size:1rem;margin:1.4rem 0 .4rem}
p{margin:.5rem 0;max-width:48rem}.soft{color:var(--soft)}.good{color:var(--good)}.bad{color:var(--bad)}
.scroll{overflow-x:auto}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.92rem;margin:.4rem 0}
th,td{padding:.3rem .7rem;border-bottom:1px solid var(--line);text-align:right;vertical-align:top}
th{font-weight:600;border-bottom-width:2px}th:first-child,td:first-child,.left{text-align:left}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;font-size:.92rem;margin:.6rem 0}
dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
figure{margin:1rem 0}figcaption{font-size:.92rem;color:var(--soft);margin-bottom:.3rem}
svg{display:block;width:100%;max-width:46rem;height:auto;font:12px system-ui,sans-serif}
svg.key{display:inline-block;width:26px;height:10px}
svg text{fill:var(--ink)}svg .soft{fill:var(--soft)}.grid{stroke:var(--line)}.axis{stroke:var(--soft)}
.line{fill:none;stroke-width:2}.band{opacity:.16;stroke:none}.whisker{stroke:var(--ink);stroke-width:1.3}.dash{stroke-dasharray:5 4}
.margin{fill:var(--soft);opacity:.12}svg .strong{font-weight:600}
.whole{white-space:nowrap}.wide{display:inline-block;min-width:14rem}.badge{font-weight:600;white-space:nowrap;border:1px solid currentColor;border-radius:4px;padding:0 .45em}.doubt{color:var(--c4)}.even{color:var(--c0)}
.s0{stroke:var(--c0)}.s1{stroke:var(--c1)}.s2{stroke:var(--c2)}.s3{stroke:var(--c3)}.s4{stroke:var(--c4)}.s5{stroke:var(--c5)}
.f0{fill:var(--c0)}.f1{fill:var(--c1)}.f2{fill:var(--c2)}.f3{fill:var(--c3)}.f4{fill:var(--c4)}.f5{fill:var(--c5)}
details{border:1px solid var(--line);border-radius:6px;margin:.5rem 0;padding:.3rem .8rem}summary{cursor:pointer}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:var(--shade);border-radius:6px;padding:.6rem .8rem;margin:.4rem 0;font:13px/1.5 ui-monospace,monospace}
@media print{details,figure,tr,dl{break-inside:avoid}h2,h3,figcaption{break-after:avoid}.scroll{overflow:visible}table{font-size:.75rem}th,td{padding:.25rem .4rem}body{max-width:none;padding:0}}
`;

const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

export interface Page {
  readonly title: string;
  readonly subtitle?: string;
  readonly body: readonly Html[];
}

/** The whole document. */
export function page({ title, subtitle, body }: Page): string {
  const head = html`<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>`;
  const main = html`<main>
<h1>${title}</h1>
${subtitle !== undefined && html`<p class="soft">${subtitle}</p>`}
${body}
</main>`;
  return `<!doctype html>\n<html lang="en">\n<head>\n${toMarkup(head)}\n<style>${STYLE}</style>\n</head>\n<body>\n${toMarkup(main)}\n</body>\n</html>\n`;
}

export const section = (heading: string, ...content: readonly Piece[]): Html => html`<section>
<h2>${heading}</h2>
${content}
</section>`;

/** Names and values. */
export const facts = (entries: readonly (readonly [string, Piece])[]): Html =>
  html`<dl>${entries.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;

export interface TableOptions {
  /** Columns of text; the first is always one. */
  readonly left?: readonly number[];
}

/** The first row is the head. */
export function table(rows: readonly (readonly Piece[])[], { left = [] }: TableOptions = {}): Html {
  const [head = [], ...body] = rows;
  const side = (column: number): Html | false => left.includes(column) && html` class="left"`;
  return html`<div class="scroll"><table>
<thead><tr>${head.map((cell, i) => html`<th scope="col"${side(i)}>${cell}</th>`)}</tr></thead>
<tbody>${body.map((row) => html`<tr>${row.map((cell, i) => html`<td${side(i)}>${cell}</td>`)}</tr>\n`)}</tbody>
</table></div>`;
}

/** A text as somebody wrote it, line by line; what exceeds the limit is left out in the middle and said. */
export function quote(text: string, limit = 20_000): Html {
  if (text.length <= limit) return html`<pre>${text}</pre>`;
  const half = Math.floor(limit / 2);
  return html`<pre>${text.slice(0, half)}
… ${text.length - 2 * half} characters left out …
${text.slice(-half)}</pre>`;
}

/** Folded away until it is asked for. */
export const folded = (summary: Piece, ...content: readonly Piece[]): Html => html`<details>
<summary>${summary}</summary>
${content}
</details>`;
