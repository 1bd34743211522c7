/** All rollouts of a run under a filter, as a list: any number of them, by keyboard, with exports of what is shown. */
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { RunDetail, TrajectoryLine, TrajectoryPage } from '../../api.js';
import { exportHref, runPath } from '../client.js';
import { Failed, Loading, Note, Select } from '../components/bits.js';
import { SafeText } from '../components/SafeText.js';
import { type Column, Table } from '../components/Table.js';
import { count, counted, duration, number, STAGE_NAMES, signed, stepLabel } from '../format.js';
import { useLive, useThrottled } from '../live.js';
import { setQuery, useRoute } from '../navigation.js';
import { Filters } from './Filters.js';
import { filterOf, patchOf, rolloutHref } from './links.js';
import { FlagMarks, RightMark, stopWords } from './marks.js';
import { changed, describeQuery, isNarrowed, SORTS, type Sort, toParams } from './query.js';
import { usePages } from './usePages.js';
import './trajectories.css';

/** Where one was in a list, for coming back to it. */
const places = new Map<string, number>();

const COLUMNS: readonly Column<TrajectoryLine>[] = [
  { key: 'right', title: 'Verdict', width: '84px', cell: (row) => <RightMark correct={row.correct} reason={row.reason} /> },
  { key: 'problem', title: 'Problem', width: 'minmax(130px, 1.4fr)', cell: (row) => <SafeText text={row.problemId} as="line" /> },
  {
    key: 'split',
    title: 'Split',
    width: 'minmax(80px, 0.8fr)',
    cell: (row) => `${STAGE_NAMES[row.stage] ?? row.stage} ${row.split}`,
    wide: true,
  },
  {
    key: 'step',
    title: 'Step',
    width: '64px',
    align: 'right',
    cell: (row) => (row.split === 'train' ? stepLabel(row.step) : `after ${count(row.step)}`),
    hint: 'Of an evaluation: after so many steps',
    wide: true,
  },
  { key: 'reward', title: 'Reward', width: '72px', align: 'right', sortable: true, cell: (row) => number(row.reward, 3) },
  {
    key: 'advantage',
    title: 'Advantage',
    width: '92px',
    align: 'right',
    sortable: true,
    cell: (row) => signed(row.advantage, 3),
    wide: true,
  },
  {
    key: 'calls',
    title: 'Calls',
    width: '60px',
    align: 'right',
    sortable: true,
    cell: (row) => row.calls,
    wide: true,
    hint: 'Executed calls',
  },
  { key: 'turns', title: 'Turns', width: '52px', align: 'right', cell: (row) => row.turns, wide: true },
  {
    key: 'tokens',
    title: 'Tokens',
    width: '76px',
    align: 'right',
    sortable: true,
    cell: (row) => number(row.modelTokens),
    wide: true,
    hint: 'Written by the model',
  },
  { key: 'seconds', title: 'Time', width: '70px', align: 'right', cell: (row) => duration(row.seconds), wide: true },
  { key: 'stop', title: 'Ended', width: 'minmax(90px, 0.9fr)', cell: (row) => stopWords(row.stopReason), wide: true },
  { key: 'flags', title: 'Notable', width: 'minmax(110px, 1.8fr)', cell: (row) => <FlagMarks flags={row.flags} />, wide: true },
];

/** What a click on a head asks for, descending and ascending. */
const HEAD_SORTS: Readonly<Record<string, readonly [Sort, Sort]>> = {
  reward: ['-reward', 'reward'],
  advantage: ['-advantage', 'advantage'],
  tokens: ['longest', 'shortest'],
  calls: ['calls', 'calls'],
};

export function RolloutList({ detail }: { readonly detail: RunDetail }) {
  const { id: run, splits } = detail;
  const { query } = useRoute();
  const filter = filterOf(query);
  const key = toParams(filter).toString();
  const place = `${run}?${key}`;
  const pages = usePages<TrajectoryLine>(
    place,
    (offset, limit) => runPath(run, `trajectories?${toParams({ ...filter, offset, limit })}`),
    (answer: TrajectoryPage) => answer,
  );

  const [newer, setNewer] = useState(false);
  const arrived = useThrottled(() => setNewer(true), 2000);
  useLive((event) => {
    if (event.kind === 'steps' && event.run === run) arrived();
    if (event.kind === 'reset') pages.reload();
  });
  const reload = (): void => {
    setNewer(false);
    pages.reload();
  };

  // sorting by a head makes a new table: the focus goes along
  const refocus = useRef(false);
  useLayoutEffect(() => {
    if (refocus.current) document.querySelector<HTMLElement>('.rollout-table')?.focus();
    refocus.current = false;
  }, [pages.shown]);

  const sort = useMemo(() => {
    for (const [column, [down, up]] of Object.entries(HEAD_SORTS)) {
      if (filter.sort === down) return { key: column, descending: true };
      if (filter.sort === up) return { key: column, descending: false };
    }
    return undefined;
  }, [filter.sort]);

  return (
    <section class="rollouts" aria-label="Rollouts">
      <Filters filter={filter} splits={splits} onChange={(next, typed) => setQuery(patchOf(next), { replace: typed === true })} />
      <div class="bar list-head">
        <p role="status">
          {pages.total === undefined ? (
            'Counting …'
          ) : (
            <>
              <strong>
                {pages.atLeast ? 'at least ' : ''}
                {counted(pages.total, 'rollout')}
              </strong>{' '}
              <span class="muted">{isNarrowed(filter) ? describeQuery(filter) : ''}</span>
            </>
          )}
        </p>
        {newer && (
          <button type="button" onClick={reload}>
            Newer rollouts are there: show them
          </button>
        )}
        <span class="grow" />
        <Select
          label="Order"
          value={filter.sort ?? 'newest'}
          options={Object.entries(SORTS) as [Sort, string][]}
          onChange={(next) => setQuery(patchOf(changed(filter, { sort: next })), { replace: false })}
        />
        <span class="muted">Export</span>
        <a href={exportHref(run, 'trajectories.csv', key)} download>
          CSV
        </a>
        <a href={exportHref(run, 'trajectories.jsonl', key)} download>
          JSON Lines
        </a>
      </div>
      {pages.note !== undefined && <Note tone="warn">{pages.note}</Note>}
      {pages.error !== undefined && <Failed error={pages.error} retry={pages.reload} />}
      {pages.total === undefined ? (
        pages.error === undefined && <Loading what="Loading rollouts" />
      ) : (
        <Table
          key={pages.shown}
          label="Rollouts"
          class={`rollout-table${pages.stale ? ' stale' : ''}`}
          columns={COLUMNS}
          count={pages.total}
          rowAt={pages.rowAt}
          keyOf={(row) => row.id}
          {...(sort && { sort })}
          onSort={(next) => {
            const names = HEAD_SORTS[next.key];
            refocus.current = true;
            if (names) setQuery(patchOf(changed(filter, { sort: names[next.descending ? 0 : 1] })), { replace: false });
          }}
          hrefOf={(row) => rolloutHref(run, row.id, filter)}
          onRange={pages.onRange}
          primary
          {...(places.has(pages.shown) && { initialIndex: places.get(pages.shown)! })}
          onActive={(index) => remember(pages.shown, index)}
          empty={isNarrowed(filter) ? 'No rollout is like this.' : 'No rollout has been written yet.'}
        />
      )}
    </section>
  );
}

function remember(place: string, index: number): void {
  places.delete(place);
  places.set(place, index);
  if (places.size > 50) places.delete(places.keys().next().value!);
}
