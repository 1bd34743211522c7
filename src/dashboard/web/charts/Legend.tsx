/** The lines of a chart by name, with their values; a click hides and shows them. */
import { safeLabel } from '../safeText.js';
import type { ChartLine } from './types.js';

/** Lines of one part together, in the order of their first. */
export function legendGroups(lines: readonly ChartLine[]): readonly (readonly ChartLine[])[] {
  const groups = new Map<string, ChartLine[]>();
  for (const line of lines) {
    const key = line.part === undefined ? `line ${line.key}` : `part ${line.part}`;
    groups.set(key, [...(groups.get(key) ?? []), line]);
  }
  return [...groups.values()];
}

interface LegendItemProps {
  readonly lines: readonly ChartLine[];
  readonly hidden: ReadonlySet<string> | undefined;
  readonly onToggle: ((keys: readonly string[]) => void) | undefined;
  readonly readout: (key: string, element: HTMLElement | null) => void;
}

export function LegendItem({ lines, hidden, onToggle, readout }: LegendItemProps) {
  const shown = lines.filter(({ key }) => hidden?.has(key) !== true);
  const off = shown.length === 0;
  const first = lines[0]!;
  const several = lines.length > 1;
  const label = (
    <>
      <LineSign line={first} plain={several} />
      <bdi class="legend-label">{safeLabel(first.part ?? first.label)}</bdi>
    </>
  );
  return (
    <li class={off ? 'legend-off' : ''}>
      {onToggle === undefined ? (
        <span class="legend-item">{label}</span>
      ) : (
        <button
          type="button"
          class="legend-item"
          aria-pressed={!off}
          title={off ? 'Show' : 'Hide'}
          onClick={() => onToggle((off ? lines : shown).map(({ key }) => key))}
        >
          {label}
        </button>
      )}
      {shown.map((line) => (
        <span key={line.key} class="legend-value" title={several ? safeLabel(line.label) : undefined}>
          {several && <span class={`legend-dot back-${line.colour + 1}`} />}
          <span ref={(element) => readout(line.key, element)} />
        </span>
      ))}
    </li>
  );
}

/** How a line is drawn, in its colour; `plain` without one, where the colour tells something else. */
function LineSign({ line, plain }: { line: ChartLine; plain: boolean }) {
  return (
    <svg
      class={`legend-line ${plain ? 'series-plain' : `series-${line.colour + 1}`} dash-${(line.dash ?? 0) % 4}`}
      width="18"
      height="8"
      aria-hidden="true"
    >
      <path d="M0 4H18" />
    </svg>
  );
}
