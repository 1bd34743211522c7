/** Scores many trajectories, several at a time; a score that is in the journal is not asked for again. Ends where the scorer keeps failing. */
import { inOrder } from '../../grading/inOrder.js';
import { InfrastructureStop } from '../../rollout/scheduler.js';
import type { Journal } from './journal.js';
import type { TrajectoryScorer } from './scorer.js';
import type { Candidate } from './select.js';

export interface ScoreOptions {
  readonly scorer: TrajectoryScorer;
  readonly concurrency: number;
  readonly journal: Journal;
  readonly keyOf: (candidate: Candidate) => string;
  readonly onProgress: (done: number, all: number) => void;
  readonly signal: AbortSignal;
}

/** Failures in a row that end it. */
const MOST_FAILURES = 8;

/**
 * @returns a score or, where there is none, undefined; in the candidates' order
 * @throws InfrastructureStop after many failures in a row; the scores that were given are kept
 */
export async function scoreAll(candidates: readonly Candidate[], options: ScoreOptions): Promise<(number | undefined)[]> {
  const { scorer, concurrency, journal, keyOf, onProgress, signal } = options;
  let failures = 0;
  let done = 0;
  const scoreOf = async (candidate: Candidate): Promise<number | undefined> => {
    signal.throwIfAborted();
    const key = keyOf(candidate);
    const known = journal.score(scorer.name, key, candidate.sample);
    if (known !== undefined) return known;
    if (failures >= MOST_FAILURES) return undefined;
    const { trajectory } = journal.one(key, candidate.sample);
    const score = await scorer.score(trajectory, trajectory.problem, signal);
    if (typeof score !== 'number') {
      if (++failures >= MOST_FAILURES)
        throw new InfrastructureStop(`${MOST_FAILURES} scores in a row could not be had; those that were given are kept. ${score.error}`);
      return undefined;
    }
    failures = 0;
    journal.putScore(scorer.name, key, candidate.sample, score);
    return score;
  };
  const scores: (number | undefined)[] = [];
  for await (const score of inOrder(candidates, concurrency, scoreOf)) {
    scores.push(score);
    onProgress(++done, candidates.length);
  }
  return scores;
}
