/** The released grader of mathematics: a box in the last 100 characters, equal to the right answer letter by letter. */
import { boxContent } from './boxed.js';
import { tail } from './pythonText.js';
import type { ReferenceScore } from './referenceScore.js';

/** Characters of the end of a solution in which the whole box must stand. */
const WINDOW = 100;

/** @param gold anything: only a text can be equal, or null where there is no box */
export function strictBoxScore(solution: string, gold: unknown): ReferenceScore {
  const answer = boxContent(tail(solution, WINDOW));
  const right = answer === undefined ? gold === null || gold === undefined : answer === gold;
  return { score: right ? 1 : -1, acc: right, pred: answer ?? '' };
}
