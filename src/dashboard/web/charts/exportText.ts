/** The numbers of a chart as text for other programs. */
import type { LinePoints } from './lineData.js';

export interface NamedLine {
  readonly label: string;
  readonly points: LinePoints;
}

const FIELDS = ['y', 'faint', 'low', 'high'] as const;
const NAMES = { y: 'value', faint: 'raw', low: 'low', high: 'high' } as const;

/** One row a point of a line: `series,x,value,raw,low,high`; fields that no line has are left out. */
export function chartCsv(xName: string, lines: readonly NamedLine[]): string {
  const fields = fieldsOf(lines);
  const rows = [['series', xName, ...fields.map((field) => NAMES[field])].map(quoted).join(',')];
  for (const { label, points } of lines) {
    for (let i = 0; i < points.x.length; i++) {
      rows.push([quoted(label), points.x[i], ...fields.map((field) => points[field]?.[i] ?? '')].join(','));
    }
  }
  return `${rows.join('\r\n')}\r\n`;
}

export function chartJsonLines(xName: string, lines: readonly NamedLine[]): string {
  const fields = fieldsOf(lines);
  const rows: string[] = [];
  for (const { label, points } of lines) {
    for (let i = 0; i < points.x.length; i++) {
      const values = fields.filter((field) => points[field] !== undefined).map((field) => [NAMES[field], points[field]![i]]);
      rows.push(JSON.stringify({ series: label, [xName]: points.x[i], ...Object.fromEntries(values) }));
    }
  }
  return rows.map((row) => `${row}\n`).join('');
}

/** With smoothing, the smoothed value and the raw one; else the value alone. */
const fieldsOf = (lines: readonly NamedLine[]): readonly (typeof FIELDS)[number][] =>
  FIELDS.filter((field) => field === 'y' || lines.some(({ points }) => points[field] !== undefined));

/** A text that a spreadsheet would take for a formula is kept one by a quote before it. */
function quoted(text: string): string {
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}
