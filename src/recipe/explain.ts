/** Turns what the schema found wrong into sentences a person can act on: where, what was expected, what came. Does not read files. */
import type { z } from 'zod';
import { keysAt, pathsEndingIn, takesKind, takesMap, wanted } from './jsonShape.js';
import { isPlain, type Plain, show } from './merge.js';
import { nearest } from './nearest.js';

type Path = readonly (string | number)[];

/** File and line of a place, or the option that set it; absent where nobody wrote it. */
export type Locate = (path: Path) => string | undefined;

type Issue = z.core.$ZodIssue;

/** One sentence a mistake. */
export function explain(issues: readonly Issue[], input: Plain, locate: Locate): string[] {
  return issues.flatMap((issue) => sentences(issue, [], input, locate));
}

function sentences(issue: Issue, prefix: Path, input: Plain, locate: Locate): string[] {
  const path = [...prefix, ...(issue.path as Path)];
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey([...path, key], locate));
  if (issue.code === 'invalid_union') {
    const branch = nearestBranch(issue.errors);
    if (branch) return branch.flatMap((inner) => sentences(inner, path, input, locate));
  }
  return [wrongValue(path, valueAt(input, path), locate)];
}

/** Of several forms the one that was meant: its type and its fixed words fit, and only something inside is wrong. */
function nearestBranch(errors: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  const meant = errors.filter((branch) =>
    branch.every(
      (issue) =>
        issue.code === 'unrecognized_keys' || (issue.path.length > 0 && !(issue.code === 'invalid_value' && issue.values.length === 1)),
    ),
  );
  const wrongKind = (branch: readonly Issue[]) => branch.some((issue) => issue.code === 'invalid_value');
  const better = meant.filter((branch) => !wrongKind(branch));
  const from = better.length > 0 ? better : meant;
  return [...from].sort((a, b) => a.length - b.length)[0];
}

function unknownKey(path: Path, locate: Locate): string {
  const key = String(path.at(-1));
  const parent = path.slice(0, -1);
  const near = nearest(key, keysAt(parent));
  if (near === key)
    return `${at(path, locate)}${path.join('.')} does not go with what else stands there: ${parent.join('.')} must be ${wanted(parent)}.`;
  const elsewhere = pathsEndingIn(key);
  const guess =
    near !== undefined
      ? ` Did you mean ${[...parent, near].join('.')}?`
      : elsewhere.length > 0
        ? ` Did you mean ${elsewhere.join(' or ')}?`
        : ` Known here: ${keysAt(parent).join(', ')}.`;
  return `${at(path, locate)}unknown key ${path.join('.')}.${guess}`;
}

function wrongValue(path: Path, value: unknown, locate: Locate): string {
  const name = path.join('.') || 'the recipe';
  if (value === undefined) return `${at(path, locate)}${name} is missing: it must be ${wanted(path)}.`;
  const near = typeof value === 'string' ? nearest(value, wordsOf(wanted(path))) : undefined;
  return `${at(path, locate)}${name} must be ${wanted(path)}; it is ${shown(value)}.${near ? ` Did you mean ${near}?` : ''}${trap(path, value)}`;
}

const wordsOf = (text: string): string[] => (text.includes('one of ') ? text.slice(text.indexOf('one of ') + 7).split(/, | or /) : []);

const shown = (value: unknown): string =>
  typeof value === 'string'
    ? `the text ${JSON.stringify(value)}`
    : isPlain(value)
      ? `a map (${Object.keys(value).join(', ')})`
      : show(value);

/** What YAML 1.2 reads otherwise than people expect. */
function trap(path: Path, value: unknown): string {
  if (typeof value !== 'string') {
    const meantAsText = takesKind(path, 'string') && !(typeof value === 'object' && takesMap(path));
    return meantAsText ? ' Put it in quotes to make it text.' : '';
  }
  const digits = value.replaceAll(/[_, ]/g, '');
  if (takesKind(path, 'number') && digits !== value && digits !== '' && Number.isFinite(Number(digits))) {
    return ` YAML reads ${value} as text: write ${digits}.`;
  }
  if (takesKind(path, 'number') && value.trim() !== '' && Number.isFinite(Number(value))) {
    return ` It is text because of its form or its quotes: write ${Number(value)}.`;
  }
  if (takesKind(path, 'boolean') && /^(yes|on|y)$/i.test(value)) return ` YAML 1.2 reads ${value} as text: write true.`;
  if (takesKind(path, 'boolean') && /^(no|off|n)$/i.test(value)) return ` YAML 1.2 reads ${value} as text: write false.`;
  return '';
}

/** The nearest place above that somebody wrote. */
function at(path: Path, locate: Locate): string {
  for (let depth = path.length; depth > 0; depth--) {
    const place = locate(path.slice(0, depth));
    if (place !== undefined) return `${place}: `;
  }
  return '';
}

function valueAt(input: Plain, path: Path): unknown {
  let value: unknown = input;
  for (const key of path) value = typeof value === 'object' && value !== null ? (value as Plain)[key] : undefined;
  return value;
}
