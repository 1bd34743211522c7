/** A mix's report as text for the terminal, and as a card. Measures nothing. */
import { table } from '../../cli/tables.js';
import type { DataCard } from '../card.js';
import type { Diversity, Share } from '../diversity.js';
import type { MixReport, RemovedPair, SourceReport } from './mixReport.js';
import type { MixPlan } from './plan.js';

const whole = (value: number): string => value.toLocaleString('en-US');

/** @param compared name of the set whose diversity is shown beside */
export function mixText(report: MixReport, compared = 'compared'): string {
  const blocks = [sourcesTable(report)];
  if (report.against.length > 0) blocks.push(againstText(report));
  if (report.crowded > 0)
    blocks.push(
      `${whole(report.crowded)} texts had more candidates for duplicates than are compared: some of their copies may have stayed.`,
    );
  const shown = examples(report.pairs);
  if (shown !== '') blocks.push(shown);
  const columns: [string, Diversity][] = [
    ['before', report.diversity.pool],
    ['set', report.diversity.set],
  ];
  if (report.diversity.compared !== undefined) columns.push([compared, report.diversity.compared]);
  blocks.push(diversityText(columns));
  return blocks.join('\n\n');
}

function sourcesTable({ sources }: MixReport): string {
  const columns: [string, (source: SourceReport) => number | undefined][] = [
    ['rows', ({ rows }) => rows],
    ['bad', ({ bad }) => bad],
    ['not wanted', ({ filtered }) => filtered],
    ['too long', ({ tooLong }) => tooLong],
    ['in evaluation', ({ contaminated }) => contaminated],
    ['copies', ({ exact }) => exact],
    ['near copies', ({ near }) => near],
    ['left', ({ available }) => available],
    ['wanted', ({ wanted }) => wanted],
    ['drawn', ({ kept }) => kept],
  ];
  const row = (name: string, values: readonly (number | undefined)[]): string[] => [
    name,
    ...values.map((value) => (value === undefined ? 'all' : whole(value))),
  ];
  const rows = sources.map((source) =>
    row(
      source.name,
      columns.map(([, value]) => value(source)),
    ),
  );
  const all = sources.every(({ wanted }) => wanted !== undefined);
  const sums = columns.map(([name, value]) =>
    name === 'wanted' && !all ? undefined : sources.reduce((sum, source) => sum + (value(source) ?? 0), 0),
  );
  const total = sources.length > 1 ? [row('together', sums)] : [];
  return table([['source', ...columns.map(([name]) => name)], ...rows, ...total]);
}

function againstText({ against, sources }: MixReport): string {
  const sum = (value: (source: SourceReport) => number): number => sources.reduce((all, source) => all + value(source), 0);
  const sets = against.map(({ name, problems }) => `${name} (${whole(problems)})`).join(', ');
  const templates = sum((source) => source.templates);
  const tail = templates === 0 ? '' : ` ${whole(templates)} share the wording of one, with other numbers.`;
  return `Compared with ${sets}: ${whole(sum((source) => source.contaminated))} rows were left out.${tail}`;
}

const TITLES: Readonly<Record<RemovedPair['why'], string>> = {
  'evaluation exact': 'An evaluation problem, word by word',
  'evaluation ngram': 'An evaluation problem, inside or reformatted',
  'evaluation near': 'An evaluation problem, edited',
  'evaluation template': 'Wording of an evaluation problem, other numbers',
  exact: 'Copies',
  near: 'Near copies',
};

/** Of each kind in the text. */
const SHOWN = 3;
const CHARACTERS = 160;

function examples(pairs: readonly RemovedPair[]): string {
  const kinds = Object.keys(TITLES) as RemovedPair['why'][];
  return kinds
    .flatMap((why) => {
      const some = pairs.filter((pair) => pair.why === why).slice(0, SHOWN);
      if (some.length === 0) return [];
      const fate = some[0]!.removed ? 'left out' : 'kept';
      const lines = some.flatMap(({ similarity, row, equals }) => [
        `  ${row.where}${similarity < 1 ? ` (${Math.round(similarity * 100)}%)` : ''}: ${shortened(row.text)}`,
        `  = ${equals.where}: ${shortened(equals.text)}`,
      ]);
      return [`${TITLES[why]} (${fate}), for example:\n${lines.join('\n')}`];
    })
    .join('\n');
}

