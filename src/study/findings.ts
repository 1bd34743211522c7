/** The report of a study as Markdown, with its figures as SVG files beside it. Whatever a plan says is escaped. Computes nothing. */
import { svgFile } from '../html/svgFile.js';
import { OUTCOME_TEXT } from './claimText.js';
import { describeEndpoint } from './endpoint.js';
import { fenced, markdown, markdownTable } from './markdown.js';
import type { ReportedClaim, StudyReport } from './report.js';
import { figuresOf } from './reportFigures.js';
import {
  calibrationSentences,
  count,
  differenceText,
  duration,
  intervalText,
  noiseRows,
  partSentences,
  pCell,
  repeatCommand,
  scopeSentences,
  seedsText,
  shellWord,
  short,
  unitText,
  verdictSentences,
} from './reportWords.js';

export interface Findings {
  readonly text: string;
  /** Files by name, which the text names within the folder of figures. */
  readonly figures: ReadonlyMap<string, string>;
}

/** @param figures the folder of the figures, as seen from the text's file */
export function findings(report: StudyReport, figures: string): Findings {
  const files = new Map<string, string>();
  const { plans, claims, runs, folder } = report;
  const days = runs.days === undefined ? '' : `, on ${runs.days[0] === runs.days[1] ? runs.days[0] : `${runs.days[0]} to ${runs.days[1]}`}`;
  const text = [
    `# ${plans.length === 1 ? markdown(plans[0]!.title) : 'Findings'}`,
    ...scopeSentences(report).map(markdown),
    overview(claims, runs.models.length > 1),
    `${runs.done} of ${runs.wanted} arm-runs are there: seeds ${seedsText(runs.seeds)}, ${duration(runs.seconds)} of one engine, ${count(runs.tokens)} tokens written${days}. ${runs.machines.length === 1 ? 'Machine' : 'Machines'}: ${runs.machines.map(markdown).join('; ')}.`,
    'The plans and every result are in the folder of the study; this page is made from it:',
    fenced('sh', `npx toolwise study report ${shellWord(folder)} --markdown FILE.md`),
    ...(report.calibrations.length > 0 ? ['## Floor, ceiling, noise'] : []),
    ...report.calibrations.flatMap((calibration) => [
      markdown(calibrationSentences(calibration)),
      markdownTable(
        noiseRows(calibration).map((row) => row.map((cell) => markdown(String(cell)))),
        [2, 3, 4, 5],
      ),
    ]),
    ...claims.map((claim) => claimText(claim, report, figures, files)),
  ];
  return { text: `${text.join('\n\n')}\n`, figures: files };
}

/** @param several whether they are about several models */
const overview = (claims: readonly ReportedClaim[], several: boolean): string =>
  markdownTable(
    [
      ['claim', ...(several ? ['model'] : []), 'verdict', markdown('difference [95 %]'), 'margin', 'blocks', "Holm's p"],
      ...claims.map(({ claim, models, verdict, parts }) => [
        markdown(claim.says),
        ...(several ? [markdown(models.join(', '))] : []),
        `**${OUTCOME_TEXT[verdict.outcome]}**`,
        parts.map((part) => markdown(differenceText(part))).join('<br>'),
        parts.map(({ margin }) => short(margin)).join('<br>'),
        parts.map(({ pairs }) => pairs.length).join('<br>'),
        markdown(pCell(verdict.adjusted)),
      ]),
    ],
    several ? [4, 5, 6] : [3, 4, 5],
  );

function claimText(claim: ReportedClaim, { folder, tested }: StudyReport, figures: string, files: Map<string, string>): string {
  const { anchor, verdict, parts, checks, notes, plan } = claim;
  const { says, paper, fair } = claim.claim;
  const pictures = figuresOf(claim).flatMap(({ id, caption, markup }) => {
    const svg = svgFile(markup);
    if (svg === undefined) return [];
    const name = `${anchor}-${id}.svg`;
    files.set(name, svg);
    return [`![${markdown(caption)}](${figures}/${name})`];
  });
  return [
    `## ${markdown(says)}`,
    `**${OUTCOME_TEXT[verdict.outcome]}** (model ${markdown(claim.models.join(', '))}, plan \`${plan}\`, claim \`${claim.claim.id}\`)`,
    ...parts.map((part, i) => markdown(partSentences(part, claim.claim.parts[i]?.why))),
    markdown(verdictSentences(claim, tested)),
    ...pictures,
    armTable(claim),
    ...(checks.length > 0
      ? [['Checks:', ...checks.map(({ holds, text }) => `- ${holds ? 'holds' : '**fails**'}: ${markdown(text)}`)].join('\n')]
      : []),
    ...(paper === undefined ? [] : [`In the paper: ${markdown(paper)}`]),
    `Limits: ${markdown(fair)}`,
    ...(notes.length > 0 ? [notes.map((note) => `- ${markdown(note)}`).join('\n')] : []),
    fenced('sh', repeatCommand(folder, plan)),
  ].join('\n\n');
}

function armTable({ endpoints, rows }: ReportedClaim): string {
  const head = [
    'arm',
    ...endpoints.map((endpoint) => markdown(`${describeEndpoint(endpoint)} [95 %]`)),
    'blocks',
    'diverged',
    'rollouts lost',
    'tokens',
    'time',
  ];
  const body = rows.map((row) => [
    `\`${row.name}\``,
    ...row.values.map((value, i) =>
      value === undefined ? '–' : markdown(`${short(value.mean)}${intervalText(value)}${unitText(endpoints[i]!)}`),
    ),
    ...[row.blocks, row.diverged, count(row.lost), count(row.tokens)],
    duration(row.seconds),
  ]);
  return markdownTable(
    [head, ...body],
    head.map((_, i) => i).filter((i) => i > 0),
  );
}
