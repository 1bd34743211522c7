/** The charts of one run or of several, with all that is chosen about them in the address: stage, axis, smoothing, range, lines switched off. */
import { useEffect, useMemo, useReducer, useState } from 'preact/hooks';
import type { Stage } from '../../../domain/event.js';
import type { RunDetail } from '../../api.js';
import { LineChart, type XRange } from '../charts/LineChart.js';
import { exportHref } from '../client.js';
import { Empty, Failed, Loading, Note, Search, Segmented } from '../components/bits.js';
import { duration, number, percent, STAGE_NAMES } from '../format.js';
import { setQuery, useRoute } from '../navigation.js';
import { manyOf, numberOf, oneOf } from '../router.js';
import { useShortcuts } from '../shortcuts.js';
import { AddRun, MarkList, RunLegend } from './CurveParts.js';
import type { CurveData } from './curveData.js';
import { curveLines, scaleOf, stepRange } from './curveLines.js';
import { dotsOf, marksOf } from './curveMarks.js';
import { isMain, type Panel, panelsFor } from './panels.js';
import { useChanges, useSources } from './useSources.js';
import { X_FORMATS, X_KINDS, X_NAMES, X_STEPS, X_TICKS, type XKind } from './xAxis.js';

const FORMATS: Readonly<Record<Panel['unit'], (value: number) => string>> = { number, share: percent, seconds: duration };
const TICKS: Readonly<Record<Panel['unit'], (value: number) => string>> = {
  number: (value) => number(value, 3),
  share: (value) => `${number(value * 100, 3)} %`,
  seconds: duration,
};

export function CurvesView({ runs }: { runs: readonly RunDetail[] }) {
  const { query } = useRoute();
  const stages = stagesOf(runs);
  const asked = oneOf(query, 'stage') as Stage | undefined;
  const stage = asked !== undefined && stages.includes(asked) ? asked : stages.at(-1);
  if (stage === undefined) return <NoCurves runs={runs} />;
  return <StageCurves key={`${stage} ${runs.map(({ id }) => id).join(' ')}`} runs={runs} stage={stage} stages={stages} />;
}

function NoCurves({ runs }: { runs: readonly RunDetail[] }) {
  if (runs.every(({ state }) => state === 'unreadable')) return <Empty title="There is nothing to read." />;
  if (runs.some(({ state }) => state === 'running'))
    return (
      <Empty title="No step has been made yet.">Curves appear here with the first step of training; nothing needs to be reloaded.</Empty>
    );
  if (!runs.some(({ allEvaluations }) => allEvaluations.length > 0)) return <Empty title="No step of training was made." />;
  return <Empty title="No step of training was made.">Evaluations are in the overview, their rollouts among the trajectories.</Empty>;
}

/** Those with steps in any of the runs, in the order of training. */
const stagesOf = (runs: readonly RunDetail[]): readonly Stage[] =>
  (['sft', 'rl'] as const).filter((stage) => runs.some(({ metricNames }) => (metricNames[stage]?.length ?? 0) > 0));

