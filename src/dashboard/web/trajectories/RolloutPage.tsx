/** One rollout: conversation or tokens, what it came to at the side, and the way to its neighbours under the filter of the list. */
import { useState } from 'preact/hooks';
import type { TrajectoryView } from '../../api.js';
import { runPath } from '../client.js';
import { CopyButton, Failed, Loading, Note, Segmented } from '../components/bits.js';
import { SafeText } from '../components/SafeText.js';
import { counted } from '../format.js';
import { navigate, setQuery, useRoute } from '../navigation.js';
import { numberOf, oneOf } from '../router.js';
import { useShortcuts } from '../shortcuts.js';
import { useApi } from '../useApi.js';
import { Conversation } from './Conversation.js';
import { cutWords, plainText } from './conversation.js';
import { Facts } from './Facts.js';
import { filterOf, listHref, rolloutHref } from './links.js';
import { RightMark, whereWords } from './marks.js';
import { describeQuery, isNarrowed, toParams } from './query.js';
import { TokensPage } from './TokensPage.js';
import './trajectories.css';

export function RolloutPage({ run, id }: { readonly run: string; readonly id: number }) {
  const { query } = useRoute();
  const filter = filterOf(query);
  const tokens = oneOf(query, 'view') === 'tokens';
  const turn = numberOf(query, 'turn');
  const [whole, setWhole] = useState<number>();
  const [thinking, setThinking] = useState<boolean>();
  const params = toParams(filter);
  if (whole === id) params.set('whole', '1');
  const search = params.toString();
  const asked = useApi<TrajectoryView>(runPath(run, `trajectories/${id}${search === '' ? '' : `?${search}`}`), { keep: true });
  // the rollout before stays in sight until this one is there
  const { value: view } = asked;
  const stale = view?.id !== id;
  const list = listHref(run, filter);
  const shown = tokens ? { view: 'tokens', measure: oneOf(query, 'measure') } : {};
  const go = (to: number | undefined): boolean => {
    if (to === undefined) return false;
    navigate(rolloutHref(run, to, filter, shown));
    return true;
  };
  const show = (kind: 'conversation' | 'tokens'): void =>
    setQuery({ view: kind === 'tokens' ? 'tokens' : undefined, turn: undefined, token: undefined });

  useShortcuts('Rollout', [
    { keys: 'j', label: 'next under the filter', run: () => !stale && go(view?.next) },
    { keys: 'k', label: 'previous under the filter', run: () => !stale && go(view?.previous) },
    { keys: 'v', label: 'conversation or tokens', run: () => show(tokens ? 'conversation' : 'tokens') },
    { keys: 'o', label: 'open or close all thinking', run: () => setThinking(thinking !== true) },
    { keys: 'Escape', label: 'back to the list', run: () => leave(list) },
  ]);

  if (view === undefined || (stale && asked.error !== undefined)) {
    return asked.error === undefined ? <Loading what="Reading the rollout" /> : <Failed error={asked.error} retry={asked.reload} />;
  }
  return (
    <article class={stale ? 'rollout stale' : 'rollout'} aria-label={`Rollout ${view.id}`} aria-busy={stale}>
      <header class="rollout-head">
        <div class="bar">
          <h2 class="rollout-title">
            <SafeText text={view.problemId} as="line" />
          </h2>
          <RightMark correct={view.correct} />
          <span class="muted">{whereWords(view)}</span>
          <span class="grow" />
          <nav class="row" aria-label="Neighbours">
            <a href={list}>{isNarrowed(filter) ? <span title={describeQuery(filter)}>List (filtered)</span> : 'List'}</a>
            <Neighbour label="← Previous" to={view.previous} href={(to) => rolloutHref(run, to, filter, shown)} hint="k" />
            <Neighbour label="Next →" to={view.next} href={(to) => rolloutHref(run, to, filter, shown)} hint="j" />
          </nav>
        </div>
        <div class="bar">
          <Segmented
            label="Shown as"
            value={tokens ? 'tokens' : 'conversation'}
            options={[
              ['conversation', 'Conversation'],
              ['tokens', 'Tokens'],
            ]}
            onChange={show}
          />
          {!tokens && (
            <CopyButton
              text={() => plainText([view.segmentsOf, ...(view.branches ?? []).map(({ turns }) => turns)].flat())}
              label="Copy text"
            />
          )}
          {!tokens && view.segmentsOf.some(({ segments }) => segments.some(({ kind }) => kind === 'thinking')) && (
            <button type="button" class="quiet" onClick={() => setThinking(thinking !== true)}>
              {thinking === true ? 'Close all thinking' : 'Open all thinking'}
            </button>
          )}
        </div>
      </header>
      {view.cut.length > 0 && (
        <Note>
          Cut for size: <CutList cut={view.cut} />.{' '}
          <button type="button" class="link" onClick={() => setWhole(id)}>
            Load whole
          </button>
        </Note>
      )}
      <div class="rollout-body">
        {tokens ? (
          <TokensPage run={run} id={view.id} />
        ) : (
          <Conversation view={view} turn={turn} thinking={thinking} turnHref={(number) => rolloutHref(run, id, filter, { turn: number })} />
        )}
        <Facts view={view} run={run} />
      </div>
    </article>
  );
}

/** Not while something is in focus that Escape should leave first. */
function leave(to: string): boolean {
  const focused = document.activeElement;
  const free = focused === null || focused === document.body || focused.id === 'main';
  if (free) navigate(to);
  return free;
}

/** How many are named. */
const NAMED = 4;

function CutList({ cut }: { cut: TrajectoryView['cut'] }) {
  const words = cut.map(({ what, length }) => `${cutWords(what)} (${counted(length, 'character')})`);
  const more = words.length - NAMED;
  return (
    <span title={words.join(', ')}>
      {words.slice(0, NAMED).join(', ')}
      {more > 0 && ` and ${counted(more, 'more text')}`}
    </span>
  );
}

function Neighbour({ label, to, href, hint }: { label: string; to: number | undefined; href: (to: number) => string; hint: string }) {
  if (to === undefined) return <span class="faint">{label}</span>;
  return (
    <a href={href(to)} title={`${label.replace(/[←→ ]/g, '')} (${hint})`}>
      {label}
    </a>
  );
}
