/** The filter of the list of problems as it stands in an address. Pure. */
import { oneOf, type Query } from '../router.js';

export const PROBLEM_SORTS = {
  hardest: 'hardest first',
  easiest: 'easiest first',
  changed: 'most changed first',
  rollouts: 'most rollouts',
  newest: 'met last',
  oldest: 'met first',
  name: 'by name',
} as const;
export type ProblemSort = keyof typeof PROBLEM_SORTS;

export interface ProblemFilter {
  readonly split?: string;
  readonly text?: string;
  readonly sort?: ProblemSort;
}

export function problemFilterOf(query: Query): ProblemFilter {
  const split = oneOf(query, 'split');
  const text = oneOf(query, 'text');
  const sort = oneOf(query, 'sort');
  return {
    ...(split && { split }),
    ...(text && { text }),
    ...(sort !== undefined && Object.hasOwn(PROBLEM_SORTS, sort) && sort !== 'hardest' && { sort: sort as ProblemSort }),
  };
}
