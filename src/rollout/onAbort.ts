/**
 * Many that wait for one signal. An EventTarget looks through all its listeners whenever one is added or removed, which for tens of thousands
 * takes minutes in all; here the signal has one listener, and adding and removing cost the same however many there are.
 */
const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `act` once when the signal is aborted; never for one that is aborted already.
 * @returns takes it back
 */
export function onAbort(signal: AbortSignal, act: () => void): () => void {
  if (signal.aborted) return () => undefined;
  const acts = waiting.get(signal) ?? listen(signal);
  // The same function may be given twice, and taken back once.
  const own = (): void => act();
  acts.add(own);
  return () => void acts.delete(own);
}

function listen(signal: AbortSignal): Set<() => void> {
  const acts = new Set<() => void>();
  waiting.set(signal, acts);
  signal.addEventListener(
    'abort',
    () => {
      for (const act of acts) act();
      acts.clear();
    },
    { once: true },
  );
  return acts;
}
