/** What stands beside the charts: the runs that are compared, one more to compare with, and the marks of the axes as a list. */
import type { Stage } from '../../../domain/event.js';
import type { RunDetail } from '../../api.js';
import { navigate, setQuery, useRoute } from '../navigation.js';
import { href, patched } from '../router.js';
import { useRuns } from '../runs/runsStore.js';
import { safeLabel } from '../safeText.js';
import type { CurveSource } from './curveLines.js';
import { evaluationLabel, evaluationsOn, rolloutsOf } from './curveMarks.js';

/** Switches whole runs off and on, on all charts. */
export function RunLegend({
  runs,
  sources,
  hidden,
  names,
}: {
  runs: readonly RunDetail[];
  sources: readonly CurveSource[];
  hidden: ReadonlySet<string>;
  names: readonly string[];
}) {
  return (
    <ul class="run-legend" aria-label="Runs">
      {sources.map(({ id, name }, i) => {
        const keys = names.map((metric) => `${id} ${metric}`);
        const off = keys.every((key) => hidden.has(key));
        return (
          <li key={id}>
            <button
              type="button"
              aria-pressed={!off}
              onClick={() => setQuery({ off: off ? [...hidden].filter((key) => !keys.includes(key)) : [...new Set([...hidden, ...keys])] })}
            >
              <svg class={`legend-line series-${(i % 8) + 1} dash-${Math.floor(i / 8) % 4}`} width="18" height="8" aria-hidden="true">
                <path d="M0 4H18" />
              </svg>{' '}
              <bdi>{name}</bdi>
            </button>
            <a href={href(['run', id])} title={runs[i]?.id}>
              open
            </a>
            <button
              type="button"
              class="quiet"
              aria-label={`Take away ${name}`}
              title="Take away"
              onClick={() => setQuery({ run: runs.filter((run) => run.id !== id).map((run) => run.id) })}
            >
              ×
            </button>
          </li>
        );
      })}
    </ul>
  );
}

/** Puts another run onto the same charts. */
export function AddRun({ ids }: { ids: readonly string[] }) {
  const { runs } = useRuns();
  const { query } = useRoute();
  const others = (runs ?? []).filter(({ id, stages }) => !ids.includes(id) && stages.some(({ done }) => done > 0));
  if (others.length === 0) return null;
  return (
    <select
      class="add-run"
      aria-label="Compare with another run"
      value=""
      onChange={(event) => {
        const kept = patched(query, { run: [...ids, event.currentTarget.value], from: undefined, to: undefined, off: undefined });
        navigate(href(['compare'], kept));
      }}
    >
      <option value="">Compare with …</option>
      {others.map(({ id, name }) => (
        <option key={id} value={id}>
          {safeLabel(id === '@' ? name : id)}
        </option>
      ))}
    </select>
  );
}

/** The marks of the axes as a list, for the keyboard and for reading. */
export function MarkList({ runs, stage }: { runs: readonly RunDetail[]; stage: Stage }) {
  const evaluations = runs.flatMap((run) => evaluationsOn(stage, run).map(({ evaluation }) => ({ run, evaluation })));
  const checkpoints = runs.reduce((sum, run) => sum + run.checkpoints.filter((each) => each.stage === stage).length, 0);
  if (evaluations.length === 0 && checkpoints === 0) return null;
  return (
    <details class="mark-list">
      <summary>
        Marks on the axes: <span class="mark-sign mark-sign-evaluation" /> {evaluations.length} evaluations, <span class="mark-sign" />{' '}
        {checkpoints} checkpoints
      </summary>
      <ul>
        {evaluations.map(({ run, evaluation }) => (
          <li key={`${run.id} ${evaluation.stage} ${evaluation.step} ${evaluation.name}`}>
            {runs.length > 1 && <bdi>{run.name}: </bdi>}
            <a href={rolloutsOf(run.id, evaluation)}>{evaluationLabel(evaluation)}</a>
          </li>
        ))}
        {runs.map((run) => (
          <li key={run.id}>
            <a href={href(['run', run.id, 'overview'], { show: 'checkpoints' })}>Checkpoints of {run.name}</a>
          </li>
        ))}
      </ul>
    </details>
  );
}
