/** The problems of a run: how often each was met and solved, hardest first, or by how much it changed. */
import type { ProblemLine, ProblemPage, RunDetail } from '../../api.js';
import { runPath } from '../client.js';
import { Failed, Loading, Meter, Note, Search, Select } from '../components/bits.js';
import { SafeText } from '../components/SafeText.js';
import { type Column, Table } from '../components/Table.js';
import { count, counted, percent, stepLabel } from '../format.js';
import { setQuery, useRoute } from '../navigation.js';
import { problemHref } from '../trajectories/links.js';
import { usePages } from '../trajectories/usePages.js';
import { PROBLEM_SORTS, type ProblemSort, problemFilterOf } from './problemQuery.js';
import '../trajectories/trajectories.css';
import './problems.css';

const COLUMNS: readonly Column<ProblemLine>[] = [
  {
    key: 'accuracy',
    title: 'Right',
    width: 'minmax(110px, 0.6fr)',
    cell: (row) => (
      <span class="share">
        <Meter value={row.right / Math.max(1, row.rollouts)} label={`${row.right} of ${row.rollouts} right`} tone="good" />
        <span>{percent(row.rollouts === 0 ? undefined : row.right / row.rollouts, 0)}</span>
      </span>
    ),
  },
  { key: 'problem', title: 'Problem', width: 'minmax(110px, 0.8fr)', cell: (row) => <SafeText text={row.problemId} as="line" /> },
  { key: 'question', title: 'Question', width: 'minmax(120px, 3fr)', cell: (row) => <SafeText text={row.question} as="line" /> },
  { key: 'rollouts', title: 'Rollouts', width: '76px', align: 'right', cell: (row) => count(row.rollouts), wide: true },
];

/** Steps mean something within one split; an evaluation's count the steps made before. */
const stepsColumn = (train: boolean): Column<ProblemLine> => ({
  key: 'steps',
  title: train ? 'Steps' : 'After steps',
  width: '100px',
  align: 'right',
  wide: true,
  hint: 'The first and the last at which it was met',
  cell: ({ firstStep, lastStep }) => [...new Set([firstStep, lastStep])].map(train ? stepLabel : count).join('–'),
});

const CHANGE: Column<ProblemLine> = {
  key: 'change',
  title: 'Early → late',
  width: '120px',
  align: 'right',
  wide: true,
  hint: 'Accuracy in the first and in the last third of its meetings',
  cell: ({ early, late }) => (early === undefined || late === undefined ? '' : `${percent(early, 0)} → ${percent(late, 0)}`),
};

export function ProblemList({ detail }: { readonly detail: RunDetail }) {
  const { id: run, splits } = detail;
  const { query } = useRoute();
  const filter = problemFilterOf(query);
  const params = new URLSearchParams(filter as Record<string, string>);
  const columns = [...COLUMNS, CHANGE, ...(filter.split === undefined ? [] : [stepsColumn(filter.split === 'train')])];
  const pages = usePages<ProblemLine>(
    `${run}?${params}`,
    (offset, limit) => {
      const asked = new URLSearchParams(params);
      asked.set('offset', String(offset));
      asked.set('limit', String(limit));
      return runPath(run, `problems?${asked}`);
    },
    ({ problems, ...rest }: ProblemPage) => ({ rows: problems, ...rest }),
  );
  return (
    <section aria-label="Problems">
      <div class="bar">
        <Search
          label="Search id and question"
          placeholder="Search id and question …"
          value={filter.text ?? ''}
          onChange={(text) => setQuery({ text: text === '' ? undefined : text })}
        />
        <Select
          label="Split"
          value={filter.split ?? ''}
          options={[['', 'all'], ...[...new Set(splits.map(({ split }) => split))].map((split) => [split, split] as const)]}
          onChange={(split) => setQuery({ split: split === '' ? undefined : split }, { replace: false })}
        />
        <Select<ProblemSort>
          label="Order"
          value={filter.sort ?? 'hardest'}
          options={Object.entries(PROBLEM_SORTS) as [ProblemSort, string][]}
          onChange={(sort) => setQuery({ sort: sort === 'hardest' ? undefined : sort }, { replace: false })}
        />
        <span class="grow" />
        <span role="status">{pages.total === undefined ? '' : counted(pages.total, 'problem')}</span>
      </div>
      {pages.note !== undefined && <Note tone="warn">{pages.note}</Note>}
      {pages.error !== undefined && <Failed error={pages.error} retry={pages.reload} />}
      {pages.total === undefined ? (
        pages.error === undefined && <Loading what="Reading the problems" />
      ) : (
        <Table
          key={pages.shown}
          label="Problems"
          columns={columns}
          count={pages.total}
          rowAt={pages.rowAt}
          keyOf={(row) => row.problemId}
          hrefOf={(row) => problemHref(run, row.problemId)}
          onRange={pages.onRange}
          primary
          empty="No problem is like this."
        />
      )}
    </section>
  );
}
