/**
 * What happens in the runs, as it happens: one stream of events for the whole page. The browser reconnects and tells the server the last
 * event it saw; where it gives up we open anew and tell the listeners to load all again. Keeps no event.
 */
import { useEffect, useRef } from 'preact/hooks';
import type { LiveEvent } from '../api.js';
import { createStore } from './store.js';

export type Connection = 'connecting' | 'open' | 'lost';

export const connection = createStore<Connection>('connecting');

type Listener = (event: LiveEvent) => void;
const listeners = new Set<Listener>();
const KINDS: readonly LiveEvent['kind'][] = ['runs', 'steps', 'evaluation', 'note', 'reset'];
const LONGEST_WAIT_MS = 15_000;

let source: EventSource | undefined;
let wait = 1000;
/** Whether a stream was ever open: a later one that we open ourselves may have missed events. */
let opened = false;

/** Opens the stream; call once. */
export function startLive(): void {
  source = new EventSource('api/events');
  let own = opened;
  source.onopen = () => {
    wait = 1000;
    opened = true;
    connection.set('open');
    if (own) tell({ kind: 'reset' });
    own = false;
  };
  source.onerror = () => {
    connection.set('lost');
    if (source?.readyState !== EventSource.CLOSED) return;
    source.close();
    setTimeout(startLive, wait);
    wait = Math.min(wait * 2, LONGEST_WAIT_MS);
  };
  source.onmessage = receive;
  for (const kind of KINDS) source.addEventListener(kind, receive as EventListener);
}

function receive(message: MessageEvent<string>): void {
  let event: LiveEvent;
  try {
    event = JSON.parse(message.data) as LiveEvent;
  } catch {
    return;
  }
  tell(event);
}

function tell(event: LiveEvent): void {
  for (const listener of [...listeners]) listener(event);
}

export function onLive(listener: Listener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Calls the newest `listener` for each event while the component stands. */
export function useLive(listener: Listener): void {
  const newest = useRef(listener);
  newest.current = listener;
  useEffect(() => onLive((event) => newest.current(event)), []);
}

/** At most one call in `everyMs`, the last one never lost: for loading again while events pour in. */
export function useThrottled(call: () => void, everyMs = 1000): () => void {
  const newest = useRef(call);
  newest.current = call;
  const state = useRef<{ timer: ReturnType<typeof setTimeout> | undefined; last: number }>({ timer: undefined, last: 0 });
  useEffect(() => () => clearTimeout(state.current.timer), []);
  const ask = useRef(() => {
    const now = performance.now();
    const { timer, last } = state.current;
    if (timer !== undefined) return;
    state.current.timer = setTimeout(
      () => {
        state.current = { timer: undefined, last: performance.now() };
        newest.current();
      },
      Math.max(0, last + everyMs - now),
    );
  });
  return ask.current;
}
