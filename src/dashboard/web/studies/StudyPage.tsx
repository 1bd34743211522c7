/** One study: how far it is and how long it may take, what runs now, its claims so far, and every arm of every block. */
import type { ComponentChildren } from 'preact';
import type { StudyDetail } from '../../api.js';
import { Badge, Empty, Failed, Loading, Meter, Note, Stat } from '../components/bits.js';
import { SafeText } from '../components/SafeText.js';
import { ago, count, counted, dateTime, duration } from '../format.js';
import { href } from '../router.js';
import { safeLabel } from '../safeText.js';
import { useShortcuts } from '../shortcuts.js';
import { useApi } from '../useApi.js';
import { useNow } from '../useNow.js';
import { ClaimList } from './ClaimList.js';
import { Grids } from './Grids.js';
import { aboutTime, estimateText, progressText, runningNow, STATE_HINTS, STATE_TONES, STATE_WORDS } from './studyWords.js';
import { useFresh } from './useFresh.js';
import './studies.css';

export default function StudyPage({ study: id }: { readonly study: string }) {
  const asked = useApi<StudyDetail>(`studies/${encodeURIComponent(id)}`);
  const { value: study, error, reload } = asked;
  useFresh(reload);
  useShortcuts('The study', [
    { keys: '1', label: 'go to its claims', run: () => goTo('study-claims') },
    { keys: '2', label: 'go to its arms and blocks', run: () => goTo('study-blocks') },
  ]);
  const now = useNow(5000);
  if (study === undefined) return error === undefined ? <Loading what="Reading the study" /> : <Failed error={error} retry={reload} />;
  return (
    <section class="study-page" aria-labelledby="study-title">
      <div class="row">
        <h1 id="study-title">
          <bdi>{safeLabel(study.id === '@' ? study.name : study.id)}</bdi>
        </h1>
        <Badge tone={STATE_TONES[study.state]} title={STATE_HINTS[study.state]}>
          {STATE_WORDS[study.state]}
        </Badge>
        {study.report !== undefined && <a href={href(['reports', study.report])}>Its report</a>}
      </div>
      {error !== undefined && <Note tone="warn">{error.message}</Note>}
      {study.note !== undefined && <Note tone="bad">This study cannot be read: {safeLabel(study.note)}</Note>}
      {study.problems.map((problem) => (
        <Note key={problem} tone="warn">
          <SafeText text={problem} lineLength={600} />
        </Note>
      ))}
      {study.plans.length === 0 ? (
        study.note === undefined && <Empty title="This study has no plan yet." />
      ) : (
        <>
          <Figures study={study} now={now} />
          <Running study={study} />
          <div class="row" role="group" aria-label="Parts of the page">
            <Jump to="study-claims">{counted(study.claims, 'claim')}</Jump>
            <Jump to="study-blocks">Arms and blocks</Jump>
          </div>
          <ClaimList claims={study.claimList} scope={study.scope} />
          <Grids grids={study.grids} />
          {study.facts !== undefined && (
            <p class="muted">
              {study.facts.seeds.includes(',') || study.facts.seeds.includes('to') ? 'Seeds' : 'Seed'} {study.facts.seeds} ·{' '}
              {count(study.facts.tokens)} tokens written · trained from <SafeText text={study.facts.models.join(', ')} /> ·{' '}
              <SafeText text={study.facts.machines.join('; ')} />
            </p>
          )}
        </>
      )}
    </section>
  );
}

function Figures({ study, now }: { study: StudyDetail; now: number }) {
  const { done, wanted, blocksDone, blocksWanted, left, lastResultAt, facts, state } = study;
  return (
    <>
      {/* said when another has ended, and only then */}
      <p class="hidden" role="status">
        {done} of {wanted} arm-runs are there
      </p>
      <div class="stats">
        <Stat
          label="arm-runs"
          value={`${count(done)} of ${count(wanted)}`}
          note={
            <Meter
              value={wanted === 0 ? 0 : done / wanted}
              label={`${done} of ${wanted} arm-runs`}
              tone={state === 'running' ? 'good' : 'info'}
            />
          }
        />
        <Stat label="blocks complete" value={`${count(blocksDone)} of ${count(blocksWanted)}`} />
        <Stat
          label={state === 'running' ? 'still to run' : 'left to run'}
          value={done === wanted ? 'nothing' : left === undefined ? 'not known yet' : aboutTime(left.seconds)}
          note={left === undefined ? (done === wanted ? undefined : 'told when the first arm-run has ended') : estimateText(left)}
        />
        <Stat
          label="last result"
          value={lastResultAt === undefined ? 'none yet' : ago(lastResultAt, now)}
          {...(facts !== undefined && { note: `${duration(Math.round(facts.seconds))} of one engine so far` })}
          title={dateTime(lastResultAt)}
        />
      </div>
    </>
  );
}

function Running({ study }: { study: StudyDetail }) {
  const runs = runningNow(study);
  if (runs.length === 0) return null;
  return (
    <section aria-labelledby="study-running">
      <h2 id="study-running">Running now</h2>
      <ul class="study-running">
        {runs.map(({ key, arm, plan, block, run, progress }) => {
          const text = arm === undefined ? `start of block ${block + 1}` : `${arm}, block ${block + 1}`;
          return (
            <li key={key} class="row">
              {run === undefined ? text : <a href={href(['run', run])}>{safeLabel(text)}</a>}
              {plan !== undefined && (
                <span class="faint">
                  <bdi>{safeLabel(plan)}</bdi>
                </span>
              )}
              <span class="muted">{progressText(progress)}</span>
              {progress !== undefined && progress.steps > 0 && (
                <span class="stage-meter">
                  <Meter
                    value={progress.done / progress.steps}
                    label={`${counted(progress.done, 'step')} of ${count(progress.steps)}`}
                    tone="good"
                  />
                </span>
              )}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** To a heading on this page: an address names the view, so a link cannot. */
function Jump({ to, children }: { to: string; children: ComponentChildren }) {
  return (
    <button type="button" class="chip" onClick={() => goTo(to)}>
      {children}
    </button>
  );
}

function goTo(id: string): void {
  const heading = document.getElementById(id);
  heading?.scrollIntoView();
  heading?.focus({ preventScroll: true });
}
