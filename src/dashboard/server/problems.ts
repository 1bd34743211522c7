/** Problems over the course of a run: how often each was met and solved. */
import type { ProblemLine, ProblemPage, ProblemView } from '../api.js';
import { cutTexts } from './cutTexts.js';
import { Refusal } from './refusal.js';
import type { RunView } from './runView.js';
import { recordOf } from './trajectories.js';

const SORTS = {
  hardest: '"right" * 1.0 / rollouts, rollouts DESC, problemId',
  easiest: '"right" * 1.0 / rollouts DESC, rollouts DESC, problemId',
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

export async function listProblems(
  view: RunView,
  { split, text, sort = 'hardest', offset = 0, limit = 50 }: ProblemQuery,
): Promise<ProblemPage> {
  const parts: string[] = [];
  const values: string[] = [];
  if (split !== undefined) {
    parts.push('split = ?');
    values.push(split);
  }
  if (text !== undefined) {
    const questions = await questionTable(view);
    for (const word of text
      .split(/\s+/)
      .filter((word) => word !== '')
      .slice(0, 16)) {
      const like = `%${word.replace(/[\\%_]/g, '\\$&')}%`;
      parts.push(
        `(problemId LIKE ? ESCAPE '\\'${questions && ` OR problemId IN (SELECT problemId FROM ${questions} WHERE question LIKE ? ESCAPE '\\')`})`,
      );
      values.push(like, ...(questions ? [like] : []));
    }
  }
  const where = parts.length === 0 ? '' : `WHERE ${parts.join(' AND ')}`;
  const rows = view.db
    .prepare(
      `SELECT problemId, count(*) AS rollouts, coalesce(sum(correct), 0) AS "right", min(step) AS firstStep, max(step) AS lastStep, min(id) AS id
       FROM trajectories ${where} GROUP BY problemId ORDER BY ${SORTS[sort]} LIMIT ? OFFSET ?`,
    )
    .all(...values, limit, offset) as (Omit<ProblemLine, 'question'> & { readonly id: number })[];
  const total = view.db
    .prepare(`SELECT count(DISTINCT problemId) FROM trajectories ${where}`)
    .pluck()
    .get(...values) as number;
  return { problems: rows.map(({ id, ...row }) => ({ ...row, question: questionOf(view, id) })), total };
}

/** Where the questions of a run are; an older run is read through for them. */
async function questionTable(view: RunView): Promise<string> {
  if (view.factsSince <= 1) return 'main.problems';
  await view.readThrough(2_000);
  return view.version >= 2
    ? '(SELECT problemId, question FROM main.problems UNION ALL SELECT problemId, question FROM temp.oldProblems)'
    : 'temp.oldProblems';
}

function questionOf(view: RunView, id: number): string {
  try {
    return cutTexts(recordOf(view, id).trajectory.problem.question, 2_000).value;
  } catch {
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
