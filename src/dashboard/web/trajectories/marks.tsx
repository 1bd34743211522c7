/** Small marks of a rollout: right or wrong, what is notable, why it ended, which step it belongs to. Words as well as colour. */
import type { Flag, TrajectoryLine } from '../../api.js';
import { Badge } from '../components/bits.js';
import { STAGE_NAMES, stepLabel } from '../format.js';
import { FLAGS, STOP_REASONS } from './query.js';

export function RightMark({ correct, reason }: { correct: boolean | undefined; reason?: string | undefined }) {
  if (correct === undefined) return <span class="muted">not graded</span>;
  return (
    <span class={correct ? 'good' : 'bad'} title={reason}>
      <span aria-hidden="true">{correct ? '✓' : '✗'}</span> {correct ? 'right' : 'wrong'}
    </span>
  );
}

const SHORT: Readonly<Record<Flag, string>> = {
  wrongThoughToolSucceeded: 'wrong, tool ok',
  malformed: 'malformed',
  truncated: 'truncated',
  infra: 'infra',
  toolFailed: 'tool failed',
  noCall: 'no call',
  gradersDisagree: 'graders disagree',
  extremeAdvantage: 'extreme adv.',
};

export function FlagMarks({ flags }: { flags: readonly Flag[] }) {
  return (
    <span class="flag-marks">
      {flags.map((flag) => (
        <Badge key={flag} tone={flag === 'noCall' ? 'neutral' : flag === 'infra' ? 'bad' : 'warn'} title={FLAGS[flag]?.title ?? flag}>
          {SHORT[flag] ?? flag}
        </Badge>
      ))}
    </span>
  );
}

export const stopWords = (kind: TrajectoryLine['stopReason']): string => STOP_REASONS[kind] ?? kind;

/** `RL step 12`, or `greedy after 12 RL steps`: rollouts of an evaluation count the steps made before. */
export function whereWords({ stage, step, split }: Pick<TrajectoryLine, 'stage' | 'step' | 'split'>): string {
  const name = STAGE_NAMES[stage] ?? stage;
  if (split === 'train') return `${name} step ${stepLabel(step)}`;
  return stage === 'base' ? `${split}, before training` : `${split}, after ${step} ${name} step${step === 1 ? '' : 's'}`;
}
