/** Groups: the rollouts of one occurrence of a problem, side by side; and which groups there are. */
import type { Stage } from '../../domain/event.js';
import type { GroupLine, GroupPage, GroupQuery, GroupView } from '../api.js';
import { cutTexts } from './cutTexts.js';
import { Refusal } from './refusal.js';
import type { RunView } from './runView.js';
import { lineOf, type Row, recordOf } from './trajectories.js';

const MOST_MEMBERS = 128;
/** Characters of the text of one member. */
const MOST_TEXT = 20_000;

interface Occurrence {
  readonly stage?: Stage | undefined;
  readonly step?: number | undefined;
}

export function viewGroup(view: RunView, groupId: string, occurrence: Occurrence): GroupView {
  const { where, values } = conditions({ groupId, ...occurrence });
  const rows = view.db.prepare(`SELECT * FROM trajectories ${where} ORDER BY id LIMIT ${MOST_MEMBERS}`).all(...values) as Row[];
  const total = view.db
    .prepare(`SELECT count(*) FROM trajectories ${where}`)
    .pluck()
    .get(...values) as number;
  const records = rows.map((row) => recordOf(view, row.id));
  const problem = records[0]?.trajectory.problem;
  if (!problem) throw new Refusal(404, `this run has no group ${groupId}`);
  const members = rows.map((row, i) => {
    const record = records[i]!;
    const text = record.trajectory.turns.flatMap((turn) => [turn.text, ...turn.replies.map((reply) => reply.text)]).join('\n');
    return {
      ...lineOf(view, row, record),
      text: cutTexts(text, MOST_TEXT).value,
      ...(record.reward && { rewardParts: record.reward.parts }),
    };
  });
  const { question, answer } = cutTexts({ question: problem.question, answer: problem.answer }).value;
  return {
    groupId,
    question,
    ...(answer !== undefined && { answer }),
    members,
    ...(total > rows.length && { note: `The first ${rows.length} of ${total} rollouts are shown.` }),
  };
}

const KINDS: Readonly<Record<NonNullable<GroupQuery['kind']>, string>> = {
  mixed: 'min(reward) < max(reward)',
  equal: 'min(reward) = max(reward)',
  allRight: 'min(correct) = 1',
  allWrong: 'max(correct) = 0',
};
export const GROUP_KINDS = Object.keys(KINDS) as (keyof typeof KINDS)[];

const SORTS: Readonly<Record<NonNullable<GroupQuery['sort']>, string>> = {
  newest: 'max(id) DESC',
  oldest: 'min(id)',
  spread: 'coalesce(max(reward) - min(reward), -1) DESC, max(id) DESC',
  reward: 'coalesce(avg(reward), 9e999), max(id) DESC',
  '-reward': 'coalesce(avg(reward), -9e999) DESC, max(id) DESC',
};
export const GROUP_SORTS = Object.keys(SORTS) as (keyof typeof SORTS)[];

export function listGroups(
  view: RunView,
  { kind, sort = 'newest', offset = 0, limit = 50, fromStep, toStep, ...equal }: GroupQuery,
): GroupPage {
  const { where, values } = conditions(equal, fromStep, toStep);
  const grouped = `FROM trajectories ${where} GROUP BY stage, split, step, groupId ${kind === undefined ? '' : `HAVING ${KINDS[kind]}`}`;
  // counted on the way: to group twice takes twice as long
  const rows = view.db
    .prepare(
      `SELECT groupId, stage, step, split, min(problemId) AS problemId, count(*) AS rollouts, coalesce(sum(correct), 0) AS "right",
       avg(reward) AS reward, min(reward) AS low, max(reward) AS high, avg(calls) AS calls, count(*) OVER () AS total
       ${grouped} ORDER BY ${SORTS[sort]} LIMIT ? OFFSET ?`,
    )
    .all(...values, limit, offset) as Found[];
  const total =
    rows[0]?.total ??
    (view.db
      .prepare(`SELECT count(*) FROM (SELECT 1 ${grouped})`)
      .pluck()
      .get(...values) as number);
  return {
    groups: rows.map(({ reward, low, high, total: _, ...row }) => (reward === null ? row : { ...row, reward, low, high })),
    total,
  };
}

type Found = Omit<GroupLine, 'reward' | 'low' | 'high'> & Record<'reward' | 'low' | 'high', number | null> & { readonly total: number };

function conditions(
  equal: Readonly<Partial<Record<'stage' | 'step' | 'split' | 'groupId' | 'problemId', string | number | undefined>>>,
  fromStep?: number,
  toStep?: number,
): { readonly where: string; readonly values: readonly (string | number)[] } {
  const parts: string[] = [];
  const values: (string | number)[] = [];
  const add = (sql: string, value: string | number | undefined): void => {
    if (value === undefined) return;
    parts.push(sql);
    values.push(value);
  };
  for (const column of ['stage', 'step', 'split', 'groupId', 'problemId'] as const) add(`${column} = ?`, equal[column]);
  add('step >= ?', fromStep);
  add('step <= ?', toStep);
  return { where: parts.length === 0 ? '' : `WHERE ${parts.join(' AND ')}`, values };
}