/** One line; its middle left out where it is long. */
export function shortened(text: string, most = CHARACTERS): string {
  const line = printable(text);
  if (line.length <= most) return line;
  const half = Math.floor((most - 3) / 2);
  return `${line.slice(0, half)} … ${line.slice(-half)}`;
}

/** Texts come from anywhere: nothing in them may steer the terminal. */
const printable = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();

export function diversityText(columns: readonly (readonly [string, Diversity])[]): string {
  const line = (name: string, value: (diversity: Diversity) => string): string[] => [name, ...columns.map(([, one]) => value(one))];
  const top = (shares: readonly Share[]): string =>
    shares
      .slice(0, 3)
      .map(({ name, share }) => `${name} ${Math.round(share * 100)}%`)
      .join(', ');
  return table([
    ['diversity', ...columns.map(([name]) => name)],
    line('rows', ({ rows }) => whole(rows)),
    line('words a text', ({ wordsPerText }) => wordsPerText.toFixed(1)),
    line('kinds', ({ abilities }) => top(abilities)),
    line('sources', ({ sources }) => top(sources)),
    line('entropy of sources, bits', ({ sourceEntropy }) => sourceEntropy.toFixed(2)),
    line('vocabulary of the sample', ({ vocabulary, sample }) => `${whole(vocabulary)} of ${whole(sample)} texts`),
    line('entropy of words, bits', ({ wordEntropy }) => wordEntropy.toFixed(2)),
    line('distinct runs of 2, 3 words', ({ distinct2, distinct3 }) => `${distinct2.toFixed(3)}, ${distinct3.toFixed(3)}`),
    line('wording of their own', ({ ownWording }) => `${Math.round(ownWording * 100)}%`),
    line('similarity to the nearest', ({ nearestSimilarity }) => nearestSimilarity.toFixed(3)),
  ]);
}

/** @param hashes of the sources' files, in their order, where known */
export function mixCard(report: MixReport, plan: MixPlan, hashes: readonly (string | undefined)[]): DataCard {
  const { sources, against } = report;
  const sum = (value: (source: SourceReport) => number): number => sources.reduce((all, source) => all + value(source), 0);
  const { run, share, templates } = plan.contamination;
  const sets = against.map(({ name }) => name).join(', ');
  const { set } = report.diversity;
  return {
    title: plan.title,
    seed: report.seed,
    sources: sources.map(({ file, rows, kept, licence }, index) => ({
      name: file,
      rows,
      kept,
      ...(licence !== undefined && { licence }),
      ...(hashes[index] !== undefined && { hash: hashes[index] }),
    })),
    filters: [
      { name: 'bad rows', removed: sum(({ bad }) => bad) },
      { name: "the plan's `where`", removed: sum(({ filtered }) => filtered) },
      {
        name: 'length of the prompt',
        removed: sum(({ tooLong }) => tooLong),
        ...(report.prompt !== undefined && { detail: report.prompt }),
      },
      {
        name: 'problems of evaluation sets',
        removed: sum(({ contaminated }) => contaminated),
        detail:
          against.length === 0
            ? 'not looked for'
            : `${sets}; runs of ${run} words, ${share} of the problem; same wording with other numbers: ${templates === 'keep' ? 'kept' : 'left out'}`,
      },
      { name: 'copies', removed: sum(({ exact }) => exact), detail: plan.duplicates === 'keep' ? 'not looked for' : 'equal words' },
      {
        name: 'near copies',
        removed: sum(({ near }) => near),
        detail: plan.duplicates === 'near' ? 'equal numbers, nearly equal words' : 'not looked for',
      },
      { name: 'not drawn', removed: sum(({ available, kept }) => available - kept) },
    ],
    counts: {
      rows: report.rows,
      ...Object.fromEntries(set.abilities.map(({ name, rows }) => [`kind: ${name}`, rows])),
      ...Object.fromEntries(set.sources.map(({ name, rows }) => [`source: ${name}`, rows])),
    },
    notes: [
      `Diversity: vocabulary ${set.vocabulary}, distinct-2 ${set.distinct2.toFixed(3)}, distinct-3 ${set.distinct3.toFixed(3)}, nearest similarity ${set.nearestSimilarity.toFixed(3)} on ${set.sample} texts; entropy of sources ${set.sourceEntropy.toFixed(2)} bits.`,
      ...sources
        .filter(({ wanted, kept }) => wanted !== undefined && kept < wanted)
        .map(({ name, wanted, kept }) => `${name}: ${wanted} rows were wanted, ${kept} were there.`),
    ],
  };
}
