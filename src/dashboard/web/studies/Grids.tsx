/** Every plan as a table: a row a block, a cell an arm. */
import type { StudyArm, StudyCell, StudyGrid } from '../../api.js';
import { Badge } from '../components/bits.js';
import { SafeText } from '../components/SafeText.js';
import { count, duration, number } from '../format.js';
import { href } from '../router.js';
import { safeLabel } from '../safeText.js';
import { distinct, isBegun, progressText } from './studyWords.js';

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

function Grid({ grid: { plan, title, done, wanted, arms, blocks } }: { grid: StudyGrid }) {
  const endpoints = distinct(arms.map(endpointText));
  const id = `plan-${plan}`;
  return (
    <section class="card study-grid" aria-labelledby={id}>
      <div class="card-head">
        <h3 id={id} class="grow">
          <SafeText text={title} /> <span class="faint study-plan">{safeLabel(plan)}</span>
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
                <th key={arm.name} scope="col">
                  <bdi>{safeLabel(arm.name)}</bdi>
                  {endpoints.length > 1 && <span class="study-endpoint">{safeLabel(endpointText(arm))}</span>}
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
                  <td key={cell.key} class={`study-cell cell-${cell.state}`}>
                    <Cell cell={cell} arm={arms[i]!} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {endpoints.length === 1 && (
        <p class="card-note">
          Numbers: <bdi>{safeLabel(endpoints[0]!)}</bdi>
        </p>
      )}
    </section>
  );
}

const endpointText = ({ endpoint, unit }: StudyArm): string => (unit === 'units' ? endpoint : `${endpoint}, in ${unit}`);

function Cell({ cell, arm }: { cell: StudyCell; arm: StudyArm }) {
  const { state, run, progress, value, seconds, diverged } = cell;
  if (isBegun(cell)) {
    const text = progressText(progress);
    return (
      <>
        {run === undefined ? text : <a href={href(['run', run])}>{text}</a>}{' '}
        <span class="study-small">{state === 'running' ? 'running' : 'interrupted'}</span>
      </>
    );
  }
  if (state === 'waiting') return <span class="faint">waiting</span>;
  const shown = <span class="study-value">{number(value, 3)}</span>;
  return (
    <>
      {run === undefined ? shown : <a href={href(['run', run])}>{shown}</a>}
      <span class="hidden">{arm.unit === 'units' ? '' : ` ${arm.unit}`},</span>{' '}
      <span class="study-small">{duration(seconds === undefined ? undefined : Math.round(seconds))}</span>
      {diverged !== undefined && ' '}
      {diverged !== undefined && (
        <Badge tone="bad" title={safeLabel(diverged)}>
          diverged
        </Badge>
      )}
    </>
  );
}
