/**
 * The filter of the trajectory list as it stands in an address, and as a person reads it. What an address holds that is no filter is left
 * out, so a mistyped link shows more, never an error. Pure; does not ask the server.
 */
import type { Flag, TrajectoryQuery } from '../../api.js';
import { STAGE_NAMES, stepLabel } from '../format.js';

export type Sort = NonNullable<TrajectoryQuery['sort']>;

export const FLAGS: Readonly<Record<Flag, { readonly label: string; readonly title: string }>> = {
  wrongThoughToolSucceeded: { label: 'wrong though the tool succeeded', title: 'Graded wrong, though its last executed call succeeded' },
  malformed: { label: 'malformed call', title: 'A call that could not be read' },
  truncated: { label: 'truncated', title: 'A token limit cut the response' },
  toolFailed: { label: 'tool failed', title: 'An executed call ended in an error' },
  noCall: { label: 'no call', title: 'No call was executed' },
  gradersDisagree: { label: 'graders disagree', title: 'The reward or a second grader says otherwise than the verdict' },
  extremeAdvantage: { label: 'extreme advantage', title: 'An advantage above 2 or below \u22122' },
  infra: { label: 'infrastructure', title: 'Grading failed for a reason that is not the policy\u2019s' },
};

export const FLAG_NAMES = Object.keys(FLAGS) as Flag[];

export const SORTS: Readonly<Record<Sort, string>> = {
  newest: 'newest first',
  oldest: 'oldest first',
  longest: 'longest',
  shortest: 'shortest',
  '-reward': 'highest reward',
  reward: 'lowest reward',
  '-advantage': 'highest advantage',
  advantage: 'lowest advantage',
  calls: 'most calls',
};

export const STOP_REASONS: Readonly<Record<NonNullable<TrajectoryQuery['stopReason']>, string>> = {
  answered: 'answered',
  stopTool: 'stopped by a tool',
  turnLimit: 'turns used up',
  tokenLimit: 'cut at a token limit',
  malformedLimit: 'too many unreadable calls',
  agentError: 'the agent failed',
  deadline: 'out of time',
};

export const STAGES = ['base', 'sft', 'rl'] as const;

/** Fields in the order in which they stand in an address. */
const TEXTS = ['split', 'problemId', 'groupId', 'text'] as const;
const COUNTS = ['step', 'fromStep', 'toStep', 'offset', 'limit'] as const;

/** Only what narrows or orders: an empty query is an empty address. */
export function toParams(query: TrajectoryQuery): URLSearchParams {
  const params = new URLSearchParams();
  if (query.stage) params.set('stage', query.stage);
  for (const name of TEXTS) if (query[name]) params.set(name, query[name]);
  for (const name of COUNTS) if (query[name] !== undefined) params.set(name, String(query[name]));
  if (query.correct !== undefined) params.set('correct', String(query.correct));
  if (query.stopReason) params.set('stopReason', query.stopReason);
  if (query.flags && query.flags.length > 0) params.set('flags', query.flags.join(','));
  if (query.sort && query.sort !== 'newest') params.set('sort', query.sort);
  return params;
}

export function fromParams(params: URLSearchParams): TrajectoryQuery {
  const query: { -readonly [Name in keyof TrajectoryQuery]: TrajectoryQuery[Name] } = {};
  const stage = STAGES.find((name) => name === params.get('stage'));
  if (stage) query.stage = stage;
  for (const name of TEXTS) {
    const value = params.get(name);
    if (value) query[name] = value;
  }
  for (const name of COUNTS) {
    const value = params.get(name);
    if (value !== null && /^\d{1,9}$/.test(value)) query[name] = Number(value);
  }
  const correct = params.get('correct');
  if (correct === 'true' || correct === 'false') query.correct = correct === 'true';
  const stopReason = keyIn(STOP_REASONS, params.get('stopReason'));
  if (stopReason) query.stopReason = stopReason;
  const flags = new Set((params.get('flags') ?? '').split(','));
  const known = FLAG_NAMES.filter((flag) => flags.has(flag));
  if (known.length > 0) query.flags = known;
  const sort = keyIn(SORTS, params.get('sort'));
  if (sort && sort !== 'newest') query.sort = sort;
  return query;
}

const keyIn = <Key extends string>(table: Readonly<Record<Key, unknown>>, key: string | null): Key | undefined =>
  key !== null && Object.hasOwn(table, key) ? (key as Key) : undefined;

/** The query with some fields changed; `undefined` takes a field out. The page begins anew, so the offset goes. */
export function changed(query: TrajectoryQuery, change: { readonly [Name in keyof TrajectoryQuery]?: TrajectoryQuery[Name] | undefined }) {
  const { offset: _, ...rest } = { ...query, ...change };
  return fromParams(toParams(Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined))));
}

export const withFlag = (query: TrajectoryQuery, flag: Flag): TrajectoryQuery => {
  const flags = query.flags ?? [];
  return changed(query, { flags: flags.includes(flag) ? flags.filter((other) => other !== flag) : [...flags, flag] });
};

/** Whether anything narrows; order and paging do not. */
export function isNarrowed(query: TrajectoryQuery): boolean {
  const { sort: _sort, offset: _offset, limit: _limit, ...rest } = query;
  return toParams(rest).size > 0;
}

/** In words, for a title or a screen reader. */
export function describeQuery(query: TrajectoryQuery): string {
  const parts = [
    query.stage && STAGE_NAMES[query.stage],
    query.split && `split ${query.split}`,
    query.step !== undefined && `step ${stepLabel(query.step)}`,
    query.fromStep !== undefined && `from step ${stepLabel(query.fromStep)}`,
    query.toStep !== undefined && `to step ${stepLabel(query.toStep)}`,
    query.correct !== undefined && (query.correct ? 'right' : 'wrong'),
    query.stopReason && STOP_REASONS[query.stopReason],
    ...(query.flags ?? []).map((flag) => FLAGS[flag].label),
    query.problemId && `problem ${query.problemId}`,
    query.groupId && `group ${query.groupId}`,
    query.text && `with the words \u201c${query.text}\u201d`,
  ].filter((part) => typeof part === 'string');
  return parts.length === 0 ? 'all rollouts' : parts.join(', ');
}
