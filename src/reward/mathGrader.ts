/** Grades a rollout by the box in its final text. Never looks at thinking, calls or tool text. */
import type { Trajectory } from '../domain/trajectory.js';
import type { Graded } from '../domain/verdict.js';
import { UserError } from '../userError.js';
import { extractAnswer } from './extract.js';
import { gradeAnswer } from './math/gradeAnswer.js';
import { refuseGold } from './math/gradeMath.js';

/** @throws UserError when the problem has no answer to compare with, or one that cannot be used */
export function mathGrader(trajectory: Pick<Trajectory, 'finalText' | 'problem'>): Graded {
  const { answer, id } = trajectory.problem;
  if (answer === undefined) {
    throw new UserError(
      `problem ${JSON.stringify(id)} has no answer`,
      'Give each problem an "answer", or a reward function that judges without one.',
    );
  }
  refuseGold(answer, `problem ${JSON.stringify(id)}`);
  const extraction = extractAnswer(trajectory.finalText);
  return { ...gradeAnswer(extraction.answer, answer), ...(extraction.note !== undefined && { note: extraction.note }) };
}
