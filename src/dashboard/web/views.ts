/** Which view an address names, and the way back from it. Pure. */
import { href, manyOf, type Route } from './router.js';

/** The views of one run; each has its address `#/run/RUN/TAB`. */
export const RUN_TABS = ['curves', 'overview', 'trajectories', 'groups', 'problems', 'modes', 'reports'] as const;
export type RunTab = (typeof RUN_TABS)[number];

export const TAB_TITLES: Readonly<Record<RunTab, string>> = {
  curves: 'Curves',
  overview: 'Overview',
  trajectories: 'Trajectories',
  groups: 'Groups',
  problems: 'Problems',
  modes: 'Modes',
  reports: 'Reports',
};

export type View =
  | { readonly kind: 'runs' }
  /** `rest`: what comes after the tab, for example the id of a trajectory. */
  | { readonly kind: 'run'; readonly run: string; readonly tab: RunTab; readonly rest: readonly string[] }
  | { readonly kind: 'compare'; readonly runs: readonly string[] }
  | { readonly kind: 'reports'; readonly rest: readonly string[] }
  /** All of them, or one. */
  | { readonly kind: 'studies'; readonly study: string | undefined }
  | { readonly kind: 'unknown' };

export function viewOf({ segments, query }: Route): View {
  const [first, second, third, ...rest] = segments;
  if (first === undefined) return { kind: 'runs' };
  if (first === 'compare' && second === undefined) return { kind: 'compare', runs: manyOf(query, 'run') };
  if (first === 'reports') return { kind: 'reports', rest: segments.slice(1) };
  if (first === 'studies' && third === undefined) return { kind: 'studies', study: second };
  if (first !== 'run' || second === undefined) return { kind: 'unknown' };
  const tab = third ?? 'curves';
  return isTab(tab) ? { kind: 'run', run: second, tab, rest } : { kind: 'unknown' };
}

const isTab = (text: string): text is RunTab => (RUN_TABS as readonly string[]).includes(text);

export interface Crumb {
  readonly label: string;
  readonly to: string;
}

/** From the runs down to the view itself. */
export function crumbsOf(view: View): readonly Crumb[] {
  const runs: Crumb = { label: 'Runs', to: href([]) };
  switch (view.kind) {
    case 'runs':
    case 'unknown':
      return [runs];
    case 'compare':
      return [runs, { label: `Compare ${view.runs.length}`, to: href(['compare'], { run: view.runs }) }];
    case 'reports':
      return [runs, { label: 'Data reports', to: href(['reports']) }];
    case 'studies': {
      const all: Crumb = { label: 'Studies', to: href(['studies']) };
      if (view.study === undefined) return [runs, all];
      return [runs, all, { label: nameOf(view.study), to: href(['studies', view.study]) }];
    }
    case 'run': {
      const run: Crumb = { label: nameOf(view.run), to: href(['run', view.run]) };
      if (view.tab === 'curves') return [runs, run];
      const tab: Crumb = { label: TAB_TITLES[view.tab], to: href(['run', view.run, view.tab]) };
      return view.rest.length === 0
        ? [runs, run, tab]
        : [runs, run, tab, { label: view.rest.join('/'), to: href(['run', view.run, view.tab, ...view.rest]) }];
    }
  }
}

const nameOf = (id: string): string => (id === '@' ? 'this folder' : id);
