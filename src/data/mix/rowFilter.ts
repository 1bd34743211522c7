/** Which rows of a source a plan wants, by what the problem says of itself. */
import type { Problem } from '../../domain/problem.js';
import type { RowFilter } from './plan.js';

export function passes(problem: Problem, filter: RowFilter | undefined): boolean {
  if (filter === undefined) return true;
  const { kind, source, tags, minCharacters = 0, maxCharacters = Number.POSITIVE_INFINITY } = filter;
  if (kind !== undefined && !kind.includes(problem.kind ?? 'math')) return false;
  if (source !== undefined && !source.some((pattern) => matches(problem.source ?? '', pattern))) return false;
  if (problem.question.length < minCharacters || problem.question.length > maxCharacters) return false;
  return Object.entries(tags ?? {}).every(([name, wanted]) => {
    const value = problem.tags?.[name];
    return value !== undefined && (Array.isArray(wanted) ? wanted : [wanted]).includes(value);
  });
}

/** `*` stands for any text. */
function matches(text: string, pattern: string): boolean {
  const parts = pattern.split('*');
  if (parts.length === 1) return text === pattern;
  const [first, last] = [parts[0]!, parts.at(-1)!];
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return at <= text.length - last.length;
}
