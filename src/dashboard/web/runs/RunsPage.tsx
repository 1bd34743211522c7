/** All runs of the folder: what state they are in, how far, how well; to be searched, sorted, grouped by folder and compared. */
import { useMemo } from 'preact/hooks';
import type { RunState, RunSummary } from '../../api.js';
import { Badge, Empty, Failed, Loading, Meter, Note, Search } from '../components/bits.js';
import { type Column, Table } from '../components/Table.js';
import { ago, count, counted, dateTime, duration, fixed, percent, signed } from '../format.js';
import { navigate, setQuery, useRoute } from '../navigation.js';
import { href, manyOf, oneOf } from '../router.js';
import { mainStage, STATE_HINTS, STATE_TONES, STATE_WORDS, secondsLeft, stageText } from '../run/progress.js';
import { safeLabel } from '../safeText.js';
import { useShortcuts } from '../shortcuts.js';
import { useMedia } from '../useMedia.js';
import { useNow } from '../useNow.js';
import { filterRuns, newestAccuracy, type RunRow, type RunSort, rowsOf, sortRuns } from './runsList.js';
import { loadRuns, useRuns } from './runsStore.js';
import { Sparkline } from './Sparkline.js';

const SORTS: readonly RunSort[] = ['updated', 'name', 'state', 'recipe', 'accuracy', 'reward', 'evaluation'];
const STATES: readonly RunState[] = ['running', 'interrupted', 'ended', 'unreadable'];

export function RunsPage() {
  const { runs, error } = useRuns();
  const { query } = useRoute();
  const now = useNow(5000);
  const narrow = useMedia('(max-width: 720px)');
  const text = oneOf(query, 'q') ?? '';
  const state = STATES.find((each) => each === oneOf(query, 'state'));
  const by = SORTS.find((each) => each === oneOf(query, 'sort')) ?? 'updated';
  const descending = (oneOf(query, 'order') ?? (by === 'updated' ? 'down' : 'up')) === 'down';
  const grouped = oneOf(query, 'group') === 'folder';
  const selected = useMemo(() => new Set(manyOf(query, 'sel')), [query]);
  const rows = useMemo(
    () => rowsOf(sortRuns(filterRuns(runs ?? [], { text, state }), by, descending), grouped),
    [runs, text, state, by, descending, grouped],
  );

  const chosen = [...selected].filter((id) => runs?.some((run) => run.id === id));
  const compare = (): boolean => {
    if (chosen.length < 2) return false;
    navigate(href(['compare'], { run: chosen }));
    return true;
  };
  const select = (row: RunRow): void => {
    if (row.kind !== 'run') return;
    const { id } = row.run;
    setQuery({ sel: selected.has(id) ? [...selected].filter((each) => each !== id) : [...selected, id] });
  };
  useShortcuts('Runs', [
    { keys: 'c', label: 'compare the selected runs', run: compare },
    { keys: 'f', label: 'group by folder', run: () => setQuery({ group: grouped ? undefined : 'folder' }) },
  ]);

  if (runs === undefined) return error === undefined ? <Loading what="Reading the runs" /> : <Failed error={error} retry={loadRuns} />;
  if (runs.length === 0) {
    return (
      <Empty title="There is no run in this folder yet.">
        A run is a folder with a <code>run.sqlite</code>, as <code>toolwise train</code> and <code>npm run demo</code> write it. It appears
        here by itself.
      </Empty>
    );
  }
  const columns = columnsOf(selected, select, now, narrow);
  const found = rows.filter(({ kind }) => kind === 'run').length;
  return (
    <>
      <div class="bar">
        <h1 class="hidden">Runs</h1>
        <Search value={text} onChange={(q) => setQuery({ q: q === '' ? undefined : q })} label="Search runs" />
        <span class="row" role="group" aria-label="State">
          {STATES.map((each) => {
            const many = runs.filter((run) => run.state === each).length;
            return many === 0 ? null : (
              <button
                type="button"
                key={each}
                class="chip"
                aria-pressed={state === each}
                title={STATE_HINTS[each]}
                onClick={() => setQuery({ state: state === each ? undefined : each })}
              >
                {STATE_WORDS[each]} {many}
              </button>
            );
          })}
        </span>
        <button type="button" class="chip" aria-pressed={grouped} onClick={() => setQuery({ group: grouped ? undefined : 'folder' })}>
          by folder
        </button>
        <span class="faint">{found === runs.length ? counted(found, 'run') : `${count(found)} of ${counted(runs.length, 'run')}`}</span>
        <span class="bar-end row">
          {selected.size > 0 && (
            <button type="button" class="quiet" onClick={() => setQuery({ sel: undefined })}>
              Clear
            </button>
          )}
          <button type="button" class={chosen.length >= 2 ? 'primary' : ''} disabled={chosen.length < 2} onClick={compare} title="c">
            {chosen.length < 2 ? 'Compare' : `Compare ${chosen.length} runs`}
          </button>
        </span>
      </div>
      {error !== undefined && <Note tone="warn">{error.message}</Note>}
      <Table<RunRow>
        label="Runs"
        class="runs"
        primary
        rememberAs="runs"
        rowHeight={46}
        columns={columns}
        count={rows.length}
        rowAt={(i) => rows[i]}
        keyOf={(row) => (row.kind === 'run' ? row.run.id : `folder ${row.folder}`)}
        wholeRow={(row) => (row.kind === 'folder' ? <FolderHead folder={row.folder} runs={row.count} /> : undefined)}
        rowClass={(row) => (row.kind === 'folder' ? 'folder-row' : '')}
        hrefOf={(row) =>
          row.kind === 'run'
            ? href(row.run.state === 'unreadable' ? ['run', row.run.id, 'overview'] : ['run', row.run.id])
            : href([], { q: row.folder, group: 'folder' })
        }
        selected={(row) => row.kind === 'run' && selected.has(row.run.id)}
        onSelect={select}
        sort={{ key: by, descending }}
        onSort={({ key, descending: down }) => setQuery({ sort: key, order: down ? 'down' : 'up' })}
        empty="No run is like that."
      />
    </>
  );
}

