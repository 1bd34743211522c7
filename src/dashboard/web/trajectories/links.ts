/** Addresses of the views of rollouts, groups and problems, and the filter as it stands in the page's address. */
import type { TrajectoryQuery } from '../../api.js';
import { href, type Query, type QueryPatch } from '../router.js';
import { fromParams, toParams } from './query.js';

/** Names of the filter in an address. */
const NAMES = [
  'stage',
  'split',
  'problemId',
  'groupId',
  'text',
  'step',
  'fromStep',
  'toStep',
  'offset',
  'limit',
  'correct',
  'stopReason',
  'flags',
  'sort',
] as const;

/** The filter of the present address; whatever else stands there is left out. */
export function filterOf(query: Query): TrajectoryQuery {
  const params = new URLSearchParams();
  for (const name of NAMES) for (const value of query[name] ?? []) params.append(name, value);
  return fromParams(params);
}

/** Puts a filter in the place of the one that stands in the address. */
export function patchOf(filter: TrajectoryQuery): QueryPatch {
  const params = toParams(filter);
  return Object.fromEntries(NAMES.map((name) => [name, params.get(name) ?? undefined]));
}

export const listHref = (run: string, filter: TrajectoryQuery = {}): string => href(['run', run, 'trajectories'], patchOf(filter));

export const rolloutHref = (run: string, id: number, filter: TrajectoryQuery = {}, more: QueryPatch = {}): string =>
  href(['run', run, 'trajectories', id], { ...patchOf(filter), ...more });

export const groupHref = (run: string, group: { readonly groupId: string; readonly stage?: string; readonly step?: number }): string =>
  href(['run', run, 'groups', group.groupId], { stage: group.stage, step: group.step });

export const problemHref = (run: string, problemId: string): string => href(['run', run, 'problems', problemId]);
