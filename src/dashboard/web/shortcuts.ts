/** Keys of the page: each view tells its own while it stands; `?` lists them. Keys typed into a field are the field's. */
import { useEffect, useRef } from 'preact/hooks';
import { createStore } from './store.js';

export interface Shortcut {
  /** As `KeyboardEvent.key` has it; two keys with a space between are typed one after the other: `g r`. */
  readonly keys: string;
  readonly label: string;
  /** Absent where the element in focus handles it, and the list shall name it all the same. Returning false lets the browser have the key. */
  readonly run?: () => unknown;
}

export interface ShortcutGroup {
  readonly title: string;
  readonly shortcuts: readonly Shortcut[];
}

export const shortcutGroups = createStore<readonly ShortcutGroup[]>([]);

/** Milliseconds in which the second key of a pair must come. */
const PAIR_MS = 1200;
let pending: { readonly key: string; readonly until: number } | undefined;

export function useShortcuts(title: string, shortcuts: readonly Shortcut[]): void {
  const newest = useRef(shortcuts);
  newest.current = shortcuts;
  const labels = shortcuts.map(({ keys, label }) => `${keys} ${label}`).join('\n');
  useEffect(() => {
    const group: ShortcutGroup = {
      title,
      shortcuts: newest.current.map(({ keys, label, run }, i) => ({ keys, label, ...(run && { run: () => newest.current[i]?.run?.() }) })),
    };
    shortcutGroups.set([...shortcutGroups.get(), group]);
    return () => shortcutGroups.set(shortcutGroups.get().filter((other) => other !== group));
  }, [title, labels]);
}

/** Call once. Later groups (the view's) go before earlier ones (the shell's). */
export function startShortcuts(): void {
  addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const field = isField(event.target);
    if (field && event.key !== 'Escape') return;
    if (document.querySelector('dialog[open]') !== null) return;
    const pair = pending !== undefined && performance.now() < pending.until ? `${pending.key} ${event.key}` : undefined;
    pending = undefined;
    if (pair !== undefined && fire(pair, event)) return;
    if (fire(event.key, event)) return;
    if (all().some(({ keys }) => keys.startsWith(`${event.key} `))) pending = { key: event.key, until: performance.now() + PAIR_MS };
  });
}

const all = (): readonly Shortcut[] => [...shortcutGroups.get()].reverse().flatMap(({ shortcuts }) => shortcuts);

function fire(keys: string, event: KeyboardEvent): boolean {
  for (const shortcut of all()) {
    if (shortcut.keys !== keys || shortcut.run === undefined) continue;
    if (shortcut.run() === false) continue;
    event.preventDefault();
    return true;
  }
  return false;
}

export function isField(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return (
    target.isContentEditable ||
    /^(TEXTAREA|SELECT)$/.test(target.tagName) ||
    (target instanceof HTMLInputElement && !/^(checkbox|radio|button|range)$/.test(target.type))
  );
}