function FolderHead({ folder, runs }: { folder: string; runs: number }) {
  return (
    <>
      <bdi class="folder-name">{safeLabel(folder)}</bdi> <span class="faint">{counted(runs, 'run')}</span>
    </>
  );
}

function columnsOf(selected: ReadonlySet<string>, select: (row: RunRow) => void, now: number, narrow: boolean): readonly Column<RunRow>[] {
  const of = (cell: (run: RunSummary) => preact.ComponentChildren) => (row: RunRow) => (row.kind === 'run' ? cell(row.run) : null);
  return [
    {
      key: 'select',
      title: <span class="hidden">Selected</span>,
      width: '18px',
      cell: (row) =>
        row.kind === 'run' && (
          <input
            type="checkbox"
            aria-label={`Select ${safeLabel(row.run.id)}`}
            tabIndex={-1}
            checked={selected.has(row.run.id)}
            onChange={() => select(row)}
          />
        ),
    },
    {
      key: 'name',
      title: 'run',
      width: narrow ? 'minmax(0, 1fr)' : 'minmax(180px, 2fr)',
      sortable: true,
      cell: of((run) => (
        <span class="two">
          <span class="row nowrap-row">
            <bdi class="run-name cut">{safeLabel(run.id === '@' ? run.name : run.id)}</bdi>
            <Badge tone={STATE_TONES[run.state]} title={STATE_HINTS[run.state]}>
              {STATE_WORDS[run.state]}
            </Badge>
          </span>
          {run.note === undefined ? (
            <span class="faint cut">{safeLabel(narrow ? progressText(run, now) : begunText(run, now))}</span>
          ) : (
            <span class={`cut ${run.state === 'unreadable' ? 'bad' : 'faint'}`} title={safeLabel(run.note)}>
              {safeLabel(run.note)}
            </span>
          )}
        </span>
      )),
    },
    {
      key: 'recipe',
      title: 'recipe, model',
      width: 'minmax(110px, 1fr)',
      sortable: true,
      wide: true,
      cell: of((run) => (
        <span class="two">
          <bdi class="cut">{safeLabel(run.recipe ?? '–')}</bdi>
          <bdi class="faint cut">
            {safeLabel([run.model, run.seed === undefined ? undefined : `seed ${run.seed}`].filter(Boolean).join(' · '))}
          </bdi>
        </span>
      )),
    },
    {
      key: 'progress',
      title: 'progress',
      width: 'minmax(120px, 1fr)',
      wide: true,
      cell: of((run) => <Progress run={run} now={now} />),
    },
    {
      key: 'accuracy',
      title: 'accuracy',
      width: narrow ? '74px' : '84px',
      align: 'right',
      sortable: true,
      hint: 'Of the newest step’s rollouts',
      cell: of((run) => percent(run.last['rollout/accuracy'])),
    },
    {
      key: 'reward',
      title: 'reward',
      width: '72px',
      align: 'right',
      sortable: true,
      wide: true,
      hint: 'Total, mean over the newest step’s rollouts',
      cell: of((run) =>
        typeof run.last['reward/total'] === 'number' ? signed(Number(fixed(run.last['reward/total'], 3).replace('−', '-'))) : '–',
      ),
    },
    {
      key: 'curve',
      title: 'curve',
      width: '112px',
      wide: true,
      hint: 'Accuracy; reward or loss where there is none',
      cell: of((run) => <Sparkline run={run} />),
    },
    {
      key: 'evaluation',
      title: 'evaluation',
      width: 'minmax(110px, 0.8fr)',
      align: 'right',
      sortable: true,
      wide: true,
      hint: 'Accuracy of the newest evaluation',
      cell: of((run) => <Evaluation run={run} />),
    },
    {
      key: 'updated',
      title: 'written',
      width: '92px',
      align: 'right',
      sortable: true,
      wide: true,
      cell: of((run) => <span title={dateTime(run.updatedAt)}>{ago(run.updatedAt, now)}</span>),
    },
  ];
}

