/** Numbers over the steps of a stage, thinned out to as many points as can be seen. */
import type { Stage } from '../../domain/event.js';
import type { Num, Series } from '../api.js';
import type { RunView } from './runView.js';

const STAGES: readonly Stage[] = ['base', 'sft', 'rl'];

/** Names of a stage's metrics, in their order, each found by a step in the index. */
export function metricNames(view: RunView, stage: Stage): string[] {
  return view.db
    .prepare(
      `WITH RECURSIVE names (name) AS (
         SELECT min(name) FROM metrics WHERE stage = $stage
         UNION ALL SELECT (SELECT min(name) FROM metrics WHERE stage = $stage AND name > names.name) FROM names WHERE name IS NOT NULL
       ) SELECT name FROM names WHERE name IS NOT NULL`,
    )
    .pluck()
    .all({ stage }) as string[];
}

export interface SeriesQuery {
  /** Absent: all. */
  readonly stage?: Stage | undefined;
  /** None: all of them. */
  readonly names: readonly string[];
  /** A series of more is thinned to so many. */
  readonly points: number;
  /** Steps, both of them included. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

export function seriesOf(view: RunView, { stage, names, points, from = 0, to = Number.MAX_SAFE_INTEGER }: SeriesQuery): Series[] {
  const read = view.db.prepare('SELECT step, value FROM metrics WHERE stage = ? AND name = ? AND step BETWEEN ? AND ? ORDER BY step').raw();
  return STAGES.filter((one) => stage === undefined || one === stage).flatMap((one) => {
    const there = metricNames(view, one);
    const wanted = names.length === 0 ? there : there.filter((name) => names.includes(name));
    return wanted.map((name) => ({ stage: one, name, ...thinned(read.all(one, name, from, to) as [number, Num][], points) }));
  });
}

/**
 * As many buckets as points, each of neighbouring steps: their mean at the last of them, with the least and the most. Few points stay as
 * they are. Unknown values count nowhere; a bucket of nothing else is null.
 */
export function thinned(rows: readonly (readonly [number, Num])[], points: number): Omit<Series, 'stage' | 'name'> {
  const count = rows.length;
  if (count <= points) return { steps: rows.map(([step]) => step), values: rows.map(([, value]) => finite(value)), count };
  const steps: number[] = [];
  const values: Num[] = [];
  const low: Num[] = [];
  const high: Num[] = [];
  for (let bucket = 0; bucket < points; bucket++) {
    const end = Math.floor(((bucket + 1) * count) / points);
    let [sum, known, least, most] = [0, 0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (let i = Math.floor((bucket * count) / points); i < end; i++) {
      const value = rows[i]![1];
      if (value === null || !Number.isFinite(value)) continue;
      sum += value;
      known++;
      if (value < least) least = value;
      if (value > most) most = value;
    }
    steps.push(rows[end - 1]![0]);
    values.push(known === 0 ? null : sum / known);
    low.push(known === 0 ? null : least);
    high.push(known === 0 ? null : most);
  }
  return { steps, values, low, high, count };
}

const finite = (value: Num): Num => (value !== null && Number.isFinite(value) ? value : null);
