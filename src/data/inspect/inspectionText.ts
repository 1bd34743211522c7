/** An inspection as a terminal shows it. */

import type { Findings, Inspection, NamedLengths } from './inspection.js';
import type { Count } from './tally.js';

export function inspectionText(inspection: Inspection): string {
  const { file, format, kind, schema, rows } = inspection;
  return [
    `${visible(file)}: ${whole(rows)} rows of ${format}, ${kind}${schema === undefined ? '' : `, schema ${schema}`}`,
    columnsText(inspection),
    ...Object.entries(inspection.counts).map(([name, counts]) => countsText(name, counts, rows)),
    lengthsText(inspection.lengths),
    toolsText(inspection),
    difficultyText(inspection),
    findingsText('Broken rows', inspection.broken, ({ where, error }) => `${where}: ${error}`),
    findingsText(
      `Duplicates (equal ${inspection.duplicates.compared})`,
      inspection.duplicates,
      ({ where, firstRow }) => `${where}: the same as row ${firstRow}`,
    ),
    findingsText(
      'Private',
      inspection.privacy,
      ({ where, column, kind: what, excerpt }) => `${where}, ${column}: ${what} ${excerpt}`,
      inspection.privacy.byKind.map(({ name, count }) => `${count} ${name}`).join(', '),
    ),
    ...inspection.notes.map((note) => `Note: ${visible(note)}`),
    examplesText(inspection),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function columnsText({ columns, furtherColumns }: Inspection): string {
  if (columns.length === 0) return '';
  const rows = columns.map(({ name, type, missing, longest, values }) => [
    name,
    type,
    missing === 0 ? '' : `${whole(missing)} missing`,
    longest === undefined ? '' : `up to ${whole(longest)} characters`,
    values === undefined ? '' : values.map(({ name: value, count }) => `${value} ${whole(count)}`).join(', '),
  ]);
  const lines = aligned([['Column', 'Type', '', '', ''], ...rows], [28, 60, 0, 0, 100]);
  return [...lines, ...(furtherColumns > 0 ? [`… and ${whole(furtherColumns)} values of further columns`] : [])].join('\n');
}

function countsText(name: string, counts: readonly Count[], rows: number): string {
  const lines = counts.map(({ name: value, count }) => [value, whole(count), percent(count / rows), bar(count / rows)]);
  return aligned([[`By ${name}`, 'rows', '', ''], ...lines], [60, 0, 0, 0], [1, 2]).join('\n');
}

function lengthsText(lengths: readonly NamedLengths[]): string {
  if (lengths.length === 0) return '';
  const rows = lengths.map(({ name, unit, min, median, p90, p99, max, mean }) => [
    `${name}, ${unit}`,
    ...[min, median, p90, p99, max, Math.round(mean)].map(whole),
  ]);
  const head = ['Lengths', 'least', 'median', '90%', '99%', 'most', 'mean'];
  const shown = lengths.findLast(({ unit }) => unit === 'tokens') ?? lengths[0]!;
  return [...aligned([head, ...rows], [], [1, 2, 3, 4, 5, 6]), '', ...histogramLines(shown)].join('\n');
}

function histogramLines({ name, unit, histogram }: NamedLengths): string[] {
  const most = Math.max(1, ...histogram.map(({ count }) => count));
  const rows = histogram.map(({ from, to, count }) => [
    to - from === 1 ? whole(from) : `${whole(from)}–${whole(to - 1)}`,
    whole(count),
    bar(count / most),
  ]);
  return aligned([[`${name}, ${unit}`, 'rows', ''], ...rows], [], [1]);
}

function toolsText({ tools }: Inspection): string {
  if (tools === undefined || tools.conversations === 0) return '';
  const { conversations, calls, callsPerConversation } = tools;
  const share = (count: number): string => `${whole(count)} (${percent(count / conversations).trim()})`;
  const ofCalls = (count: number): string => `${whole(count)} (${percent(calls.total === 0 ? 0 : count / calls.total).trim()})`;
  const rows: [string, string][] = [
    ['with calls', share(tools.withCalls)],
    ['calls per conversation', callsPerConversation === undefined ? '–' : spread(callsPerConversation)],
    ['calls', whole(calls.total)],
    ['… succeeded, as far as the results tell', ofCalls(calls.succeeded)],
    ['… failed', ofCalls(calls.failed)],
    ['… without a result', ofCalls(calls.unanswered)],
    ['with text or thinking before a call', share(tools.withAnalysis)],
    ['with a failed call', share(tools.withFailure)],
    ['… and one that succeeded after it', share(tools.withRecovery)],
    ['with thinking', share(tools.withThinking)],
    ['with a system message', share(tools.withSystem)],
    ['with a list of tools', share(tools.withTools)],
    ['with a boxed answer at the end', share(tools.withAnswer)],
    ...tools.callsByName.map(({ name, count }): [string, string] => [`calls of ${name}`, ofCalls(count)]),
  ];
  return aligned([[`Tools, in ${whole(conversations)} conversations`, ''], ...rows], [60, 0], [1]).join('\n');
}

const spread = ({
  min,
  median,
  max,
  mean,
}: {
  readonly min: number;
  readonly median: number;
  readonly max: number;
  readonly mean: number;
}): string => `${min} to ${max}, median ${median}, mean ${mean.toFixed(2)}`;

function difficultyText({ difficulty }: Inspection): string {
  if (difficulty === undefined) return '';
  const { levels, unlabelled, labels } = difficulty;
  const most = Math.max(1, ...levels);
  const rows = levels.map((count, k) => [`${k}/${levels.length - 1}`, whole(count), bar(count / most)]);
  const summary = Object.entries(labels)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${whole(count)} ${name}`)
    .join(', ');
  return [
    ...aligned([['Right rollouts', 'problems', ''], ...rows], [], [1]),
    `${summary}${unlabelled > 0 ? `; ${whole(unlabelled)} with too few valid rollouts` : ''}`,
  ].join('\n');
}

function findingsText<T>(name: string, { count, first }: Findings<T>, line: (finding: T) => string, kinds = ''): string {
  if (count === 0) return `${name}: none`;
  const more = count - first.length;
  const lines = first.map((finding) => `  ${clipped(visible(line(finding)), 200)}`);
  return [
    `${name}: ${whole(count)}${kinds === '' ? '' : ` (${kinds})`}`,
    ...lines,
    ...(more > 0 ? [`  … and ${whole(more)} more`] : []),
  ].join('\n');
}

const EXAMPLE_LINES = 12;

function examplesText({ examples }: Inspection): string {
  return examples
    .map(({ where, parts }) => {
      const lines = parts.flatMap(({ name, text }) => {
        const all = visible(text).trimEnd().split('\n');
        const shown = all.slice(0, EXAMPLE_LINES).map((line) => `    ${clipped(line, 160)}`);
        return [
          `  ${clipped(visible(name), 80)}:`,
          ...shown,
          ...(all.length > EXAMPLE_LINES ? [`    … ${all.length - EXAMPLE_LINES} more lines`] : []),
        ];
      });
      return [`Example, ${visible(where)}`, ...lines].join('\n');
    })
    .join('\n\n');
}

/** Columns side by side, each as wide as its widest cell but no wider than asked; 0 and absent: as wide as it is. */
function aligned(rows: readonly (readonly string[])[], widest: readonly number[] = [], right: readonly number[] = []): string[] {
  const cells = rows.map((row) => row.map((cell, i) => (widest[i] ? clipped(visible(cell), widest[i]) : visible(cell))));
  const widths = (cells[0] ?? []).map((_, i) => Math.max(...cells.map((row) => [...(row[i] ?? '')].length)));
  return cells.map((row) =>
    `  ${row
      .map((cell, i) => (right.includes(i) ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!)))
      .join('  ')
      .trimEnd()}`.replace(/^ {2}/, row === cells[0] ? '' : '  '),
  );
}

const BAR = 24;

function bar(share: number): string {
  const eighths = Math.round(Math.min(1, Math.max(0, share)) * BAR * 8);
  return `${'█'.repeat(Math.floor(eighths / 8))}${['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'][eighths % 8]}`;
}

/** What is in a file must not move the cursor or change colours; line breaks stay. */
const visible = (text: string): string =>
  text.replace(/[^\P{Cc}\n]|[\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, (char) => (char === '\t' ? ' ' : '�'));
const clipped = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
const whole = (value: number): string => value.toLocaleString('en-US');
const percent = (share: number): string => `${(100 * share).toFixed(1)}%`;
