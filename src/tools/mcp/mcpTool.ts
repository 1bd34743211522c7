/**
 * Tools as an MCP server lists them, made fit for a model: names that a call may have, descriptions of bounded length without characters that
 * nobody sees, and a hash of all of it. A server's words are data: they are shown and hashed, and nothing in them is obeyed.
 */
import { createHash } from 'node:crypto';
import { UserError } from '../../userError.js';
import { canonicalJson } from '../canonicalJson.js';
import type { JsonSchema } from '../jsonSchema.js';

/** As the server lists it. */
export interface ListedTool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema: JsonSchema;
}

export interface McpToolInfo {
  /** As the model calls it. */
  readonly name: string;
  /** As the server calls it. */
  readonly serverName: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
}

const LONGEST_NAME = 64;
const LONGEST_DESCRIPTION = 2000;
const LONGEST_FIELD = 500;
/** Characters of a schema as JSON: it stands in every prompt. */
const LONGEST_SCHEMA = 20_000;

export interface Wanted {
  readonly include?: readonly string[] | undefined;
  readonly exclude?: readonly string[] | undefined;
  readonly prefix?: string | undefined;
}

/**
 * @param server for messages
 * @throws UserError for names that the server does not have, tools that would have the same name, a schema that is too long
 */
export function chooseTools(listed: readonly ListedTool[], { include, exclude = [], prefix = '' }: Wanted, server: string): McpToolInfo[] {
  const byName = new Map(listed.map((tool) => [tool.name, tool]));
  const unknown = [...(include ?? []), ...exclude].filter((name) => !byName.has(name));
  if (unknown.length > 0) {
    throw new UserError(
      `the MCP server ${server} has no tool ${[...new Set(unknown)].join(', ')}`,
      `It has: ${[...byName.keys()].join(', ') || 'none'}.`,
    );
  }
  const wanted = include === undefined ? [...byName.values()] : [...new Set(include)].map((name) => byName.get(name)!);
  const taken = new Map<string, string>();
  return wanted
    .filter(({ name }) => !exclude.includes(name))
    .map(({ name: serverName, description = '', inputSchema }) => {
      const name = callable(prefix + serverName);
      const other = taken.get(name);
      if (other !== undefined) {
        throw new UserError(
          `the tools ${JSON.stringify(other)} and ${JSON.stringify(serverName)} of the MCP server ${server} would both be called ${name}`,
          'Leave one out with exclude.',
        );
      }
      taken.set(name, serverName);
      const schema = fieldsCleaned(inputSchema) as JsonSchema;
      const { length } = JSON.stringify(schema);
      if (length > LONGEST_SCHEMA) {
        throw new UserError(
          `the tool ${JSON.stringify(serverName)} of the MCP server ${server} has a schema of ${length} characters, more than ${LONGEST_SCHEMA}`,
          'It would stand in every prompt: leave it out with exclude.',
        );
      }
      return { name, serverName, description: cleaned(description, LONGEST_DESCRIPTION), inputSchema: schema };
    });
}

/** Letters, digits, `_` and `-`; a long one is cut, and told apart by a hash of the whole. */
function callable(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9_-]/g, '_') || '_';
  return plain.length <= LONGEST_NAME ? plain : `${plain.slice(0, LONGEST_NAME - 9)}_${sha256(name).slice(0, 8)}`;
}

// Controls but newline and tab, directions of writing, zero widths, tags, private and variation selectors in other planes.
const UNSEEN = /\p{Cc}|\p{Cf}|\p{Co}|\p{Cs}|\u115F|\u1160|\u3164|\uFFA0|[\u{E0100}-\u{E01EF}]/gu;

/** As a person would see it, and no longer than that. */
export function cleaned(text: string, longest: number): string {
  const seen = text.replace(UNSEEN, (character) => (character === '\n' || character === '\t' ? character : '')).trim();
  return seen.length <= longest ? seen : `${seen.slice(0, longest).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** Descriptions and titles in a schema. */
function fieldsCleaned(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null || depth > 64) return value;
  if (Array.isArray(value)) return value.map((item) => fieldsCleaned(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const prose = (key === 'description' || key === 'title') && typeof inner === 'string';
      return [key, prose ? cleaned(inner, LONGEST_FIELD) : fieldsCleaned(inner, depth + 1)];
    }),
  );
}

/** The same for the same tools in whatever order; of the words as the server gave them. */
export function hashOf(listed: readonly ListedTool[]): string {
  const all = listed.map(({ name, description = '', inputSchema }) => canonicalJson([name, description, inputSchema])).sort();
  return sha256(all.join('\n')).slice(0, 12);
}

/** For a person; undefined where they are the same. */
export function changesOf(before: readonly ListedTool[], after: readonly ListedTool[]): string | undefined {
  const was = new Map(before.map((tool) => [tool.name, hashOf([tool])]));
  const is = new Map(after.map((tool) => [tool.name, hashOf([tool])]));
  const changes = [
    ['new', [...is.keys()].filter((name) => !was.has(name))],
    ['gone', [...was.keys()].filter((name) => !is.has(name))],
    ['changed', [...is].filter(([name, hash]) => was.has(name) && was.get(name) !== hash).map(([name]) => name)],
  ] as const;
  const told = changes.filter(([, names]) => names.length > 0).map(([how, names]) => `${names.join(', ')} ${how}`);
  return told.length === 0 ? undefined : `its tools changed: ${told.join('; ')}`;
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
