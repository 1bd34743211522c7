/** A value outside the tree that components listen to. Tells only when it changed. */
import { useEffect, useReducer, useRef } from 'preact/hooks';

export interface Store<T> {
  get(): T;
  set(value: T): void;
  subscribe(listener: () => void): () => void;
}

export function createStore<T>(initial: T): Store<T> {
  let value = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of [...listeners]) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** Renders again when what `select` picks has changed. */
export function useStore<T>(store: Store<T>): T;
export function useStore<T, S>(store: Store<T>, select: (value: T) => S): S;
export function useStore<T, S>(store: Store<T>, select: (value: T) => S = (value) => value as unknown as S): S {
  const [, again] = useReducer<number, void>((count) => count + 1, 0);
  const shown = select(store.get());
  const last = useRef(shown);
  last.current = shown;
  const choose = useRef(select);
  choose.current = select;
  useEffect(() => {
    const check = (): void => {
      if (!Object.is(choose.current(store.get()), last.current)) again();
    };
    check();
    return store.subscribe(check);
  }, [store]);
  return shown;
}