function StageCurves({ runs, stage, stages }: { runs: readonly RunDetail[]; stage: Stage; stages: readonly Stage[] }) {
  const { query } = useRoute();
  const sources = useSources(runs, stage);
  const [, again] = useReducer<number, void>((round) => round + 1, 0);
  useChanges(sources, again);

  const from = numberOf(query, 'from');
  const to = numberOf(query, 'to');
  const range: XRange | undefined = useMemo(
    () => (from !== undefined && to !== undefined && to > from ? { from, to } : undefined),
    [from, to],
  );
  const kinds = X_KINDS.filter(([kind]) => sources.every(({ data }) => !data.ready || scaleOf(data, kind) !== undefined));
  const wanted = oneOf(query, 'x');
  const kind: XKind = kinds.find(([each]) => each === wanted)?.[0] ?? 'step';
  const urlSmoothing = Math.max(0, Math.min(0.999, numberOf(query, 'smooth') ?? 0));
  const [sliding, setSliding] = useState<number | undefined>(undefined);
  const smoothing = sliding ?? urlSmoothing;
  const hidden = useMemo(() => new Set(manyOf(query, 'off')), [query]);
  const logs = useMemo(() => new Set(manyOf(query, 'log')), [query]);
  const bigs = useMemo(() => new Set(manyOf(query, 'big')), [query]);
  const text = oneOf(query, 'q') ?? '';

  useEffect(() => {
    const timer = setTimeout(() => {
      for (const { data } of sources) void data.look(stepRange(scaleOf(data, kind), range));
    }, 200);
    return () => clearTimeout(timer);
  }, [sources, range, kind]);

  const subscribe = useMemo(
    () => (changed: () => void) => {
      const stops = sources.map(({ data }) => data.onChange(changed));
      return () => {
        for (const stop of stops) stop();
      };
    },
    [sources],
  );
  const setRange = useMemo(
    () => (next: XRange | undefined) => setQuery({ from: next && rounded(next.from), to: next && rounded(next.to) }),
    [],
  );
  const toggle = (name: string, present: ReadonlySet<string>, keys: readonly string[]): void => {
    const next = new Set(present);
    for (const key of keys) if (!next.delete(key)) next.add(key);
    setQuery({ [name]: [...next] });
  };
  useShortcuts('Curves', [
    { keys: 'r', label: 'reset the zoom', run: () => (range === undefined ? false : setRange(undefined)) },
    { keys: 'n', label: 'next chart', run: () => focusChart(1) },
    { keys: 'p', label: 'chart before', run: () => focusChart(-1) },
    { keys: 'ArrowLeft', label: 'cursor to the left (on a chart; with Shift: pan; → to the right)' },
    { keys: '+', label: 'zoom in at the cursor (on a chart; − zooms out, 0 shows all)' },
  ]);

  const failed = sources.find(({ data }) => data.error !== undefined && !data.ready)?.data;
  if (failed?.error !== undefined) return <Failed error={failed.error} retry={() => void failed.load()} />;
  if (!sources.some(({ data }) => data.ready)) return <Loading what="Reading the metrics" />;

  const names = [...new Set(sources.flatMap(({ data }) => data.names))];
  const several = runs.length > 1;
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const panels = panelsFor(names).filter(({ title, lines }) => {
    const all = `${title} ${lines.map(({ metric }) => metric).join(' ')}`.toLowerCase();
    return words.every((word) => all.includes(word));
  });
  const main = panels.filter(isMain);
  const rest = panels.filter((panel) => !isMain(panel));
  const chart = (panel: Panel) => (
    <LineChart
      key={panel.key}
      title={panel.title}
      {...(panel.hint !== undefined && { hint: panel.hint })}
      lines={curveLines(panel, sources, { kind, smoothing, range })}
      marks={() => sources.flatMap(({ id, name, data }) => marksFor(runs, id, stage, data, kind, several ? `${name}: ` : '', !several))}
      {...(panel.key === 'accuracy' && {
        dots: () => sources.flatMap(({ id, data }, i) => dotsFor(runs, id, stage, data, kind, several ? i : 1)),
      })}
      xName={X_NAMES[kind]}
      formatX={X_FORMATS[kind]}
      formatXTick={X_TICKS[kind]}
      formatY={FORMATS[panel.unit]}
      formatTick={TICKS[panel.unit]}
      fromZero={panel.fromZero === true}
      stack={panel.stack === true && !several}
      log={logs.has(panel.key)}
      onLog={() => toggle('log', logs, [panel.key])}
      big={bigs.has(panel.key)}
      onBig={() => toggle('big', bigs, [panel.key])}
      startX={0}
      xSteps={X_STEPS[kind]}
      range={range}
      onRange={setRange}
      hidden={hidden}
      onToggle={(keys) => toggle('off', hidden, keys)}
      group="curves"
      subscribe={subscribe}
      fileName={`${several ? 'runs' : runs[0]!.name}-${stage}-${panel.title}`}
    />
  );
  return (
    <div class="curves">
      <h2 class="hidden">Curves</h2>
      <div class="bar" role="group" aria-label="What the charts show">
        {stages.length > 1 && (
          <Segmented
            label="Stage"
            value={stage}
            options={stages.map((each) => [each, STAGE_NAMES[each]] as const)}
            onChange={(next) => setQuery({ stage: next, from: undefined, to: undefined }, { replace: false })}
          />
        )}
        {kinds.length > 1 && (
          <Segmented
            label="Axis"
            value={kind}
            options={kinds}
            onChange={(next) => setQuery({ x: next === 'step' ? undefined : next, from: undefined, to: undefined })}
          />
        )}
        <label class="field">
          <span>Smoothing</span>
          <input
            type="range"
            min="0"
            max="0.99"
            step="0.01"
            value={smoothing}
            aria-valuetext={smoothing === 0 ? 'off' : smoothing.toFixed(2)}
            onInput={(event) => setSliding(Number(event.currentTarget.value))}
            onChange={(event) => {
              const value = Number(event.currentTarget.value);
              setQuery({ smooth: value === 0 ? undefined : value });
              setSliding(undefined);
            }}
          />
          <output class="smoothing-value">{smoothing === 0 ? 'off' : smoothing.toFixed(2)}</output>
        </label>
        <Search value={text} onChange={(q) => setQuery({ q: q === '' ? undefined : q })} label="Find a metric" />
        {range !== undefined && (
          <button type="button" onClick={() => setRange(undefined)} title="r">
            {X_NAMES[kind]} {X_FORMATS[kind](range.from)} – {X_FORMATS[kind](range.to)}: show all
          </button>
        )}
        <AddRun ids={runs.map(({ id }) => id)} />
        {!several && (
          <span class="row bar-end">
            <a href={exportHref(runs[0]!.id, 'metrics.csv', `stage=${stage}`)} download>
              CSV
            </a>
            <a href={exportHref(runs[0]!.id, 'metrics.jsonl', `stage=${stage}`)} download>
              JSON Lines
            </a>
          </span>
        )}
      </div>
      {several && <RunLegend runs={runs} sources={sources} hidden={hidden} names={names} />}
      {sources.map(({ id, name, data }) =>
        data.error === undefined ? null : (
          <Note key={id} tone="warn">
            {name}: {data.error.message}
          </Note>
        ),
      )}
      {panels.length === 0 && <Empty title={`No metric’s name has “${text}” in it.`} />}
      <div class="charts">{main.map(chart)}</div>
      {rest.length > 0 && (
        <>
          {main.length > 0 && <h2 class="charts-more">Everything else</h2>}
          <div class="charts">{rest.map(chart)}</div>
        </>
      )}
      <MarkList runs={runs} stage={stage} />
    </div>
  );
}

function marksFor(
  runs: readonly RunDetail[],
  id: string,
  stage: Stage,
  data: CurveData,
  kind: XKind,
  prefix: string,
  checkpoints: boolean,
) {
  const run = runs.find((each) => each.id === id);
  const scale = scaleOf(data, kind);
  return run === undefined || scale === undefined ? [] : marksOf(run, stage, scale, { prefix, checkpoints });
}

function dotsFor(runs: readonly RunDetail[], id: string, stage: Stage, data: CurveData, kind: XKind, colour: number) {
  const run = runs.find((each) => each.id === id);
  const scale = scaleOf(data, kind);
  return run === undefined || scale === undefined ? [] : dotsOf(run, stage, scale, colour);
}

function focusChart(step: 1 | -1): boolean {
  const charts = [...document.querySelectorAll<HTMLElement>('.chart-plot')];
  const at = charts.indexOf(document.activeElement as HTMLElement);
  const next = charts[at < 0 ? (step > 0 ? 0 : charts.length - 1) : at + step];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
  return next !== undefined;
}

/** Short in the address, exact enough for the eye. */
const rounded = (x: number): number => Number(x.toPrecision(7));
