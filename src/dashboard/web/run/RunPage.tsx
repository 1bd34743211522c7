/** One run: its head with state and progress, its tabs, and the view that the tab names. Curves and overview are here; the rest has its own folders. */
import type { ComponentType } from 'preact';
import type { RunDetail } from '../../api.js';
import { runPath } from '../client.js';
import { Failed, Loading, Note, Tabs } from '../components/bits.js';
import { lazy } from '../lazy.js';
import { useLive, useThrottled } from '../live.js';
import { asLeft, navigate } from '../navigation.js';
import { href } from '../router.js';
import { useShortcuts } from '../shortcuts.js';
import { useApi } from '../useApi.js';
import { RUN_TABS, type RunTab, TAB_TITLES } from '../views.js';
import { RunHead } from './RunHead.js';

/** What a view of a run is given. Its filters are in the query: `useRoute`, `setQuery`. */
export interface RunViewProps {
  readonly run: RunDetail;
  /** Parts of the address after the tab: `#/run/RUN/trajectories/17` gives `['17']`. */
  readonly rest: readonly string[];
}

const VIEWS: Readonly<Record<RunTab, ComponentType<RunViewProps>>> = {
  curves: lazy(() => import('./Curves.js')),
  overview: lazy(() => import('./Overview.js')),
  trajectories: lazy(() => import('../trajectories/TrajectoriesView.js')),
  groups: lazy(() => import('../groups/GroupsView.js')),
  problems: lazy(() => import('../problems/ProblemsView.js')),
  modes: lazy(() => import('../modes/ModesView.js')),
  reports: lazy(() => import('../reports/RunReportsView.js')),
};

export default function RunPage({ run, tab, rest }: { run: string; tab: RunTab; rest: readonly string[] }) {
  const asked = useApi<RunDetail>(runPath(run));
  const reload = useThrottled(asked.reload, 3000);
  useLive((event) => {
    if (event.kind === 'reset' || event.kind === 'runs' || ('run' in event && event.run === run)) reload();
  });
  useShortcuts(
    'The run',
    RUN_TABS.map((each, i) => ({ keys: String(i + 1), label: TAB_TITLES[each], run: () => navigate(asLeft(href(['run', run, each]))) })),
  );
  const { value, error } = asked;
  if (value === undefined) return error === undefined ? <Loading what="Reading the run" /> : <Failed error={error} retry={asked.reload} />;
  const View = VIEWS[tab];
  return (
    <>
      <RunHead run={value} />
      {error !== undefined && <Note tone="warn">{error.message}</Note>}
      <Tabs
        label="Views of the run"
        current={tab}
        items={RUN_TABS.map((key) => ({
          key,
          label: TAB_TITLES[key],
          href: key === tab && rest.length === 0 ? href(['run', run, key]) : asLeft(href(['run', run, key])),
        }))}
      />
      <View run={value} rest={rest} />
    </>
  );
}
