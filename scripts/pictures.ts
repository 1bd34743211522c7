/**
 * The pictures of the pages on algorithms, drawn from the functions themselves: `npx tsx scripts/pictures.ts` writes them to docs/img.
 * A test keeps the files equal to what is drawn here.
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { clippedLoss } from '../src/algorithm/clippedLoss.js';
import { klValues } from '../src/algorithm/kl.js';
import { overlongPenalty } from '../src/algorithm/overlong.js';
import type { PolicyLoss } from '../src/algorithm/policyLoss.js';
import { sequenceLoss } from '../src/algorithm/sequenceLoss.js';
import { linearScale } from '../src/html/scale.js';

interface Line {
  readonly name: string;
  readonly at: (x: number) => number;
  /** 0 to 2; the last is faint. */
  readonly colour: 0 | 1 | 2;
  readonly dashed?: boolean;
}

interface Panel {
  readonly title: string;
  readonly x: { readonly label: string; readonly from: number; readonly to: number; readonly unit?: number };
  readonly y: { readonly label: string; readonly from: number; readonly to: number };
  readonly lines: readonly Line[];
}

const WIDTH = 400;
const HEIGHT = 280;
const BOX = { left: 68, right: 24, top: 34, bottom: 44 };
const POINTS = 200;

const STYLE = `text{font:12px system-ui,sans-serif;fill:#333}.t{font-weight:600;font-size:13px}.g{stroke:#ddd}.a{stroke:#888}.c0{stroke:#0060a8}.c1{stroke:#b8470b}.c2{stroke:#777}.l{fill:none;stroke-width:2.2}.d{stroke-dasharray:6 4}
@media(prefers-color-scheme:dark){text{fill:#ddd}.g{stroke:#3a3a3a}.a{stroke:#888}.c0{stroke:#6cb6ff}.c1{stroke:#f0995f}.c2{stroke:#999}}`;

