/** Where the page is: the address bar as a store. Does not know the views: see `app.tsx`. */
import { formatRoute, parseHash, patched, type QueryPatch, type Route } from './router.js';
import { createStore, useStore } from './store.js';

/** The newest address of each view that was seen, by its path: with the filters it had. */
const seen = new Map<string, string>();
const MOST_SEEN = 100;

const route = createStore<Route>(parseHash(location.hash));

addEventListener('hashchange', () => update(location.hash));
addEventListener('popstate', () => update(location.hash));

remember(route.get());

/** The address at which this view was left, or the plain one where it was not seen yet. For tabs and for ways back, not for links in text. */
export const asLeft = (address: string): string => seen.get(pathOf(parseHash(address))) ?? address;

export const currentRoute = (): Route => route.get();

export const useRoute = (): Route => useStore(route);

/** Goes to an address made by `href`; `replace` leaves no entry in the history. */
export function navigate(to: string, { replace = false } = {}): void {
  if (to === formatRoute(route.get())) return;
  try {
    history[replace ? 'replaceState' : 'pushState'](null, '', to);
  } catch {
    // browsers refuse too many changes in a short time: the view follows, the address at its next change
  }
  update(to);
}

/** Changes the query of the present view. A choice among many (a tab, a filter) may be gone back to; a detail (a range, a text) is replaced. */
export function setQuery(patch: QueryPatch, { replace = true } = {}): void {
  const { segments, query } = route.get();
  navigate(formatRoute({ segments, query: patched(query, patch) }), { replace });
}

function update(hash: string): void {
  const next = parseHash(hash);
  if (formatRoute(next) === formatRoute(route.get())) return;
  remember(next);
  route.set(next);
}

function remember(place: Route): void {
  const path = pathOf(place);
  seen.delete(path);
  seen.set(path, formatRoute(place));
  if (seen.size > MOST_SEEN) seen.delete(seen.keys().next().value!);
}

function pathOf({ segments }: Route): string {
  return formatRoute({ segments, query: {} });
}
