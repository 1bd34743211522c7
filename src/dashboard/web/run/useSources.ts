/** The data of the charts as hooks: opened with the view, closed with it. */
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Stage } from '../../../domain/event.js';
import type { RunDetail } from '../../api.js';
import { CurveData } from './curveData.js';
import type { CurveSource } from './curveLines.js';

/** One store of data a run, open while the view stands. */
export function useSources(runs: readonly RunDetail[], stage: Stage): readonly CurveSource[] {
  const ids = runs.map(({ id }) => id).join('\n');
  const newest = useRef(runs);
  newest.current = runs;
  const sources = useMemo(
    () =>
      newest.current.map(
        ({ id, name, metricNames }): CurveSource => ({ id, name, data: new CurveData(id, stage, metricNames[stage] ?? []) }),
      ),
    [ids, stage],
  );
  useEffect(() => {
    for (const { data } of sources) data.open();
    return () => {
      for (const { data } of sources) data.close();
    };
  }, [sources]);
  return sources;
}

/** Renders again when there are new names or the data came or failed: not for each value. */
export function useChanges(sources: readonly CurveSource[], again: () => void): void {
  useEffect(() => {
    const state = (): string => sources.map(({ data }) => `${data.ready} ${data.error?.message} ${data.names.length}`).join('|');
    let before = state();
    const check = (): void => {
      const now = state();
      if (now === before) return;
      before = now;
      again();
    };
    const stops = sources.map(({ data }) => data.onChange(check));
    check();
    return () => {
      for (const stop of stops) stop();
    };
  }, [sources, again]);
}
