/** The figures of a claim: a forest plot a part, and the arms' curves. The same for HTML and for SVG files. */
import { forestPlot } from '../html/forestPlot.js';
import type { Html } from '../html/html.js';
import { linePlot } from '../html/plot.js';
import { signed } from './claimText.js';
import { describeEndpoint } from './endpoint.js';
import type { JudgedPart } from './judge.js';
import type { Curve, ReportedClaim } from './report.js';
import { unitText } from './reportWords.js';

export interface Figure {
  /** Unique within the claim, of letters that need no escaping. */
  readonly id: string;
  readonly caption: string;
  readonly markup: Html;
}

export function figuresOf({ parts, curves, rows }: ReportedClaim): Figure[] {
  const many = parts.length > 1;
  return [
    ...parts.filter(({ pairs }) => pairs.length > 0).map((part, i) => forest(part, many ? `blocks-${i + 1}` : 'blocks')),
    ...curves.map((curve, i) =>
      lines(
        curve,
        rows.map(({ name }) => name),
        curves.length > 1 ? `steps-${i + 1}` : 'steps',
      ),
    ),
  ];
}

function forest({ above, below, endpoint, margin, difference, pairs }: JudgedPart, id: string): Figure {
  const [low, high] = difference.interval;
  const caption = `${describeEndpoint(endpoint)}: ${above} minus ${below}, by block, and the mean with its 95 % interval`;
  const markup = forestPlot({
    caption,
    rows: pairs.map((pair) => ({ label: `block ${pair.block + 1}`, value: pair.above - pair.below })),
    mean: { label: 'mean', value: difference.mean, low, high },
    margin,
    x: { label: `${above} minus ${below}${unitText(endpoint) === '' ? '' : `,${unitText(endpoint)}`}`, format: signed },
  });
  return { id, caption, markup };
}

/** An arm has the same colour in all curves of a claim. */
function lines({ metric, stage, points, of, series }: Curve, arms: readonly string[], id: string): Figure {
  const banded = series.some((one) => one.points.some(({ low }) => low !== undefined));
  const caption = `${metric} over ${stage} steps${of === 'evaluations' ? ', by evaluations' : ', of the training rollouts'}: mean over blocks${banded ? ', with one standard error on both sides' : ''}`;
  const markup = linePlot({
    caption,
    x: { label: `${stage} step` },
    y: { label: points ? `${metric}, points` : metric },
    series: series.map(({ arm, points: spots }) => {
      const colour = arms.indexOf(arm);
      return { name: arm, points: spots, colour, dashed: colour % 2 === 1 };
    }),
    endLabels: true,
  });
  return { id, caption, markup };
}
