/** A report's sentences: what a verdict means and what it does not, in plain words and as plain text. Whoever shows them escapes them. */
import type { Calibration } from './calibration.js';
import { OUTCOME_TEXT, pText, signed } from './claimText.js';
import { describeEndpoint, type Endpoint, unitName } from './endpoint.js';
import type { JudgedPart } from './judge.js';
import type { ReportedClaim, StudyReport } from './report.js';
import { isFlat, LEAST_BLOCKS, type PairedDifference } from './verdict.js';

export function short(value: number): string {
  if (!Number.isFinite(value)) return '–';
  const text = Math.abs(value) >= 1000 ? Math.round(value).toString() : Number(value.toPrecision(3)).toString();
  return text.replace('-', '−');
}

/** A count, its thousands apart. */
export const count = (value: number): string => value.toLocaleString('en');

/** For a table's cell. */
export const pCell = (p: number | undefined): string => (p === undefined ? '–' : p < 0.001 ? '< 0.001' : p.toPrecision(2));

export const unitText = (endpoint: Endpoint): string => (unitName(endpoint) === 'units' ? '' : ` ${unitName(endpoint)}`);

export const intervalText = ({ interval: [low, high] }: PairedDifference, format = short): string =>
  Number.isFinite(low) && Number.isFinite(high) ? ` [${format(low)}, ${format(high)}]` : '';

export const differenceText = ({ difference, endpoint, pairs }: JudgedPart): string =>
  pairs.length === 0 ? '–' : `${signed(difference.mean)}${intervalText(difference, signed)}${unitText(endpoint)}`;

/** What was found in one part. */
export function partSentences({ above, below, endpoint, margin, difference, pairs }: JudgedPart, why?: string): string {
  const what = describeEndpoint(endpoint);
  const unit = unitText(endpoint);
  const reason = why === undefined ? '' : ` (${why.trim().replace(/\.$/, '')})`;
  const declared =
    margin > 0
      ? `It was declared beforehand that less than ${short(margin)}${unit} does not matter${reason}.`
      : `Any difference was declared beforehand to matter: the margin is 0${reason}.`;
  if (pairs.length === 0) return `No block holds a number of both ${above} and ${below} (${what}). ${declared}`;
  const side = difference.mean < 0 ? 'below' : 'above';
  const blocks = pairs.length === 1 ? 'In the one block that is there' : `Over ${pairs.length} blocks`;
  const interval =
    pairs.length < 2
      ? 'One block has no interval.'
      : `The 95 % interval of the difference reaches from ${signed(difference.interval[0])} to ${signed(difference.interval[1])}${unit}.`;
  const size = `${short(Math.abs(difference.mean))}${unit}`;
  const average = pairs.length > 1 ? ' on average' : '';
  const steps = `${short(Math.abs(difference.mean))} ${Math.abs(difference.mean) === 1 ? 'step' : 'steps'}`;
  const found =
    difference.mean === 0
      ? `${above} and ${below} were equal${average}`
      : unitName(endpoint) === 'steps'
        ? `${above} took ${steps} ${difference.mean < 0 ? 'less' : 'more'} than ${below}${average}`
        : `${above} stood ${size} ${side} ${below}${average}`;
  return `${blocks}, ${found} (${what}). ${interval} ${declared}`;
}

/** What the verdict means, and what it does not. */
export function verdictSentences(claim: ReportedClaim, tested: number): string {
  const { verdict, reading, checks, parts } = claim;
  const least = Math.min(...parts.map(({ pairs }) => pairs.length), ...checks.map(({ blocks }) => blocks));
  const several = parts.length > 1;
  const all = tested === 1 ? 'the one claim that was tested' : `the ${tested} claims that were tested`;
  const holm = verdict.adjusted === undefined ? '' : ` (p ${pText(verdict.adjusted)} after Holm's procedure over ${all})`;
  switch (verdict.outcome) {
    case 'supported':
      return `${several ? 'In every part the' : 'The'} whole interval lies beyond the margin, on the side that the claim names${holm}: supported. That holds for this model, these problems and these settings, and for no others.`;
    case 'contradicted':
      return `${several ? 'In a part of the claim the' : 'The'} whole interval lies on the other side of 0${holm}: contradicted. Here the effect goes against the claim; that does not make it wrong for other models, problems or settings.`;
    case 'noMaterialEffect':
      return `${several ? 'In every part the' : 'The'} whole interval lies inside the margin on both sides${holm}: whichever way a difference goes, it is smaller than what was declared to matter.${besideZero(parts)} This is a finding, and not a lack of data.`;
    case 'undecided':
      return `${whyUndecided(claim, all)} That is no evidence that there is no effect: more blocks would narrow the interval.`;
    case 'exploratory':
      return `${least === 0 ? 'There is no' : `There ${least === 1 ? 'is 1' : `are ${least}`}`} complete block${least === 1 || least === 0 ? '' : 's'}, and the rule asks for ${LEAST_BLOCKS}: exploratory, whatever the numbers.${least > 1 ? ` Standing alone they would say "${OUTCOME_TEXT[reading.says]}"; take it as a hint where to look.` : ''}`;
    case 'notTested': {
      const failed = checks.filter(({ holds }) => !holds).map(({ text }) => text);
      return `What the claim is about was not there to be seen: ${failed.join('; ')}. So the claim was not tested. The numbers are shown; they say nothing for it or against it.`;
    }
  }
}

