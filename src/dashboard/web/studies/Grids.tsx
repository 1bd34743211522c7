/** Every plan as a table: a row a block, a cell an arm. */
import type { StudyCell, StudyGrid } from '../../api.js';
import { Badge, Select } from '../components/bits.js';
import { SafeText } from '../components/SafeText.js';
import { count, duration, number } from '../format.js';
import { setQuery, useRoute } from '../navigation.js';
import { href, numberOf } from '../router.js';
import { safeLabel } from '../safeText.js';
import { progressText } from './studyWords.js';

export function Grids({ grids }: { readonly grids: readonly StudyGrid[] }) {
  return (
    <section aria-labelledby="study-blocks">
      <h2 id="study-blocks" tabIndex={-1}>
        Arms and blocks
      </h2>
      <div class="study-grids">
        {grids.map((grid) => (
          <Grid key={grid.plan} grid={grid} />
        ))}
      </div>
    </section>
  );
}

/** More arms than stand side by side in half a window. */
const MANY = 4;

function Grid({ grid: { plan, title, done, wanted, arms, endpoints, blocks } }: { grid: StudyGrid }) {
  const { query } = useRoute();
  const asked = numberOf(query, plan) ?? 0;
  const shown = endpoints[asked] === undefined ? 0 : asked;
  const id = `plan-${plan}`;
  return (
    <section class={`card study-grid${arms.length > MANY ? ' study-grid-wide' : ''}`} aria-labelledby={id}>
      <div class="card-head">
        <h3 id={id} class="grow">
          <SafeText text={title} /> <span class="study-where">{safeLabel(plan)}</span>
        </h3>
        <span class="muted nowrap">
          {count(done)} of {count(wanted)}
        </span>
      </div>
      <section class="scroll" tabIndex={0} aria-label={`Blocks of ${safeLabel(plan)}`}>
        <table class="plain study-table">
          <thead>
            <tr>
              <th scope="col">block</th>
              {arms.map((arm) => (
                <th key={arm} scope="col">
                  <bdi>{safeLabel(arm)}</bdi>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {blocks.map(({ block, seed, cells }) => (
              <tr key={block}>
                <th scope="row" title={`seed ${seed}`}>
                  {block + 1}
                </th>
                {cells.map((cell, i) => (
                  <td key={arms[i]} class={`study-cell cell-${cell.state}`}>
                    <Cell cell={cell} shown={shown} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <div class="card-note">
        {endpoints.length === 1 ? (
          <>
            Numbers: <SafeText text={endpointText(endpoints[0]!)} />
          </>
        ) : (
          <Select
            label="Numbers"
            value={String(shown)}
            options={endpoints.map((endpoint, i) => [String(i), safeLabel(endpointText(endpoint))] as const)}
            onChange={(value) => setQuery({ [plan]: value === '0' ? undefined : value })}
          />
        )}
      </div>
    </section>
  );
}

const endpointText = ({ text, unit }: StudyGrid['endpoints'][number]): string => (unit === 'points' ? `${text}, in points` : text);

function Cell({ cell, shown }: { cell: StudyCell; shown: number }) {
  const { state, run, progress, values, seconds, diverged } = cell;
  if (state === 'waiting') return <span class="faint">waiting</span>;
  const text = state === 'done' ? <span class="study-value">{number(values?.[shown], 3)}</span> : progressText(progress);
  const when = state === 'done' ? duration(seconds === undefined ? undefined : Math.round(seconds)) : state;
  return (
    <>
      {run === undefined ? text : <a href={href(['run', run])}>{text}</a>} <span class="study-small">{when}</span>
      {diverged !== undefined && ' '}
      {diverged !== undefined && (
        <Badge tone="bad" title={safeLabel(diverged)}>
          diverged
        </Badge>
      )}
    </>
  );
}
