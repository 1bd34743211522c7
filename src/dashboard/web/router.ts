/**
 * Addresses of the page's views, as text and as data: `#/run/RUN/curves?stage=rl&from=10&to=20`. Everything that a view shows by choice
 * stands in its address. Knows no view and no browser: see `navigation.ts`.
 */

export type Query = Readonly<Record<string, readonly string[]>>;

export interface Route {
  /** Decoded parts of the path, for example `['run', 'demo/act-1', 'curves']`. */
  readonly segments: readonly string[];
  readonly query: Query;
}

/** What to change: undefined or an empty list takes a name away. */
export type QueryPatch = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** Never throws: what is not encoded well is taken as it stands. */
export function parseHash(hash: string): Route {
  const text = hash.replace(/^#\/?/, '');
  const mark = text.indexOf('?');
  const path = mark < 0 ? text : text.slice(0, mark);
  const query: Record<string, string[]> = Object.create(null);
  for (const [name, value] of new URLSearchParams(mark < 0 ? '' : text.slice(mark + 1))) {
    query[name] ??= [];
    query[name].push(value);
  }
  const segments = path
    .split('/')
    .filter((part) => part !== '')
    .map(decoded);
  return { segments, query };
}

/** The address of a view, to be put into `href`. */
export function href(segments: readonly (string | number)[], query: QueryPatch = {}): string {
  return formatRoute({ segments: segments.map(String), query: patched({}, query) });
}

export function formatRoute({ segments, query }: Route): string {
  const search = new URLSearchParams();
  for (const [name, values] of Object.entries(query)) for (const value of values) search.append(name, value);
  const text = search.toString();
  return `#/${segments.map(encodeURIComponent).join('/')}${text === '' ? '' : `?${text}`}`;
}

/** A name keeps its place, a new one comes last, so that addresses stay readable. */
export function patched(query: Query, patch: QueryPatch): Query {
  const entries = new Map<string, readonly string[]>(Object.entries(query));
  for (const [name, value] of Object.entries(patch)) {
    const values = value === undefined ? [] : Array.isArray(value) ? (value as readonly string[]) : [String(value)];
    if (values.length === 0) entries.delete(name);
    else entries.set(name, values);
  }
  return Object.fromEntries(entries);
}

export const oneOf = (query: Query, name: string): string | undefined => query[name]?.[0];

export const manyOf = (query: Query, name: string): readonly string[] => query[name] ?? [];

/** Undefined where there is none, or where it is no finite number. */
export function numberOf(query: Query, name: string): number | undefined {
  const text = oneOf(query, name);
  if (text === undefined || text.trim() === '') return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
