/** An inspection as one self-contained page. Whatever stands in the set is escaped by the kit. */
import { type Html, html } from '../../html/html.js';
import { facts, folded, page, quote, section, table } from '../../html/page.js';
import { barPlot } from '../../html/plot.js';
import type { Findings, Inspection, NamedLengths } from './inspection.js';

export function inspectionPage(inspection: Inspection): string {
  const { file, format, kind, schema, rows } = inspection;
  return page({
    title: baseName(file),
    subtitle: `${whole(rows)} rows of ${format}: ${kind}${schema === undefined ? '' : `, schema ${schema}`}`,
    body: [
      ...(inspection.notes.length === 0
        ? []
        : [
            section(
              'Notes',
              inspection.notes.map((note) => html`<p>${note}</p>`),
            ),
          ]),
      columnsSection(inspection),
      ...countsSections(inspection),
      ...lengthsSections(inspection.lengths),
      ...toolsSection(inspection),
      ...difficultySection(inspection),
      findingsSection(
        'Broken rows',
        inspection.broken,
        ['row', 'what is wrong'],
        inspection.broken.first.map(({ where, error }) => [where, error]),
      ),
      findingsSection(
        `Duplicates: equal ${inspection.duplicates.compared}`,
        inspection.duplicates,
        ['row', 'the same as row'],
        inspection.duplicates.first.map(({ where, firstRow }) => [where, firstRow]),
      ),
      findingsSection(
        'Private',
        inspection.privacy,
        ['row', 'column', 'what', 'masked'],
        inspection.privacy.first.map(({ where, column, kind: what, excerpt }) => [where, column, what, excerpt]),
      ),
      section(
        'Examples',
        inspection.examples.map(({ where, parts }, i) => {
          const shown = parts.map(({ name, text }) => html`<h3>${name}</h3>${quote(text)}`);
          return i === 0 ? html`<h3>${where}</h3>${shown}` : folded(where, shown);
        }),
      ),
    ],
  });
}

function columnsSection({ columns, furtherColumns }: Inspection): Html {
  return section(
    'Columns',
    table(
      [
        ['column', 'type', 'missing', 'longest', 'values'],
        ...columns.map(({ name, type, missing, longest, values }) => [
          name,
          type,
          missing === 0 ? '' : whole(missing),
          longest === undefined ? '' : whole(longest),
          values?.map(({ name: value, count }) => `${value}: ${whole(count)}`).join(', ') ?? '',
        ]),
      ],
      { left: [1, 4] },
    ),
    furtherColumns > 0 && html`<p class="soft">and ${whole(furtherColumns)} values of further columns</p>`,
  );
}

function countsSections({ counts, rows }: Inspection): Html[] {
  return Object.entries(counts).map(([name, list]) =>
    section(`By ${name}`, table([[name, 'rows', 'share'], ...list.map((one) => [one.name, whole(one.count), percent(one.count / rows)])])),
  );
}

function lengthsSections(lengths: readonly NamedLengths[]): Html[] {
  if (lengths.length === 0) return [];
  return [
    section(
      'Lengths',
      table([
        ['', 'least', 'median', '90 %', '99 %', 'most', 'mean'],
        ...lengths.map(({ name, unit, min, median, p90, p99, max, mean }) => [
          `${name}, ${unit}`,
          ...[min, median, p90, p99, max, Math.round(mean)].map(whole),
        ]),
      ]),
      lengths.map(({ name, unit, histogram }) =>
        barPlot({
          caption: `${name}, ${unit}`,
          bars: histogram.map(({ from, count }) => ({ label: whole(from), value: count })),
          x: unit,
          y: { label: 'rows' },
        }),
      ),
    ),
  ];
}

function toolsSection({ tools }: Inspection): Html[] {
  if (tools === undefined || tools.conversations === 0) return [];
  const { conversations, calls } = tools;
  const share = (count: number): string => `${whole(count)} (${percent(count / conversations)})`;
  const ofCalls = (count: number): string => `${whole(count)} (${percent(calls.total === 0 ? 0 : count / calls.total)})`;
  return [
    section(
      'Tools',
      facts([
        ['conversations', whole(conversations)],
        ['with calls', share(tools.withCalls)],
        ['calls', whole(calls.total)],
        ['succeeded, as far as the results tell', ofCalls(calls.succeeded)],
        ['failed', ofCalls(calls.failed)],
        ['without a result', ofCalls(calls.unanswered)],
        ['with text or thinking before a call', share(tools.withAnalysis)],
        ['with a failed call', share(tools.withFailure)],
        ['and one that succeeded after it', share(tools.withRecovery)],
        ['with thinking', share(tools.withThinking)],
        ['with a system message', share(tools.withSystem)],
        ['with a list of tools', share(tools.withTools)],
        ['with a boxed answer at the end', share(tools.withAnswer)],
      ]),
      tools.callsByName.length > 0 &&
        table([
          ['calls of', 'number', 'share'],
          ...tools.callsByName.map(({ name, count }) => [name, whole(count), percent(count / Math.max(1, calls.total))]),
        ]),
      tools.callsPerConversation !== undefined &&
        barPlot({
          caption: 'Calls per conversation',
          bars: tools.callsPerConversation.histogram.map(({ from, count }) => ({ label: whole(from), value: count })),
          x: 'calls',
          y: { label: 'conversations' },
        }),
    ),
  ];
}

function difficultySection({ difficulty }: Inspection): Html[] {
  if (difficulty === undefined) return [];
  const { levels, labels, unlabelled } = difficulty;
  return [
    section(
      'Difficulty',
      barPlot({
        caption: 'Problems by right rollouts',
        bars: levels.map((count, k) => ({ label: `${k}/${levels.length - 1}`, value: count })),
        x: 'right rollouts',
        y: { label: 'problems' },
      }),
      facts([
        ...Object.entries(labels).map(([name, count]) => [name, whole(count)] as const),
        ['too few valid rollouts', whole(unlabelled)],
      ]),
    ),
  ];
}

function findingsSection<T>(
  heading: string,
  { count, first }: Findings<T>,
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): Html {
  if (count === 0) return section(heading, html`<p class="soft">none</p>`);
  const more = count - first.length;
  return section(
    `${heading} (${whole(count)})`,
    table([head, ...rows], { left: head.map((_, i) => i) }),
    more > 0 && html`<p class="soft">and ${whole(more)} more</p>`,
  );
}

const baseName = (file: string): string => file.split(/[\\/]/).at(-1) ?? file;
const whole = (value: number): string => value.toLocaleString('en-US');
const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
