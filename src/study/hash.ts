/** What decides a result, and its hash: equal arms are found by it, whatever they are called. Pure. */
import { createHash } from 'node:crypto';
import { isPlain } from '../recipe/merge.js';
import type { Recipe } from '../recipe/schema.js';

/** Short, the same for equal values whatever the order of their keys. */
export const hashOf = (value: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify(sorted(value)))
    .digest('hex')
    .slice(0, 16);

/** Without what changes no result; the seed is the block's. */
export function decisive(recipe: Recipe): unknown {
  const { name, description, follows, seed, checkpoints, ...rest } = recipe;
  return rest;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isPlain(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  );
}