/** Small is not none. */
function besideZero(parts: readonly JudgedPart[]): string {
  const clear = parts.filter(({ difference: { interval } }) => interval[0] > 0 || interval[1] < 0);
  if (clear.length === 0) return '';
  const which = parts.length === 1 ? 'The interval' : clear.length === parts.length ? 'Every interval' : 'An interval';
  const against = parts.length === 1 && parts[0]!.difference.mean < 0 ? ' and goes against the claim' : '';
  return ` ${which} leaves 0 out, so there probably is a difference; it is small${against}.`;
}

function whyUndecided({ reading, parts, verdict }: ReportedClaim, all: string): string {
  if (reading.says !== 'undecided')
    return `Standing alone the numbers would say "${OUTCOME_TEXT[reading.says]}" (p ${pText(reading.p)}), but not after Holm's procedure over ${all} (p ${pText(verdict.adjusted ?? 1)}): undecided.`;
  if (parts.length > 1)
    return `A claim of ${parts.length} parts needs all of them, and they say: ${parts.map((part) => OUTCOME_TEXT[part.reading.says]).join(', ')}. Undecided.`;
  if (parts.some(({ uncounted }) => uncounted > 0))
    return 'Blocks in which an arm diverged have no number that could count, and the others alone decide nothing: undecided.';
  if (parts.some(({ difference }) => isFlat(difference)))
    return 'The difference is the same in every block, so that nothing tells how it scatters: undecided.';
  return 'The interval neither clears the margin, nor lies below 0, nor fits inside the margin: undecided.';
}

/** Sentences that stand above all verdicts. */
export function scopeSentences({ runs, plans, mixed }: StudyReport): string[] {
  const models = runs.models.join(' and ');
  return [
    `Everything here was measured with ${models} on the problems that the plans name. ${small(runs.models)}A verdict is about that and about nothing else: the paper's claims are about models of 4 and 7 billion parameters on competition problems.`,
    `A block is one start, one order of problems and one set of seeds, shared by all arms; arms are compared within blocks. Supported: the 95 % interval of the difference lies beyond the margin. No material effect: it lies inside the margin, on whichever side of 0. Contradicted: otherwise below 0. Else undecided; with fewer than ${LEAST_BLOCKS} blocks exploratory; not tested where a check failed. Holm's procedure over all tested claims keeps the chance of any false verdict at 5 %.`,
    ...plans.flatMap(({ name, raised = [] }) => {
      const [first, ...further] = raised;
      if (first === undefined) return [];
      const seen = (results: number): string => (results === 1 ? '1 result was' : `${results} results were`);
      const more = further.map(({ to, results }) => `, and to ${to} when ${seen(results)}`).join('');
      return [
        `${name} was planned with ${first.from} ${first.from === 1 ? 'block' : 'blocks'} and raised to ${first.to} when ${seen(first.results)} there${more}: intervals do not allow for having looked.`,
      ];
    }),
    ...mixed.map(
      ({ plan, block, seed, processors }) =>
        `Block ${block + 1} of ${plan} (seed ${seed}) mixes processors (${processors.join('; ')}): differences within it are not of its arms alone.`,
    ),
  ];
}

const small = (models: readonly string[]): string => (models.includes('nano') ? 'nano has about 1 million parameters. ' : '');

/** Where policies begin and end, and how much one evaluation scatters. */
export function calibrationSentences({ plans, floor, ceiling, evaluation }: Calibration): string {
  return [
    `${plans.join(', ')}:`,
    floor &&
      `policies begin at ${short(floor.mean)} % right in the first step's rollouts (${short(floor.deviation)} points between blocks).`,
    ceiling &&
      `The arm that ends highest is ${ceiling.arm} with ${short(ceiling.value.mean)} % (${short(ceiling.value.deviation)} points between blocks).`,
    evaluation &&
      `An evaluation of ${count(evaluation.problems)} problems${evaluation.samples > 1 ? ` with ${evaluation.samples} rollouts each` : ''} scatters by ${short(evaluation.deviation)} points there, by its draw of rollouts alone.`,
  ]
    .filter((text) => text !== undefined)
    .join(' ');
}

/** The first row is the head. */
export const noiseRows = ({ noise }: Calibration): (string | number)[][] => [
  ['what is compared', 'in', 'deviation between blocks', 'of differences within blocks', 'blocks', 'interval, either way'],
  ...noise.map(({ endpoint, unit, betweenBlocks, ofDifferences, blocks, reach }) => [
    endpoint,
    unit,
    short(betweenBlocks),
    short(ofDifferences),
    blocks,
    short(reach),
  ]),
];

/** `npx toolwise study ...` that runs the claim's plan again, in a folder of its own. */
export const repeatCommand = (folder: string, plan: string): string =>
  `npx toolwise study ${shellWord(`${folder.replace(/\/+$/, '')}/plans/${plan}.yaml`)} --out ${shellWord(`runs/again-${plan}`)}`;

/** As a shell takes it for one word. */
export const shellWord = (text: string): string => (/^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

/** `1 to 8`, or a list where there are gaps. */
export function seedsText(seeds: readonly number[]): string {
  const [first, last] = [seeds[0], seeds.at(-1)];
  if (first === undefined || last === undefined) return '–';
  if (seeds.length > 2 && last - first === seeds.length - 1) return `${first} to ${last}`;
  return seeds.join(', ');
}

export function duration(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  const minutes = seconds / 60;
  return minutes < 90 ? `${Math.round(minutes)} min` : `${(minutes / 60).toFixed(1)} h`;
}
