/** A stored rollout as a row to be graded. The kind is told by what its problem carries: tests, options, or an answer alone. */
import type { Trajectory } from '../domain/trajectory.js';
import { executedCalls } from '../domain/trajectory.js';
import type { GradingRow } from './gradingRow.js';

/** The row, or why there is none. */
export function parseProblemRow(trajectory: Pick<Trajectory, 'problem' | 'trajectoryId' | 'finalText' | 'turns'>): GradingRow | string {
  const { problem, trajectoryId, finalText } = trajectory;
  const { tests, options } = problem as { readonly tests?: unknown; readonly options?: unknown };
  const facts = {
    id: trajectoryId,
    where: `problem ${JSON.stringify(problem.id)}`,
    given: { kind: 'response', text: finalText },
    question: problem.question,
    turns: 2 * executedCalls(trajectory) + 2,
  } as const;
  if (tests !== undefined && tests !== null) return { ...facts, kind: 'code', tests };
  if (problem.answer === undefined) return `${facts.where} has no answer to compare with`;
  if (Array.isArray(options) && options.every((option) => typeof option === 'string'))
    return { ...facts, kind: 'choice', gold: problem.answer, options };
  return { ...facts, kind: 'math', gold: problem.answer };
}
