/**
 * Deliberative and reactive rollouts (paper, section 5): think long and call seldom, or think little and call often. The paper gives no rule;
 * this one has no threshold to tune. Of a rollout with at least one executed call, the rounds that call are looked at: it is deliberative
 * where the model wrote at least as many characters of analysis (text and thinking) in them as of calls, reactive where it wrote fewer.
 * Rollouts without an executed call are neither.
 */
import type { Segment } from '../domain/segment.js';
import { executedCalls, type Trajectory, turnsOf } from '../domain/trajectory.js';

export type Mode = 'deliberative' | 'reactive' | 'withoutCall';

export interface ModeShare {
  /** Of all rollouts, in [0, 1]. */
  readonly share: number;
  readonly rollouts: number;
  /** Share of executed calls that succeeded; NaN without any. */
  readonly toolSuccess: number;
  /** NaN without rollouts. */
  readonly callsPerRollout: number;
  /** Tokens that the model wrote a round; NaN without rollouts. */
  readonly tokensPerRound: number;
}

export type Modes = Readonly<Record<Mode, ModeShare>>;

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

/** Shares are NaN for an empty list. */
export function modesOf(trajectories: readonly Pick<Trajectory, 'turns' | 'branches'>[]): Modes {
  const of = (mode: Mode): ModeShare => {
    const own = trajectories.filter((trajectory) => modeOf(trajectory) === mode);
    const turns = own.flatMap(turnsOf);
    const calls = turns.flatMap(({ replies }) => replies).filter((reply) => reply.kind === 'executed');
    return {
      share: own.length / trajectories.length,
      rollouts: own.length,
      toolSuccess: calls.filter(({ success }) => success).length / calls.length,
      callsPerRollout: calls.length / own.length,
      tokensPerRound: turns.reduce((sum, { tokens }) => sum + tokens, 0) / turns.length,
    };
  };
  return { deliberative: of('deliberative'), reactive: of('reactive'), withoutCall: of('withoutCall') };
}

type CallLike = Extract<Segment, { readonly kind: 'call' | 'malformedCall' | 'cutOffCall' }>;

const isCall = (segment: Segment): segment is CallLike =>
  segment.kind === 'call' || segment.kind === 'malformedCall' || segment.kind === 'cutOffCall';

/** Characters: the call as JSON, or as it was written where it could not be read. */
const callLength = (segment: CallLike): number =>
  segment.kind === 'call' ? JSON.stringify({ name: segment.name, arguments: segment.arguments }).length : segment.raw.trim().length;