const begunText = (run: RunSummary, now: number): string =>
  [
    run.startedAt === undefined ? undefined : `begun ${ago(run.startedAt, now)}`,
    run.trajectories > 0 ? counted(run.trajectories, 'rollout') : undefined,
  ]
    .filter((part) => part !== undefined)
    .join(' · ');

function progressText(run: RunSummary, now: number): string {
  const stage = mainStage(run);
  if (stage === undefined) return ago(run.updatedAt, now);
  return `${stageText({ ...stage })} · ${ago(run.updatedAt, now)}`;
}

function Progress({ run, now }: { run: RunSummary; now: number }) {
  const stage = mainStage(run);
  if (stage === undefined) return <span class="faint">–</span>;
  const left = run.state === 'running' ? secondsLeft(stage, run.updatedAt, now) : undefined;
  const title = run.stages.map(stageText).join(', ');
  return (
    <span class="two" title={title}>
      <span class="cut">
        {stageText(stage)}
        {left !== undefined && <span class="muted">, {duration(Math.max(1, Math.round(left)))} left</span>}
      </span>
      {stage.steps > 0 && (
        <Meter
          value={stage.done / stage.steps}
          label={`${count(stage.done)} of ${count(stage.steps)} steps`}
          tone={run.state === 'running' ? 'good' : run.state === 'interrupted' ? 'warn' : 'neutral'}
        />
      )}
    </span>
  );
}

function Evaluation({ run }: { run: RunSummary }) {
  const newest = newestAccuracy(run);
  if (newest === undefined) return <span class="faint">–</span>;
  const { intervalLow, intervalHigh, accuracy } = newest.metrics;
  return (
    <span class="two" title={run.evaluations.map(({ name, metrics }) => `${safeLabel(name)}: ${percent(metrics.accuracy)}`).join('\n')}>
      <span>
        {percent(accuracy)} <bdi class="faint">{safeLabel(newest.name)}</bdi>
      </span>
      {typeof intervalLow === 'number' && typeof intervalHigh === 'number' && (
        <span class="faint">
          {percent(intervalLow).replace(' %', '')} – {percent(intervalHigh)}
        </span>
      )}
    </span>
  );
}
