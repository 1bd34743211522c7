/** The groups of a run: which problem, how many were right, how far the rewards are apart. */
import type { GroupLine, GroupPage, RunDetail } from '../../api.js';
import { runPath } from '../client.js';
import { Empty, Failed, Loading, Meter, Note, Select } from '../components/bits.js';
import { SafeText } from '../components/SafeText.js';
import { type Column, Table } from '../components/Table.js';
import { count, counted, number, STAGE_NAMES } from '../format.js';
import { setQuery, useRoute } from '../navigation.js';
import { groupHref, listHref } from '../trajectories/links.js';
import { whereWords } from '../trajectories/marks.js';
import { usePages } from '../trajectories/usePages.js';
import { GROUP_KINDS, GROUP_SORTS, type GroupKind, type GroupSort, groupFilterOf, groupPatch } from './groupQuery.js';
import '../trajectories/trajectories.css';
import './groups.css';

const COLUMNS: readonly Column<GroupLine>[] = [
  { key: 'group', title: 'Group', width: 'minmax(90px, 0.8fr)', cell: (row) => <SafeText text={row.groupId} as="line" /> },
  { key: 'problem', title: 'Problem', width: 'minmax(120px, 1.2fr)', cell: (row) => <SafeText text={row.problemId} as="line" /> },
  { key: 'where', title: 'Where', width: 'minmax(110px, 0.9fr)', cell: whereWords, wide: true },
  {
    key: 'right',
    title: 'Right',
    width: 'minmax(120px, 0.9fr)',
    cell: (row) => (
      <span class="share">
        <Meter value={row.right / Math.max(1, row.rollouts)} label={`${row.right} of ${row.rollouts} right`} tone="good" />
        <span>
          {count(row.right)}/{count(row.rollouts)}
        </span>
      </span>
    ),
  },
  { key: 'mean', title: 'Mean reward', width: '92px', align: 'right', cell: (row) => number(row.reward, 3), wide: true },
  {
    key: 'spread',
    title: 'Rewards',
    width: 'minmax(120px, 1fr)',
    cell: (row) =>
      row.low === undefined || row.high === undefined ? (
        <span class="muted">none</span>
      ) : row.low === row.high ? (
        <span class="warn">all {number(row.low, 3)}: no gradient</span>
      ) : (
        `${number(row.low, 3)} to ${number(row.high, 3)}`
      ),
  },
];

/** Of the address: every split. */
const ALL = 'all';

export function GroupList({ detail }: { readonly detail: RunDetail }) {
  const { id: run, splits } = detail;
  const { query } = useRoute();
  const filter = groupFilterOf(query);
  const names = [...new Set(splits.map(({ split: name }) => name))];
  const usual = filter.problemId === undefined && names.includes('train') ? 'train' : ALL;
  const split = filter.split ?? usual;
  const params = new URLSearchParams(filter as Record<string, string>);
  const pages = usePages<GroupLine>(
    `${run}?${params}`,
    (offset, limit) => {
      const asked = new URLSearchParams(params);
      if (split === ALL) asked.delete('split');
      else asked.set('split', split);
      asked.set('offset', String(offset));
      asked.set('limit', String(limit));
      return runPath(run, `groups?${asked}`);
    },
    ({ groups, ...rest }: GroupPage) => ({ rows: groups, ...rest }),
  );
  const stages = [...new Set(splits.map(({ stage }) => stage))];
  return (
    <section aria-label="Groups">
      <div class="bar">
        <Select
          label="Stage"
          value={filter.stage ?? ''}
          options={[['', 'all'], ...stages.map((stage) => [stage, STAGE_NAMES[stage] ?? stage] as const)]}
          onChange={(stage) => setQuery(groupPatch({ stage }), { replace: false })}
        />
        <Select
          label="Split"
          value={split}
          options={[[ALL, 'all'], ...names.map((name) => [name, name] as const)]}
          onChange={(next) => setQuery(groupPatch({ split: next === usual ? '' : next }), { replace: false })}
        />
        <Select<GroupKind | ''>
          label="Only"
          value={filter.kind ?? ''}
          options={[['', 'any'], ...(Object.entries(GROUP_KINDS) as [GroupKind, string][])]}
          onChange={(kind) => setQuery(groupPatch({ kind }), { replace: false })}
        />
        <Select<GroupSort>
          label="Order"
          value={filter.sort ?? 'newest'}
          options={Object.entries(GROUP_SORTS) as [GroupSort, string][]}
          onChange={(sort) => setQuery(groupPatch({ sort }), { replace: false })}
        />
        {filter.problemId !== undefined && (
          <button type="button" class="flag-chip" aria-pressed="true" onClick={() => setQuery({ problemId: undefined })}>
            problem <SafeText text={filter.problemId} /> ×
          </button>
        )}
        <span class="grow" />
        <span role="status">{pages.total === undefined ? '' : counted(pages.total, 'group')}</span>
      </div>
      {pages.note !== undefined && <Note tone="warn">{pages.note}</Note>}
      {pages.error !== undefined && <Failed error={pages.error} retry={pages.reload} />}
      {pages.total === undefined ? (
        pages.error === undefined && <Loading what="Reading the groups" />
      ) : (
        <Table
          key={pages.shown}
          label="Groups"
          class={pages.stale ? 'stale' : ''}
          columns={COLUMNS}
          count={pages.total}
          rowAt={pages.rowAt}
          keyOf={(row) => `${row.stage} ${row.groupId}`}
          hrefOf={(row) => groupHref(run, row)}
          onRange={pages.onRange}
          primary
          empty={
            <Empty title="No group is like this.">
              <a href={listHref(run)}>All rollouts</a>
            </Empty>
          }
        />
      )}
    </section>
  );
}
