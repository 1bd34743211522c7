/**
 * The card of a set: where it comes from, what was left out and why, and how to make it again. Stands beside the set as Markdown for people
 * and as JSON for programs. Holds no keys, no addresses and no paths of the machine it was made on.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { packageVersion } from '../session/versions.js';
import { licenceOf } from './licences.js';
import { maskPrivate } from './privacy.js';
import { writeWhole } from './writeWhole.js';

export interface DataCard {
  readonly title: string;
  readonly sources: readonly CardSource[];
  readonly filters: readonly CardFilter[];
  /** By name, in the order they are shown: `rows`, `kind: math`, ... */
  readonly counts: Readonly<Record<string, number>>;
  readonly seed?: number;
  readonly notes?: readonly string[];
}

export interface CardSource {
  /** A file, an address on the hub, a generator. A path is reduced to the name of its file. */
  readonly name: string;
  /** Rows read. */
  readonly rows: number;
  /** Rows of it that are in the set. */
  readonly kept: number;
  /** Absent: that of the known public set it is, else "not known". */
  readonly licence?: string;
  /** Of the source's content, as `sha256:...` or a commit. */
  readonly hash?: string;
}

export interface CardFilter {
  readonly name: string;
  /** Rows that it left out. */
  readonly removed: number;
  readonly detail?: string;
}

/** What stands in `<set>.card.json`: the card, with all names made public, and how it was made. */
export interface WrittenCard extends DataCard {
  readonly set: { readonly file: string; readonly bytes: number; readonly sha256: string };
  /** ISO 8601, UTC. */
  readonly date: string;
  readonly command: string;
  readonly versions: Readonly<Record<string, string>>;
}

/**
 * Writes `<set>.card.md` and `<set>.card.json` beside a set that is there; returns the path of the first. A card of an earlier set of this
 * name is replaced: it would be wrong.
 */
export async function writeCard(setFile: string, card: DataCard, argv: readonly string[] = process.argv): Promise<string> {
  const written: WrittenCard = {
    title: publicText(card.title),
    set: { file: basename(setFile), bytes: (await stat(setFile)).size, sha256: await sha256Of(setFile) },
    sources: card.sources.map(publicSource),
    filters: card.filters.map(({ name, removed, detail }) => ({
      name: publicText(name),
      removed,
      ...(detail !== undefined && { detail: publicText(detail) }),
    })),
    counts: Object.fromEntries(Object.entries(card.counts).map(([name, count]) => [publicText(name), count])),
    ...(card.seed !== undefined && { seed: card.seed }),
    ...(card.notes !== undefined && { notes: card.notes.map(publicText) }),
    command: cardCommand(argv),
    versions: { toolwise: packageVersion(), node: process.version },
    date: new Date().toISOString(),
  };
  const file = `${setFile}.card.md`;
  await writeWhole(`${setFile}.card.json`, `${JSON.stringify(written, null, 2)}\n`);
  await writeWhole(file, markdownOf(written));
  return file;
}

function publicSource({ name, rows, kept, licence, hash }: CardSource): CardSource {
  return {
    name: publicName(name),
    rows,
    kept,
    licence: licence ?? licenceOf(name) ?? 'not known',
    ...(hash !== undefined && { hash }),
  };
}

export async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

/** The command line as it can be shown: keys masked, paths of this machine reduced to file names. */
export function cardCommand(argv: readonly string[]): string {
  return ['npx toolwise', ...argv.slice(2).map((arg) => shellWord(publicName(arg)))].join(' ');
}

const shellWord = (word: string): string => (/^[\w@%+=:,./-][\w@%+=:,./#-]*$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/** Keys and addresses masked; absolute paths, and paths that leave the folder, reduced to the last name; credentials taken out of URLs. */
export function publicText(text: string): string {
  const bare = maskPrivate(text).replace(/(?<=[a-z]:\/\/)[^\s/@]+@/g, '');
  return bare.replace(PRIVATE_PATH, (path) => path.split(/[\\/]/).filter(Boolean).at(-1) ?? path);
}

/** As `publicText`, of what is one path as a whole, behind `--option=` or not: there a blank belongs to the name. */
function publicName(name: string): string {
  const [, option = '', path] = /^(--[\w-]+=)?((?:file:\/\/)?(?:[\\/]|~|\.\.[\\/]|[A-Za-z]:[\\/]).*)$/s.exec(name) ?? [];
  return path === undefined ? publicText(name) : option + publicText(path.split(/[\\/]/).filter(Boolean).at(-1) ?? path);
}

/** A path from the root, from a home folder, upwards, or with a drive: at least one folder, then a name. Not what follows a host in a URL. */
const PRIVATE_PATH =
  /(?<![\w./\\:-]|:\/)(?:(?:file:\/\/)?(?:~[\w.-]*|\.\.)?[\\/]|[A-Za-z]:[\\/])(?:[^\\/\s:'"<>|,;()[\]{}]+[\\/])*[^\\/\s:'"<>|,;()[\]{}]+[\\/]?/g;

function markdownOf(card: WrittenCard): string {
  const lines = [
    `# ${inline(card.title)}`,
    '',
    `\`${card.set.file}\`, ${whole(card.set.bytes)} bytes, SHA-256 \`${card.set.sha256}\`.`,
    `Made ${card.date.slice(0, 10)} by Toolwise ${card.versions.toolwise} on Node ${card.versions.node}${card.seed === undefined ? '' : `, seed ${card.seed}`}:`,
    '',
    '```sh',
    card.command,
    '```',
    '',
    '## Sources',
    '',
    ...tableOf(
      ['source', 'rows', 'kept', 'licence', 'hash'],
      card.sources.map(({ name, rows, kept, licence = '', hash = '' }) => [name, whole(rows), whole(kept), licence, hash]),
    ),
    '',
    'A licence is that of the source as its makers state it; problems in it may have others.',
    '',
    '## Left out',
    '',
    ...(card.filters.length === 0
      ? ['Nothing.']
      : tableOf(
          ['filter', 'rows', 'detail'],
          card.filters.map(({ name, removed, detail = '' }) => [name, whole(removed), detail]),
        )),
    '',
    '## What is in it',
    '',
    ...tableOf(
      ['', 'count'],
      Object.entries(card.counts).map(([name, count]) => [name, whole(count)]),
    ),
    ...(card.notes === undefined || card.notes.length === 0 ? [] : ['', '## Notes', '', ...card.notes.map((note) => `- ${inline(note)}`)]),
    '',
  ];
  return lines.join('\n');
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.map((cell) => inline(cell).replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${head.map((_, i) => (i === 0 ? '---' : '---')).join('|')}|`, ...rows.map(line)];
}

/** On one line, and no markup of its own: names of sources and rows come from files. */
const inline = (text: string): string => text.replace(/\s+/g, ' ').replace(/[<>]/g, (char) => (char === '<' ? '&lt;' : '&gt;'));
const whole = (value: number): string => value.toLocaleString('en-US');
