/** Markdown from texts that somebody else wrote: nothing in them is a heading, a link, HTML or the end of a table's cell. Pure. */

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Controls, lone surrogates, and marks that turn the direction of text. */
const UNPRINTABLE = /[^\P{Cc}\t\n\r]|\p{Cs}|[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]/gu;

/** On one line; shown as it was written. */
export function markdown(text: string): string {
  return text
    .replace(UNPRINTABLE, '\ufffd')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/[&<>]|[\\`*_[\]|~$#]|:(?=\/\/)|(?<=www)\./gi, (char) => ENTITIES[char] ?? `\\${char}`)
    .replace(/^(?:[-+](?=\s|$)|-(?=[-\s]*$)|\d+[.)](?=\s|$))/, (start) => `${start.slice(0, -1)}\\${start.slice(-1)}`);
}

/** Cells are Markdown already. The first row is the head; the columns that are named stand to the right. */
export function markdownTable(rows: readonly (readonly (string | number)[])[], right: readonly number[] = []): string {
  const [head = [], ...body] = rows;
  const line = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), `|${head.map((_, i) => (right.includes(i) ? '---:|' : '---|')).join('')}`, ...body.map(line)].join('\n');
}

/** A block of code, fenced so that nothing in it ends it. */
export function fenced(language: string, text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}
