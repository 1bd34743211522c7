/** The list of runs, loaded once for the page and kept true by live events. */
import { useEffect } from 'preact/hooks';
import type { LiveEvent, RunSummary } from '../../api.js';
import { ApiError, getJson } from '../client.js';
import { onLive } from '../live.js';
import { createStore, useStore } from '../store.js';
import { mergedSummary } from './mergedSummary.js';

export interface RunsList {
  readonly runs: readonly RunSummary[] | undefined;
  readonly error: ApiError | undefined;
}

const list = createStore<RunsList>({ runs: undefined, error: undefined });
let asking = false;
let again = false;
let started = false;

export async function loadRuns(): Promise<void> {
  if (asking) {
    again = true;
    return;
  }
  asking = true;
  try {
    list.set({ runs: await getJson<readonly RunSummary[]>('runs'), error: undefined });
  } catch (error) {
    list.set({ runs: list.get().runs, error: error instanceof ApiError ? error : new ApiError(String(error), 0) });
  }
  asking = false;
  if (again) {
    again = false;
    setTimeout(loadRuns, 500);
  }
}

export function useRuns(): RunsList {
  useEffect(() => {
    if (started) return;
    started = true;
    onLive((event) => {
      if (event.kind === 'runs' || event.kind === 'reset') loadRuns();
      else merge(event);
    });
    loadRuns();
  }, []);
  return useStore(list);
}

let changed: RunSummary[] | undefined;

/** Events come by the hundred: what they change is shown once a frame. */
function merge(event: LiveEvent): void {
  const { runs, error } = list.get();
  if (runs === undefined || !('run' in event)) return;
  const present = changed ?? [...runs];
  const at = present.findIndex(({ id }) => id === event.run);
  const run = present[at];
  if (run === undefined) return;
  present[at] = mergedSummary(run, event, new Date().toISOString());
  if (changed !== undefined) return;
  changed = present;
  requestAnimationFrame(() => {
    if (changed !== undefined) list.set({ runs: changed, error });
    changed = undefined;
  });
}