/** Panels side by side with one legend below. */
function picture(title: string, panels: readonly Panel[]): string {
  const names = panels[0]!.lines;
  const width = WIDTH * panels.length;
  const height = HEIGHT + 26;
  let x = 16;
  const legend = names.map((line) => {
    const from = x;
    x += 44 + 6.6 * line.name.length + 22;
    return `<line class="${styleOf(line)}" x1="${from}" x2="${from + 30}" y1="${HEIGHT + 10}" y2="${HEIGHT + 10}"/><text x="${from + 37}" y="${HEIGHT + 14}">${line.name}</text>`;
  });
  const drawn = panels.map((panel, i) => `<g transform="translate(${i * WIDTH} 0)">\n${drawPanel(panel)}\n</g>`);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${title}">
<style>${STYLE}</style>
${drawn.join('\n')}
${legend.join('\n')}
</svg>
`;
}

function drawPanel({ title, x, y, lines }: Panel): string {
  const horizontal = linearScale(x.from, x.to, 5);
  const vertical = linearScale(y.from, y.to, 5);
  const left = (value: number): number => BOX.left + horizontal.at(value) * (WIDTH - BOX.left - BOX.right);
  const top = (value: number): number => HEIGHT - BOX.bottom - vertical.at(value) * (HEIGHT - BOX.top - BOX.bottom);
  const round = (value: number): string => String(Math.round(value * 10) / 10);
  const middle = (BOX.top + HEIGHT - BOX.bottom) / 2;
  return [
    `<text class="t" x="${BOX.left}" y="18">${title}</text>`,
    ...vertical.ticks.map(
      (tick) =>
        `<line class="g" x1="${BOX.left}" x2="${WIDTH - BOX.right}" y1="${round(top(tick))}" y2="${round(top(tick))}"/><text x="${BOX.left - 6}" y="${round(top(tick) + 4)}" text-anchor="end">${tick}</text>`,
    ),
    ...horizontal.ticks.map(
      (tick) =>
        `<text x="${round(left(tick))}" y="${HEIGHT - BOX.bottom + 16}" text-anchor="middle">${Number((tick / (x.unit ?? 1)).toPrecision(6))}</text>`,
    ),
    `<line class="a" x1="${BOX.left}" x2="${WIDTH - BOX.right}" y1="${HEIGHT - BOX.bottom}" y2="${HEIGHT - BOX.bottom}"/>`,
    `<text x="${(BOX.left + WIDTH - BOX.right) / 2}" y="${HEIGHT - 8}" text-anchor="middle">${x.label}</text>`,
    `<text x="14" y="${middle}" text-anchor="middle" transform="rotate(-90 14 ${middle})">${y.label}</text>`,
    ...lines.map((line) => {
      const spots: string[] = [];
      for (let i = 0; i <= POINTS; i++) {
        const at = x.from + ((x.to - x.from) * i) / POINTS;
        const value = line.at(at);
        if (value >= y.from - 1e-9 && value <= y.to + 1e-9) spots.push(`${round(left(at))},${round(top(value))}`);
      }
      return `<polyline class="l ${styleOf(line)}" points="${straightened(spots).join(' ')}"/>`;
    }),
  ].join('\n');
}

const styleOf = ({ colour, dashed }: Line): string => `c${colour}${dashed === true ? ' d' : ''}`;

/** Without the points between the ends of a level stretch. */
const straightened = (spots: readonly string[]): string[] =>
  spots.filter((spot, i) => {
    const height = (at: number): string | undefined => spots[at]?.split(',')[1];
    return i === 0 || i === spots.length - 1 || height(i - 1) !== height(i) || height(i + 1) !== spot.split(',')[1];
  });

/** Loss of one token with this ratio and advantage. */
const lossAt =
  (loss: PolicyLoss, advantage: number) =>
  (ratio: number): number =>
    loss([
      {
        logProbs: Float64Array.of(Math.log(ratio)),
        oldLogProbs: Float64Array.of(0),
        advantages: Float64Array.of(advantage),
        mask: Float64Array.of(1),
      },
    ]).loss;

function clipping(
  name: string,
  clips: readonly { readonly name: string; readonly loss: PolicyLoss }[],
  x: Panel['x'],
  reach: number,
): string {
  const panel = (advantage: 1 | -1): Panel => ({
    title: advantage > 0 ? 'better than its group: A = 1' : 'worse than its group: A = −1',
    x,
    y: { label: 'loss of a token', ...(advantage > 0 ? { from: -1 - reach, to: -1 + reach } : { from: 1 - reach, to: 1 + reach }) },
    lines: [
      ...clips.map(({ name, loss }, i): Line => ({ name, at: lossAt(loss, advantage), colour: i as 0 | 1, dashed: i === 1 })),
      { name: 'no clipping', at: (ratio) => -advantage * ratio, colour: 2, dashed: true },
    ],
  });
  return picture(name, [panel(1), panel(-1)]);
}

/** File name to its content. */
export function pictures(): Record<string, string> {
  return {
    'clip-token.svg': clipping(
      'Loss of a token against its probability ratio, for the bounds of GRPO-T and GRPO-TCR',
      [
        { name: 'GRPO-T: 0.8 to 1.2', loss: clippedLoss({ low: 0.2, high: 0.2 }) },
        { name: 'GRPO-TCR: 0.8 to 1.28', loss: clippedLoss({ low: 0.2, high: 0.28 }) },
      ],
      { label: 'probability ratio: now / at the start of the step', from: 0.5, to: 1.5 },
      0.5,
    ),
    'clip-sequence.svg': clipping(
      'Loss of a response against its sequence ratio, for the bounds of GRPO-SCR',
      [{ name: 'GRPO-SCR: 1 − 0.0003 to 1 + 0.0004', loss: sequenceLoss({ low: 3e-4, high: 4e-4 }) }],
      { label: 'sequence ratio', from: 0.999, to: 1.001 },
      0.001,
    ),
    'overlong.svg': picture('Overlong penalty against the length of a response', [
      {
        title: 'maxTokens 16,384, cacheTokens 4,096',
        x: { label: 'tokens that the model wrote, thousands', from: 0, to: 20_000, unit: 1000 },
        y: { label: 'penalty', from: -1.1, to: 0.1 },
        lines: [{ name: 'Eq. 9', at: (tokens) => overlongPenalty(tokens, { maxTokens: 16_384, bufferTokens: 4096 }), colour: 0 }],
      },
    ]),
    'kl.svg': picture('Estimators of the KL divergence for one token', [
      {
        title: 'one token',
        x: { label: 'log-prob now − log-prob of the reference, nats', from: -2, to: 2 },
        y: { label: 'estimate, nats', from: -2, to: 4.5 },
        lines: (['k1', 'k2', 'k3'] as const).map(
          (estimator, i): Line => ({
            name: estimator,
            colour: i as 0 | 1 | 2,
            dashed: i > 0,
            at: (d) => klValues([d], [0], estimator).values[0]!,
          }),
        ),
      },
    ]),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = fileURLToPath(new URL('../docs/img/', import.meta.url));
  for (const [name, content] of Object.entries(pictures())) writeFileSync(folder + name, content);
}
