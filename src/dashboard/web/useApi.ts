/** One answer of the server in a component: loading, there, or failed with a way to try again. Keeps what it has while it asks anew. */
import { useCallback, useEffect, useState } from 'preact/hooks';
import { ApiError, getJson } from './client.js';
import { connection } from './live.js';

export interface Asked<T> {
  /** The newest answer to this path; kept while it is asked again and when that fails. */
  readonly value: T | undefined;
  readonly error: ApiError | undefined;
  readonly loading: boolean;
  /** Asks again. */
  readonly reload: () => void;
}

interface Kept<T> {
  readonly path: string | undefined;
  readonly value: T | undefined;
  readonly error: ApiError | undefined;
  readonly loading: boolean;
}

/** Asks nothing while `path` is undefined. With `keep`, the answer to the path before stays until the new one is there (for lists under a filter). */
export function useApi<T>(path: string | undefined, { keep = false } = {}): Asked<T> {
  const [kept, setKept] = useState<Kept<T>>({ path, value: undefined, error: undefined, loading: path !== undefined });
  const [round, setRound] = useState(0);
  useEffect(() => {
    if (path === undefined) return;
    const abort = new AbortController();
    setKept((before) => ({ path, value: keep || before.path === path ? before.value : undefined, error: undefined, loading: true }));
    getJson<T>(path, abort.signal).then(
      (value) => !abort.signal.aborted && setKept({ path, value, error: undefined, loading: false }),
      (error: unknown) => {
        if (abort.signal.aborted) return;
        const known = error instanceof ApiError ? error : new ApiError(String(error), 0);
        setKept((before) => ({ ...before, path, error: known, loading: false }));
      },
    );
    return () => abort.abort(new DOMException('no longer wanted', 'AbortError'));
  }, [path, round, keep]);
  const reload = useCallback(() => setRound((count) => count + 1), []);
  const silent = kept.error?.status === 0;
  useEffect(() => {
    if (!silent) return;
    return connection.subscribe(() => connection.get() === 'open' && reload());
  }, [silent, reload]);
  const current = kept.path === path || keep;
  return {
    value: current ? kept.value : undefined,
    error: kept.path === path ? kept.error : undefined,
    loading: path !== undefined && (kept.path !== path || kept.loading),
    reload,
  };
}
