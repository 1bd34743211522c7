/** The frame of every view: head with the way back, the live state, theme and keys; below it the view that the address names. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Empty } from './components/bits.js';
import { lazy } from './lazy.js';
import { type Connection, connection } from './live.js';
import { asLeft, navigate, useRoute } from './navigation.js';
import { href } from './router.js';
import { RunsPage } from './runs/RunsPage.js';
import { ShortcutList } from './ShortcutList.js';
import { safeLabel } from './safeText.js';
import { useShortcuts } from './shortcuts.js';
import { useStore } from './store.js';
import { nextTheme, useThemeChoice } from './theme.js';
import { type Crumb, crumbsOf, viewOf } from './views.js';

const RunPage = lazy(() => import('./run/RunPage.js'));
const ComparePage = lazy(() => import('./compare/ComparePage.js'));
const ReportsView = lazy(() => import('./reports/ReportsView.js'));
const StudiesPage = lazy(() => import('./studies/StudiesPage.js'));
const StudyPage = lazy(() => import('./studies/StudyPage.js'));

export function App() {
  const route = useRoute();
  const view = viewOf(route);
  const crumbs = crumbsOf(view);
  const [help, setHelp] = useState(false);
  const main = useRef<HTMLElement>(null);
  const place = `${view.kind}/${view.kind === 'run' ? `${view.run}/${view.tab}` : view.kind === 'studies' ? view.study : ''}`;
  const before = useRef(place);

  useEffect(() => {
    document.title = [...crumbs.map(({ label }) => safeLabel(label)).reverse(), 'Toolwise'].join(' · ');
  });
  useEffect(() => {
    if (before.current === place) return;
    before.current = place;
    scrollTo(0, 0);
    // a reader of the screen hears the new view; nothing is outlined, for `main` is no control
    if (!main.current?.contains(document.activeElement)) main.current?.focus({ preventScroll: true });
  }, [place]);

  useShortcuts('Everywhere', [
    { keys: '?', label: 'this list', run: () => setHelp(true) },
    { keys: '/', label: 'search', run: focusSearch },
    { keys: 'g r', label: 'go to the runs', run: () => navigate(asLeft(href([]))) },
    { keys: 'g s', label: 'go to the studies', run: () => navigate(href(['studies'])) },
    { keys: 'g d', label: 'go to the data reports', run: () => navigate(href(['reports'])) },
    { keys: 't', label: 'light, dark or as the system', run: nextTheme },
    { keys: 'Escape', label: 'back, up', run: () => goUp(crumbs) },
  ]);

  return (
    <>
      {/* biome-ignore lint/a11y/useValidAnchor: the address names the view, so the way to the content cannot stand in it */}
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        Skip to the content
      </a>
      <header class="top">
        <nav class="crumbs" aria-label="Where you are">
          <a class="brand" href={href([])}>
            Toolwise
          </a>
          <ol>
            {crumbs.map(({ label, to }, i) => (
              <li key={to}>
                <a href={i === crumbs.length - 1 ? to : asLeft(to)} aria-current={i === crumbs.length - 1 ? 'location' : undefined}>
                  <bdi>{safeLabel(label)}</bdi>
                </a>
              </li>
            ))}
          </ol>
        </nav>
        <div class="top-tools">
          <a class="top-link top-always" href={href(['studies'])} aria-current={view.kind === 'studies' ? 'page' : undefined}>
            Studies
          </a>
          <a class="top-link" href={href(['reports'])} aria-current={view.kind === 'reports' ? 'page' : undefined}>
            Data reports
          </a>
          <LiveState />
          <ThemeSwitch />
          <button type="button" class="quiet" aria-label="Keyboard shortcuts" title="Keyboard shortcuts (?)" onClick={() => setHelp(true)}>
            ?
          </button>
        </div>
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        {view.kind === 'runs' && <RunsPage />}
        {view.kind === 'run' && <RunPage key={view.run} run={view.run} tab={view.tab} rest={view.rest} />}
        {view.kind === 'compare' && <ComparePage runs={view.runs} />}
        {view.kind === 'reports' && <ReportsView rest={view.rest} />}
        {view.kind === 'studies' && (view.study === undefined ? <StudiesPage /> : <StudyPage key={view.study} study={view.study} />)}
        {view.kind === 'unknown' && (
          <>
            <h1 class="hidden">No such view</h1>
            <Empty title="There is no such view.">
              <a href={href([])}>Go to the runs</a>
            </Empty>
          </>
        )}
      </main>
      {help && <ShortcutList onClose={() => setHelp(false)} />}
    </>
  );
}

const WORDS: Readonly<Record<Connection, readonly [short: string, long: string]>> = {
  connecting: ['Connecting', 'Connecting to the server'],
  open: ['Live', 'Live: what the runs write is shown as it comes'],
  lost: ['Connection lost, trying again', 'The server does not answer; what is shown may be old'],
};

/** Says also that a lost connection is there again, for a moment. */
function LiveState() {
  const state = useStore(connection);
  const [found, setFound] = useState(false);
  const lost = useRef(false);
  useEffect(() => {
    if (state === 'lost') lost.current = true;
    if (state !== 'open' || !lost.current) return;
    lost.current = false;
    setFound(true);
    const timer = setTimeout(() => setFound(false), 4000);
    return () => clearTimeout(timer);
  }, [state]);
  const [short, long] = WORDS[state];
  return (
    <span class={`live live-${state}`} role="status" title={long}>
      <span class="live-dot" aria-hidden="true" />
      <span class="live-text">{found && state === 'open' ? 'Connected again' : short}</span>
    </span>
  );
}

const THEME_SIGNS = { system: '◐', light: '☀', dark: '☾' } as const;

function ThemeSwitch() {
  const choice = useThemeChoice();
  const label = `Colours: ${choice === 'system' ? 'as the system' : choice}`;
  return (
    <button type="button" class="quiet" onClick={nextTheme} aria-label={label} title={`${label} (t)`}>
      <span aria-hidden="true">{THEME_SIGNS[choice]}</span>
    </button>
  );
}

function focusSearch(): boolean {
  const field = document.querySelector<HTMLInputElement>('[data-search]');
  field?.focus();
  field?.select();
  return field !== null;
}

/** Out of a field or a control first, then one view up. */
function goUp(crumbs: readonly Crumb[]): boolean {
  const focused = document.activeElement;
  if (focused instanceof HTMLElement && focused !== document.body && focused.id !== 'main') {
    focused.blur();
    return true;
  }
  navigate(asLeft(crumbs.length < 2 ? href([]) : crumbs[crumbs.length - 2]!.to));
  return true;
}
