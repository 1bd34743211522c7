/** The filter of the list of groups as it stands in an address. Pure. */
import type { GroupQuery } from '../../api.js';
import { oneOf, type Query, type QueryPatch } from '../router.js';

export const GROUP_KINDS = {
  mixed: 'rewards differ',
  equal: 'rewards equal (no gradient)',
  allRight: 'all right',
  allWrong: 'all wrong',
} as const satisfies Readonly<Record<NonNullable<GroupQuery['kind']>, string>>;
export type GroupKind = keyof typeof GROUP_KINDS;

export const GROUP_SORTS = {
  newest: 'newest first',
  oldest: 'oldest first',
  spread: 'widest spread of rewards',
  '-reward': 'highest mean reward',
  reward: 'lowest mean reward',
} as const satisfies Readonly<Record<NonNullable<GroupQuery['sort']>, string>>;
export type GroupSort = keyof typeof GROUP_SORTS;

export interface GroupFilter {
  readonly stage?: string;
  readonly split?: string;
  readonly problemId?: string;
  readonly kind?: GroupKind;
  readonly sort?: GroupSort;
}

const NAMES = ['stage', 'split', 'problemId', 'kind', 'sort'] as const;

export function groupFilterOf(query: Query): GroupFilter {
  const filter: Record<string, string> = {};
  for (const name of NAMES) {
    const value = oneOf(query, name);
    if (value === undefined || value === '') continue;
    if (name === 'kind' && !Object.hasOwn(GROUP_KINDS, value)) continue;
    if (name === 'sort' && (!Object.hasOwn(GROUP_SORTS, value) || value === 'newest')) continue;
    filter[name] = value;
  }
  return filter as GroupFilter;
}

export const groupPatch = (change: { readonly [Name in keyof GroupFilter]?: GroupFilter[Name] | '' }): QueryPatch =>
  Object.fromEntries(Object.entries(change).map(([name, value]) => [name, value === '' || value === 'newest' ? undefined : value]));
