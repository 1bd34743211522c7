/** Problems over the course of a run: how often each was met and solved. */
import type { Num, ProblemLine, ProblemPage, ProblemView } from '../api.js';
import { cutTexts } from './cutTexts.js';
import { Refusal } from './refusal.js';
import type { RunView } from './runView.js';
import { recordOf } from './trajectories.js';

const SORTS = {
  hardest: '"right" * 1.0 / rollouts, rollouts DESC, problemId',
  easiest: '"right" * 1.0 / rollouts DESC, rollouts DESC, problemId',
  /** Between the first and the last third of its meetings. */
  changed: 'abs(late - early) DESC NULLS LAST, rollouts DESC, problemId',
  rollouts: 'rollouts DESC, problemId',
  newest: 'lastStep DESC, problemId',
  oldest: 'firstStep, problemId',
  name: 'problemId',
} as const;
export const PROBLEM_SORTS = Object.keys(SORTS) as (keyof typeof SORTS)[];

export interface ProblemQuery {
  readonly split?: string | undefined;
  readonly text?: string | undefined;
  readonly sort?: keyof typeof SORTS | undefined;
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
}

/** How long an older run is read through before what was found so far is shown. */
const PATIENCE_MS = 2_000;
const MOST_WORDS = 16;

type Found = Omit<ProblemLine, 'question' | 'early' | 'late'> & { readonly id: number };

export async function listProblems(view: RunView, query: ProblemQuery): Promise<ProblemPage> {
  const { sort = 'hardest', offset = 0, limit = 50 } = query;
  const { where, values, remaining } = await conditions(view, query);
  const rows = view.db
    .prepare(
      `SELECT problemId, count(*) AS rollouts, coalesce(sum(correct), 0) AS "right", min(step) AS firstStep, max(step) AS lastStep, min(id) AS id
       FROM trajectories ${sort === 'changed' ? `LEFT JOIN (${THIRDS(where)}) USING (problemId)` : ''} ${where}
       GROUP BY problemId ORDER BY ${SORTS[sort]} LIMIT ? OFFSET ?`,
    )
    .all(...(sort === 'changed' ? values : []), ...values, limit, offset) as Found[];
  const total = view.db
    .prepare(`SELECT count(DISTINCT problemId) FROM trajectories ${where}`)
    .pluck()
    .get(...values) as number;
  const own = ['problemId IN (SELECT value FROM json_each(?))', ...(query.split === undefined ? [] : ['split = ?'])];
  const thirds = view.db
    .prepare(THIRDS(`WHERE ${own.join(' AND ')}`))
    .all(JSON.stringify(rows.map(({ problemId }) => problemId)), ...(query.split === undefined ? [] : [query.split]));
  const byId = new Map((thirds as { problemId: string; early: Num; late: Num }[]).map(({ problemId, ...both }) => [problemId, both]));
  return {
    problems: rows.map(({ id, ...row }) => ({ ...row, question: questionOf(view, id), ...byId.get(row.problemId) })),
    total,
    ...(remaining > 0 && { note: `An older run is being read through: ${remaining} rollouts are still to come. Ask again for more.` }),
  };
}

/** Accuracy of each problem that was met more than once, in the first and in the last third of its meetings. */
const THIRDS = (where: string): string => `
  SELECT problemId, sum("right") FILTER (WHERE place <= third) * 1.0 / sum(graded) FILTER (WHERE place <= third) AS early,
    sum("right") FILTER (WHERE place > met - third) * 1.0 / sum(graded) FILTER (WHERE place > met - third) AS late
  FROM (
    SELECT *, max(1, met / 3) AS third FROM (
      SELECT problemId, sum(correct) AS "right", count(correct) AS graded,
        row_number() OVER (PARTITION BY problemId ORDER BY min(id)) AS place, count(*) OVER (PARTITION BY problemId) AS met
      FROM trajectories ${where} GROUP BY problemId, stage, split, step, groupId
    ) WHERE met > 1
  ) GROUP BY problemId`;

async function conditions(
  view: RunView,
  { split, text }: ProblemQuery,
): Promise<{ readonly where: string; readonly values: readonly string[]; readonly remaining: number }> {
  const parts: string[] = [];
  const values: string[] = [];
  let remaining = 0;
  if (split !== undefined) {
    parts.push('split = ?');
    values.push(split);
  }
  if (text !== undefined) {
    remaining = await view.readThrough(PATIENCE_MS);
    for (const word of text
      .split(/\s+/)
      .filter((one) => one !== '')
      .slice(0, MOST_WORDS)) {
      const like = `%${word.replace(/[\\%_]/g, '\\$&')}%`;
      parts.push(
        `(problemId LIKE ? ESCAPE '\\' OR problemId IN (SELECT problemId FROM ${questionsOf(view)} WHERE question LIKE ? ESCAPE '\\'))`,
      );
      values.push(like, like);
    }
  }
  return { where: parts.length === 0 ? '' : `WHERE ${parts.join(' AND ')}`, values, remaining };
}

function questionsOf(view: RunView): string {
  if (view.factsSince <= 1) return 'main.problems';
  if (view.version < 2) return 'temp.oldProblems';
  return '(SELECT problemId, question FROM main.problems UNION ALL SELECT problemId, question FROM temp.oldProblems)';
}

function questionOf(view: RunView, id: number): string {
  try {
    return cutTexts(recordOf(view, id).trajectory.problem.question, 2_000).value;
  } catch {
    // the list is worth showing without it
    return '';
  }
}

export function viewProblem(view: RunView, problemId: string): ProblemView {
  const meetings = view.db
    .prepare(
      `SELECT stage, step, split, groupId, count(*) AS rollouts, coalesce(sum(correct), 0) AS "right"
       FROM trajectories WHERE problemId = ? GROUP BY stage, step, split, groupId ORDER BY min(id)`,
    )
    .all(problemId) as ProblemView['meetings'];
  const first = view.db.prepare('SELECT min(id) FROM trajectories WHERE problemId = ?').pluck().get(problemId) as number | null;
  if (first === null) throw new Refusal(404, `this run has no problem ${problemId}`);
  const { problem } = recordOf(view, first).trajectory;
  const { question, answer } = cutTexts({ question: problem.question, answer: problem.answer }).value;
  return { problemId, question, ...(answer !== undefined && { answer }), meetings };
}
