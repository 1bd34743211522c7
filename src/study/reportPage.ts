/**
 * The report of a study as one self-contained HTML page (see `html/page.ts`): all claims in a table, then each with its verdict, figures,
 * numbers and limits. Whatever a plan says is escaped. Computes nothing.
 */
import { type Html, html } from '../html/html.js';
import { facts, folded, page, quote, section, table } from '../html/page.js';
import { OUTCOME_TEXT } from './claimText.js';
import { describeEndpoint } from './endpoint.js';
import type { ArmRow, ReportedClaim, StudyReport } from './report.js';
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
  short,
  unitText,
  verdictSentences,
} from './reportWords.js';
import type { Outcome } from './verdict.js';

/** A sign beside the words and the colour. */
const SIGNS: Readonly<Record<Outcome, readonly [sign: string, style: string]>> = {
  supported: ['✓', 'good'],
  contradicted: ['✗', 'bad'],
  noMaterialEffect: ['=', 'even'],
  undecided: ['?', 'doubt'],
  exploratory: ['…', 'soft'],
  notTested: ['–', 'soft'],
};

const badge = (outcome: Outcome): Html => {
  const [sign, style] = SIGNS[outcome];
  return html`<span class="badge ${style}">${sign} ${OUTCOME_TEXT[outcome]}</span>`;
};

export function studyPage(report: StudyReport): string {
  const { plans, claims, runs } = report;
  return page({
    title: plans.length === 1 ? plans[0]!.title : `A study of ${claims.length} claims`,
    subtitle: `${claims.length} ${claims.length === 1 ? 'claim' : 'claims'}, ${runs.done} of ${runs.wanted} arm-runs`,
    body: [
      html`${scopeSentences(report).map((text) => html`<p>${text}</p>`)}`,
      overview(claims, runs.models.length > 1),
      runFacts(report),
      ...(report.calibrations.length > 0 ? [calibrationSection(report.calibrations)] : []),
      ...claims.map((claim) => claimSection(claim, report)),
      section('Plans', ...plans.map(({ name, title, text }) => folded(`${name}: ${title}`, quote(text)))),
    ],
  });
}

/** @param several whether they are about several models */
function overview(claims: readonly ReportedClaim[], several: boolean): Html {
  const rows = claims.map(({ anchor, claim, models, verdict, parts }) => [
    html`<a class="wide" href="#${anchor}">${claim.says}</a>`,
    ...(several ? [models.join(', ')] : []),
    badge(verdict.outcome),
    stacked(parts.map(differenceText)),
    stacked(parts.map(({ margin }) => short(margin))),
    stacked(parts.map(({ pairs }) => String(pairs.length))),
    stacked([pCell(verdict.adjusted)]),
  ]);
  return section(
    'Claims',
    table([['claim', ...(several ? ['model'] : []), 'verdict', 'difference [95 %]', 'margin', 'blocks', "Holm's p"], ...rows], {
      left: [1, 2],
    }),
  );
}

/** Lines that stay side by side with those of other cells. */
const stacked = (texts: readonly string[]): Html =>
  html`${texts.map((text, i) => html`${i > 0 && html`<br>`}<span class="whole">${text}</span>`)}`;

function runFacts({ runs, plans, folder }: StudyReport): Html {
  return section(
    'What ran',
    facts([
      ['model', runs.models.join(', ')],
      ['machine', html`${runs.machines.map((text, i) => html`${i > 0 && html`<br>`}${text}`)}`],
      ['days', runs.days === undefined ? 'not known' : runs.days[0] === runs.days[1] ? runs.days[0] : `${runs.days[0]} to ${runs.days[1]}`],
      ['seeds', seedsText(runs.seeds)],
      ['arm-runs', `${runs.done} of ${runs.wanted}, ${duration(runs.seconds)} of one engine, ${count(runs.tokens)} tokens written`],
      ['plans', plans.map(({ name, asked, hash }) => `${name} (${asked} blocks, ${hash})`).join(', ')],
      ['results', `${folder}/results`],
    ]),
  );
}

/** What can be told apart at all. */
const calibrationSection = (calibrations: StudyReport['calibrations']): Html =>
  section(
    'Floor, ceiling, noise',
    ...calibrations.map((calibration) => html`<p>${calibrationSentences(calibration)}</p>${table(noiseRows(calibration), { left: [1] })}`),
  );

function claimSection(claim: ReportedClaim, { folder, tested }: StudyReport): Html {
  const { anchor, plan, models, verdict, parts, checks, notes, rows } = claim;
  const { id, says, paper, fair } = claim.claim;
  return html`<section id="${anchor}">
<h2>${says}</h2>
<p>${badge(verdict.outcome)} <span class="soft">model ${models.join(', ')}, plan ${plan}, claim ${id}</span></p>
${parts.map((part, i) => html`<p>${partSentences(part, claim.claim.parts[i]?.why)}</p>`)}
<p>${verdictSentences(claim, tested)}</p>
${figuresOf(claim).map(({ markup }) => markup)}
${armTable(claim, rows)}
${checks.length > 0 && html`<h3>Checks</h3><ul>${checks.map(({ holds, text }) => html`<li><span class="${holds ? 'good' : 'bad'}">${holds ? '✓ holds' : '✗ fails'}</span>: ${text}</li>`)}</ul>`}
${paper !== undefined && html`<h3>In the paper</h3><p>${paper}</p>`}
<h3>Limits</h3>
<p>${fair}</p>
${notes.length > 0 && html`<ul>${notes.map((note) => html`<li>${note}</li>`)}</ul>`}
<h3>Again</h3>
<pre>${repeatCommand(folder, plan)}</pre>
</section>`;
}

function armTable({ endpoints }: ReportedClaim, rows: readonly ArmRow[]): Html {
  return table([
    [
      'arm',
      ...endpoints.map((endpoint) => `${describeEndpoint(endpoint)} [95 %]`),
      'blocks',
      'diverged',
      'rollouts lost',
      'tokens',
      'time',
    ],
    ...rows.map((row) => [
      row.name,
      ...row.values.map((value, i) => (value === undefined ? '–' : `${short(value.mean)}${intervalText(value)}${unitText(endpoints[i]!)}`)),
      row.blocks,
      row.diverged,
      count(row.lost),
      count(row.tokens),
      duration(row.seconds),
    ]),
  ]);
}
