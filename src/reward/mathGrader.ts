/** Grades a rollout by the box in its final text. Never looks at thinking, calls or tool text. */
import type { Trajectory } from '../domain/trajectory.js';
import type { Graded } from '../domain/verdict.js';
import { UserError } from '../userError.js';
import { lastBoxed } from './extract.js';
import { gradeAnswer } from './math/gradeAnswer.js';

/** @throws UserError when the problem has no answer to compare with */
export function mathGrader(trajectory: Pick<Trajectory, 'finalText' | 'problem'>): Graded {
  const { answer, id } = trajectory.problem;
  if (answer === undefined) {
    throw new UserError(
      `problem ${JSON.stringify(id)} has no answer`,
      'Give each problem an "answer", or a reward function that judges without one.',
    );
  }
  return gradeAnswer(lastBoxed(trajectory.finalText), answer);
}
