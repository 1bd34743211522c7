/** The headline metric of a run as a line of a few pixels. Fetched when it comes into sight, a few at a time; goes on with live values. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { RunSummary, Series } from '../../api.js';
import { getJson, runPath } from '../client.js';
import { metric as formatMetric } from '../format.js';
import { shortName } from '../run/panels.js';
import { mainStage } from '../run/progress.js';
import { headline } from './runsList.js';
import { type SparkData, sparkAppend, sparkFrom, sparkPath } from './spark.js';

const POINTS = 60;
const WIDTH = 110;
const HEIGHT = 26;
const MOST_KEPT = 300;
const MOST_AT_ONCE = 3;

/** By run, stage, metric; the oldest is forgotten first. */
const kept = new Map<string, SparkData>();
const queue: (() => Promise<void>)[] = [];
let busy = 0;

export function Sparkline({ run }: { run: RunSummary }) {
  const head = headline(run);
  const stage = mainStage(run);
  const key = head === undefined || stage === undefined ? undefined : `${run.id}\n${stage.stage}\n${head.metric}`;
  const [, again] = useState(0);
  const data = key === undefined ? undefined : kept.get(key);
  useEffect(() => {
    if (key === undefined || head === undefined || stage === undefined || kept.has(key)) return;
    const abort = new AbortController();
    enqueue(async () => {
      if (abort.signal.aborted) return;
      const path = runPath(run.id, `metrics?${new URLSearchParams({ stage: stage.stage, name: head.metric, points: String(POINTS) })}`);
      const [series] = await getJson<readonly Series[]>(path, abort.signal).catch((): readonly Series[] => []);
      if (series === undefined || abort.signal.aborted) return;
      keep(key, sparkFrom(series));
      again((count) => count + 1);
    });
    return () => abort.abort();
  }, [key]);
  useEffect(() => {
    if (key === undefined || head === undefined || stage === undefined || stage.done === 0) return;
    const present = kept.get(key);
    if (present === undefined || stage.done - 1 <= present.lastStep) return;
    keep(key, sparkAppend(present, stage.done - 1, head.value, POINTS * 2));
    again((count) => count + 1);
  }, [key, stage?.done]);
  const path = useMemo(() => (data === undefined ? '' : sparkPath(data.values, WIDTH, HEIGHT)), [data]);
  if (head === undefined || data === undefined || data.values.length < 2) return null;
  const { values } = data;
  const label = `${shortName(head.metric)} from ${formatMetric(head.metric, values[0])} to ${formatMetric(head.metric, values.at(-1))}`;
  return (
    <svg class="spark" width={WIDTH} height={HEIGHT} role="img" aria-label={label}>
      <title>{label}</title>
      <path d={path} />
    </svg>
  );
}

function keep(key: string, data: SparkData): void {
  kept.delete(key);
  kept.set(key, data);
  if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value!);
}

function enqueue(task: () => Promise<void>): void {
  queue.push(task);
  next();
}

function next(): void {
  if (busy >= MOST_AT_ONCE) return;
  const task = queue.shift();
  if (task === undefined) return;
  busy++;
  task().finally(() => {
    busy--;
    next();
  });
}
