/**
 * Deliberative and reactive rollouts (paper, section 5): think long and call seldom, or think little and call often. The paper gives no rule;
 * this one has no threshold to tune. Of a rollout with at least one executed call, the rounds that call are looked at: it is deliberative
 * where the model wrote at least as many characters of analysis (text and thinking) in them as of calls, reactive where it wrote fewer.
 * Rollouts without an executed call are neither.
 */
import type { Segment } from './segment.js';
import { executedCalls, type Trajectory, turnsOf } from './trajectory.js';

export type Mode = 'deliberative' | 'reactive' | 'withoutCall';

export function modeOf(trajectory: Pick<Trajectory, 'turns' | 'branches'>): Mode {
  if (executedCalls(trajectory) === 0) return 'withoutCall';
  let analysis = 0;
  let calls = 0;
  for (const { segments } of turnsOf(trajectory)) {
    if (!segments.some(isCall)) continue;
    for (const segment of segments) {
      if (isCall(segment)) calls += callLength(segment);
      else analysis += segment.text.trim().length;
    }
  }
  return analysis >= calls ? 'deliberative' : 'reactive';
}

type CallLike = Extract<Segment, { readonly kind: 'call' | 'malformedCall' | 'cutOffCall' }>;

const isCall = (segment: Segment): segment is CallLike =>
  segment.kind === 'call' || segment.kind === 'malformedCall' || segment.kind === 'cutOffCall';

/** Characters: the call as JSON, or as it was written where it could not be read. */
const callLength = (segment: CallLike): number =>
  segment.kind === 'call' ? JSON.stringify({ name: segment.name, arguments: segment.arguments }).length : segment.raw.trim().length;
