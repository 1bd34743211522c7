/** Deliberative and reactive rollouts, counted; which is which: see `domain/mode.ts`. */
import { type Mode, modeOf } from '../domain/mode.js';
import { type Trajectory, turnsOf } from '../domain/trajectory.js';

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
