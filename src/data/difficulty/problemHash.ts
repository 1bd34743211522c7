/** A problem by what it says: two files that hold the same problem under different ids agree on it. */
import { createHash } from 'node:crypto';
import type { Problem } from '../../domain/problem.js';

/** 32 hexadecimal digits of SHA-256 over question, answers, kind, options and tests. */
export function problemHash(problem: Problem & { readonly alternatives?: unknown }): string {
  const { question, answer, alternatives, kind, options, tests } = problem;
  return hashOf([question, answer ?? null, alternatives ?? null, kind ?? 'math', options ?? null, tests ?? null]);
}

/** The same of anything that JSON can write; keys of objects in any order. */
export function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value, sorted)).digest('hex').slice(0, 32);
}

function sorted(_: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}
