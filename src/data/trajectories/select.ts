/**
 * Which rollouts become rows of the set: right, told in messages, with a tool used with success, and not nearly the same as another of the
 * same problem; then, where asked for, the best of each source. Counts what each filter leaves out. Reads no files.
 */
import type { Message } from '../../domain/message.js';
import type { Trajectory } from '../../domain/trajectory.js';
import { executedCalls } from '../../domain/trajectory.js';
import { type Behaviour, behavioursOf } from './behaviours.js';
import type { StoredRollout } from './journal.js';
import { trajectoryMessages } from './messages.js';
import { nearlySame, type Sketch, sketchOf } from './similar.js';

/** In the order in which they are asked. */
export const FILTERS = [
  'wrong',
  'not told in messages',
  'no tool used with success',
  'nearly the same',
  'beyond the best of its source',
] as const;
export type Filter = (typeof FILTERS)[number];

/** A rollout that is chosen, without its text. */
export interface Chosen {
  readonly sample: number;
  readonly behaviours: readonly Behaviour[];
  /** Executed ones. */
  readonly calls: number;
}

export interface Selection {
  /** In the order of the samples. */
  readonly chosen: readonly Chosen[];
  readonly removed: Readonly<Partial<Record<Filter, number>>>;
}

/** The rollouts of one problem. Of nearly equal ones that with the most behaviours stays, of equals the first. */
export function selectOfProblem(rollouts: readonly StoredRollout[], system: string): Selection {
  const removed: Partial<Record<Filter, number>> = {};
  const left = (filter: Filter): false => {
    removed[filter] = (removed[filter] ?? 0) + 1;
    return false;
  };
  const fit = rollouts.filter(({ trajectory, verdict }) => {
    if (!verdict.correct) return left('wrong');
    if (trajectoryMessages(trajectory, system).kind === 'untellable') return left('not told in messages');
    return usedTool(trajectory) || left('no tool used with success');
  });
  const ranked = fit
    .map(({ sample, trajectory }) => {
      return { sample, behaviours: behavioursOf(trajectory), calls: executedCalls(trajectory), sketch: sketchOf(trajectory) };
    })
    .sort((a, b) => b.behaviours.length - a.behaviours.length || a.sample - b.sample);
  const kept: (Chosen & { readonly sketch: Sketch })[] = [];
  for (const one of ranked) {
    if (kept.some((other) => nearlySame(one.sketch, other.sketch))) left('nearly the same');
    else kept.push(one);
  }
  const chosen = kept.map(({ sample, behaviours, calls }) => ({ sample, behaviours, calls })).sort((a, b) => a.sample - b.sample);
  return { chosen, removed };
}

const usedTool = ({ turns }: Trajectory): boolean =>
  turns.some(({ replies }) => replies.some((reply) => reply.kind === 'executed' && reply.success));

/** A chosen rollout among those of all problems. */
export interface Candidate extends Chosen {
  readonly source: string;
  /** Place of its problem. */
  readonly problem: number;
  /** In [0, 1]; absent where it was not scored. */
  readonly score?: number;
}

/**
 * The best `k` of each source: by score, then by the number of behaviours, then the first of each problem before the second of any. Without
 * a score one stands behind those that have one.
 * @param candidates by problem, then by sample; the same order comes back
 */
export function topOfEachSource(candidates: readonly Candidate[], k: number): Candidate[] {
  const seen = new Map<number, number>();
  const placed = candidates.map((candidate, at) => {
    const round = seen.get(candidate.problem) ?? 0;
    seen.set(candidate.problem, round + 1);
    return { candidate, at, round };
  });
  const ranked = [...placed].sort(
    (a, b) =>
      (b.candidate.score ?? -1) - (a.candidate.score ?? -1) ||
      b.candidate.behaviours.length - a.candidate.behaviours.length ||
      a.round - b.round ||
      a.at - b.at,
  );
  const taken = new Map<string, number>();
  const best = ranked.filter(({ candidate: { source } }) => {
    const before = taken.get(source) ?? 0;
    taken.set(source, before + 1);
    return before < k;
  });
  return best.sort((a, b) => a.at - b.at).map(({ candidate }) => candidate);
}

/** The messages of a rollout that `selectOfProblem` chose. */
export function messagesOf({ trajectory }: StoredRollout, system: string): Message[] {
  const told = trajectoryMessages(trajectory, system);
  if (told.kind === 'messages') return told.messages;
  throw new RangeError(`${trajectory.trajectoryId} was chosen and cannot be told: ${told.why}`);
}
