/** Deliberative and reactive rollouts over training: what section 5 of the paper compares. */
import { useEffect, useMemo } from 'preact/hooks';
import type { ModesView as Modes } from '../../api.js';
import { LineChart } from '../charts/LineChart.js';
import { runPath } from '../client.js';
import { Empty, Failed, Loading, Note, Select } from '../components/bits.js';
import { count, fixed, number, percent, STAGE_NAMES, stepLabel } from '../format.js';
import { useLive, useThrottled } from '../live.js';
import { setQuery, useRoute } from '../navigation.js';
import { oneOf } from '../router.js';
import type { RunViewProps } from '../run/RunPage.js';
import { whereWords } from '../trajectories/marks.js';
import { useApi } from '../useApi.js';
import { choicesOf, FIGURES, type FigureName, figureOf, lineOf, MODE_NAMES, MODES, type Moment, rolloutsOf } from './modeSeries.js';
import './modes.css';

export default function ModesView({ run }: RunViewProps) {
  const asked = useApi<Modes>(runPath(run.id, 'modes'), { keep: true });
  const reload = useThrottled(asked.reload, 5000);
  useLive((event) => {
    if (event.kind === 'reset' || (event.kind === 'steps' && event.run === run.id)) reload();
  });
  // an older run is read through a slice at a time: asked again while the note about it changes
  const note = asked.value?.note;
  useEffect(() => {
    if (note === undefined) return undefined;
    const timer = setTimeout(asked.reload, 500);
    return () => clearTimeout(timer);
  }, [note, asked.reload]);
  if (asked.value === undefined) {
    return asked.error === undefined ? <Loading what="Reading the modes" /> : <Failed error={asked.error} retry={asked.reload} />;
  }
  return <ModesOf view={asked.value} run={run.name} />;
}

function ModesOf({ view, run }: { view: Modes; run: string }) {
  const { query } = useRoute();
  const choices = useMemo(() => choicesOf(view.rows), [view]);
  const named = oneOf(query, 'of');
  const choice = choices.find(({ stage, split }) => `${stage} ${split}` === named) ?? choices[0];
  const moments = useMemo(
    () => view.rows.filter(({ stage, split }) => stage === choice?.stage && split === choice.split).sort((a, b) => a.step - b.step),
    [view, choice?.stage, choice?.split],
  );
  return (
    <section class="modes" aria-label="Reasoning modes">
      <h2>Deliberative and reactive rollouts</h2>
      <div class="prose">
        <p>
          <strong>Deliberative</strong> rollouts think long and call seldom, <strong>reactive</strong> ones think little and call often. Of
          a rollout with an executed call, the rounds that call are looked at: it is deliberative where the model wrote at least as many
          characters of analysis (text and thinking) in them as of calls, reactive where it wrote fewer.
        </p>
        <p class="muted">
          The paper (section 5) finds the strongest models deliberative, with more than 70 % of their calls succeeding, and substantially
          fewer of the reactive ones’. It gives no rule to tell them apart; this one is ours and has no threshold to tune.
        </p>
      </div>
      {view.note !== undefined && <Note tone="warn">{view.note}</Note>}
      {choice === undefined ? (
        <Empty title="No rollout has been written yet." />
      ) : (
        <>
          <div class="bar">
            <Select
              label="Rollouts of"
              value={`${choice.stage} ${choice.split}`}
              options={choices.map(({ stage, split, moments: many }) => [
                `${stage} ${split}`,
                `${STAGE_NAMES[stage] ?? stage} ${split} (${count(many)} ${many === 1 ? 'moment' : 'moments'})`,
              ])}
              onChange={(of) => setQuery({ of }, { replace: false })}
            />
          </div>
          {moments.length > 1 && (
            <div class="mode-charts">
              {(Object.keys(FIGURES) as FigureName[]).map((name) => (
                <FigureChart key={`${name} ${choice.stage} ${choice.split}`} name={name} moments={moments} run={run} />
              ))}
            </div>
          )}
          <FirstAndLast moments={moments} />
          <AllMoments moments={moments} />
        </>
      )}
    </section>
  );
}

const shown = (name: FigureName, value: number | undefined): string => (FIGURES[name].share ? percent(value) : fixed(value, 2));

function FigureChart({ name, moments, run }: { name: FigureName; moments: readonly Moment[]; run: string }) {
  const { title, share, modes } = FIGURES[name];
  const train = moments[0]?.split === 'train';
  return (
    <LineChart
      title={title}
      xName="step"
      formatX={train ? stepLabel : count}
      formatTick={(y) => (share ? percent(y, 0) : number(y))}
      formatY={share ? (y) => percent(y) : (y) => fixed(y, 2)}
      fromZero
      group="modes"
      fileName={`${run}-modes-${name}`}
      lines={modes.map((mode) => ({
        key: mode,
        label: MODE_NAMES[mode],
        colour: MODES.indexOf(mode),
        dash: MODES.indexOf(mode),
        read: () => lineOf(moments, mode, name),
      }))}
    />
  );
}

const NAMES = Object.keys(FIGURES) as FigureName[];

/** How it began and how it ended, side by side. */
function FirstAndLast({ moments }: { moments: readonly Moment[] }) {
  const first = moments[0];
  const last = moments.at(-1);
  if (first === undefined || last === undefined) return null;
  const both = first !== last;
  return (
    <section class="scroll" aria-label="First and last" tabIndex={0}>
      <table class="plain mode-table">
        <caption>
          {both ? `${whereWords(first)} → ${whereWords(last)}` : whereWords(last)} ({both && `${count(rolloutsOf(first))} → `}
          {count(rolloutsOf(last))} rollouts)
        </caption>
        <thead>
          <tr>
            <th scope="col">Mode</th>
            {NAMES.map((name) => (
              <th key={name} scope="col" class="right">
                {FIGURES[name].title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {MODES.map((mode) => (
            <tr key={mode}>
              <th scope="row">{MODE_NAMES[mode]}</th>
              {NAMES.map((name) => (
                <td key={name} class="right">
                  {both && <span class="muted">{shown(name, figureOf(first, mode, name))} → </span>}
                  {shown(name, figureOf(last, mode, name))}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function AllMoments({ moments }: { moments: readonly Moment[] }) {
  return (
    <details>
      <summary>All {count(moments.length)} moments in numbers</summary>
      <section class="scroll" aria-label="All moments" tabIndex={0}>
        <table class="plain mode-table">
          <thead>
            <tr>
              <th scope="col">When</th>
              <th scope="col">Mode</th>
              <th scope="col" class="right">
                Rollouts
              </th>
              {NAMES.map((name) => (
                <th key={name} scope="col" class="right">
                  {FIGURES[name].title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {moments.flatMap((moment) =>
              moment.modes.map(({ mode, rollouts }) => (
                <tr key={`${moment.step} ${mode}`}>
                  <td>{whereWords(moment)}</td>
                  <td>{MODE_NAMES[mode] ?? mode}</td>
                  <td class="right">{count(rollouts)}</td>
                  {NAMES.map((name) => (
                    <td key={name} class="right">
                      {shown(name, figureOf(moment, mode, name))}
                    </td>
                  ))}
                </tr>
              )),
            )}
          </tbody>
        </table>
      </section>
    </details>
  );
}
