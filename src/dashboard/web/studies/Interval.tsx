/** A difference with its interval beside 0 and the margin, as a picture; what it shows stands in words beside it. */
import type { StudyPart } from '../../api.js';
import { OUTCOMES } from './studyWords.js';

const WIDTH = 150;
const HEIGHT = 20;
const PAD = 8;

interface IntervalProps {
  readonly part: StudyPart;
  /** Of the whole claim: where that decides nothing, a part's picture does not either. */
  readonly outcome: keyof typeof OUTCOMES | undefined;
}

export function Interval({ part: { mean, low, high, margin, reading }, outcome = 'exploratory' }: IntervalProps) {
  if (mean === null) return <span />;
  const ends = [low ?? mean, high ?? mean];
  const least = Math.min(0, -margin, ...ends);
  const most = Math.max(0, margin, ...ends);
  const x = (value: number): number => PAD + ((value - least) / (most - least || 1)) * (WIDTH - 2 * PAD);
  const middle = HEIGHT / 2;
  const decided = outcome === 'supported' || outcome === 'contradicted' || outcome === 'noMaterialEffect';
  const [, tone] = OUTCOMES[decided ? reading : outcome];
  return (
    <svg class={`study-interval tone-${tone}`} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
      <rect class="study-margin" x={x(-margin)} y="2" width={x(margin) - x(-margin)} height={HEIGHT - 4} rx="2" />
      <line class="study-zero" x1={x(0)} x2={x(0)} y1="1" y2={HEIGHT - 1} />
      {low !== null && high !== null && <line class="study-reach" x1={x(low)} x2={x(high)} y1={middle} y2={middle} />}
      <circle class="study-mean" cx={x(mean)} cy={middle} r="4" />
    </svg>
  );
}
