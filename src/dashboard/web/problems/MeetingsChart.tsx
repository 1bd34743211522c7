/** How often a problem was solved, over training: one dot a meeting, each a link to its rollouts. The table below says the same in numbers. */
import { count, percent, STAGE_NAMES } from '../format.js';
import { groupHref } from '../trajectories/links.js';
import { whereWords } from '../trajectories/marks.js';
import { useMedia } from '../useMedia.js';
import { type Meeting, placed, stageStarts } from './meetings.js';

/** Of the drawing, which fills its place: letters keep about their size on a phone. */
const WIDTHS = { wide: 860, narrow: 380 } as const;
const HEIGHT = 190;
const LEFT = 44;
const RIGHT = 14;
const TOP = 14;
const BOTTOM = 26;

/** Splits met at one moment stand beside each other, not above. */
const BESIDE = 7;

/** Room at both ends for dots that stand beside each other. */
const ROOM = 24;
const yAt = (y: number): number => TOP + (1 - y) * (HEIGHT - TOP - BOTTOM);

export function MeetingsChart({ run, meetings }: { readonly run: string; readonly meetings: readonly Meeting[] }) {
  const series = placed(meetings);
  const width = useMedia('(max-width: 720px)') ? WIDTHS.narrow : WIDTHS.wide;
  const xAt = (x: number): number => LEFT + ROOM + x * (width - LEFT - RIGHT - 2 * ROOM);
  return (
    <figure class="meetings">
      <figcaption class="scale-legend">
        {series.map(({ split }, i) => (
          <span key={split} class="meetings-key">
            <svg width="22" height="12" aria-hidden="true">
              <line x1="0" y1="6" x2="22" y2="6" class={`meetings-line line-${i % 8}`} />
              <Dot x={11} y={6} kind={i} />
            </svg>
            {split}
          </span>
        ))}
      </figcaption>
      <svg viewBox={`0 0 ${width} ${HEIGHT}`} class="meetings-chart" role="group" aria-label="Share of right rollouts at each meeting">
        {[0, 0.5, 1].map((y) => (
          <g key={y}>
            <line x1={LEFT} x2={width - RIGHT} y1={yAt(y)} y2={yAt(y)} class="meetings-grid" />
            <text x={LEFT - 6} y={yAt(y) + 4} text-anchor="end">
              {percent(y, 0)}
            </text>
          </g>
        ))}
        {stageStarts(meetings).map(({ stage, x }, i) => (
          <g key={stage}>
            {i > 0 && <line x1={xAt(x) - 18} x2={xAt(x) - 18} y1={TOP} y2={HEIGHT - BOTTOM} class="meetings-stage" />}
            <text x={xAt(x) - 14} y={HEIGHT - 8}>
              {STAGE_NAMES[stage] ?? stage}
            </text>
          </g>
        ))}
        {series.map(({ split, places }, i) => (
          <g key={split} transform={`translate(${(i - (series.length - 1) / 2) * BESIDE} 0)`}>
            <polyline class={`meetings-line line-${i % 8}`} points={places.map(({ x, y }) => `${xAt(x)},${yAt(y)}`).join(' ')} />
            {places.map(({ meeting, x, y }) => (
              <a key={meeting.groupId} href={groupHref(run, meeting)} aria-label={words(meeting)}>
                <title>{words(meeting)}</title>
                <circle cx={xAt(x)} cy={yAt(y)} r="11" class="meetings-reach" />
                <Dot x={xAt(x)} y={yAt(y)} kind={i} />
              </a>
            ))}
          </g>
        ))}
      </svg>
    </figure>
  );
}

const words = (meeting: Meeting): string => `${whereWords(meeting)}: ${count(meeting.right)} of ${count(meeting.rollouts)} right`;

/** Splits differ in shape as well as in colour. */
function Dot({ x, y, kind }: { x: number; y: number; kind: number }) {
  const mark = `meetings-dot fill-${kind % 8}`;
  switch (kind % 4) {
    case 0:
      return <circle cx={x} cy={y} r="4.5" class={mark} />;
    case 1:
      return <rect x={x - 4} y={y - 4} width="8" height="8" class={mark} />;
    case 2:
      return <polygon points={`${x},${y - 5.5} ${x + 5},${y + 4} ${x - 5},${y + 4}`} class={mark} />;
    default:
      return <polygon points={`${x},${y - 5.5} ${x + 5.5},${y} ${x},${y + 5.5} ${x - 5.5},${y}`} class={mark} />;
  }
}
