/** All rollouts of one occurrence of a problem, side by side. */
import type { Stage } from '../../domain/event.js';
import type { GroupView } from '../api.js';
import { cutTexts } from './cutTexts.js';
import { Refusal } from './refusal.js';
import type { RunView } from './runView.js';
import { lineOf, type Row, recordOf } from './trajectories.js';

const MOST_MEMBERS = 512;

export function viewGroup(
  view: RunView,
  groupId: string,
  where: { readonly stage?: Stage | undefined; readonly step?: number | undefined },
): GroupView {
  const parts = ['groupId = ?'];
  const values: (string | number)[] = [groupId];
  for (const column of ['stage', 'step'] as const) {
    const value = where[column];
    if (value === undefined) continue;
    parts.push(`${column} = ?`);
    values.push(value);
  }
  const rows = view.db
    .prepare(`SELECT * FROM trajectories WHERE ${parts.join(' AND ')} ORDER BY id LIMIT ${MOST_MEMBERS}`)
    .all(...values) as Row[];
  const records = rows.map((row) => recordOf(view, row.id));
  const problem = records[0]?.trajectory.problem;
  if (!problem) throw new Refusal(404, `this run has no group ${groupId}`);
  const members = rows.map((row, i) => {
    const record = records[i]!;
    const text = record.trajectory.turns.flatMap((turn) => [turn.text, ...turn.replies.map((reply) => reply.text)]).join('\n');
    return {
      ...lineOf(view, row, record),
      text: cutTexts(text, 20_000).value,
      ...(record.reward && { rewardParts: record.reward.parts }),
    };
  });
  const { question, answer } = cutTexts({ question: problem.question, answer: problem.answer }).value;
  return { groupId, question, ...(answer !== undefined && { answer }), members };
}
