/** Name, state and progress of a run, above all of its views. */
import type { RunDetail, StageProgress } from '../../api.js';
import { Badge, Meter, Note } from '../components/bits.js';
import { ago, count, dateTime, duration } from '../format.js';
import { safeLabel } from '../safeText.js';
import { useNow } from '../useNow.js';
import { STATE_HINTS, STATE_TONES, STATE_WORDS, secondsLeft, stageText } from './progress.js';

export function RunHead({ run }: { run: RunDetail }) {
  const now = useNow(run.state === 'running' ? 1000 : 30_000);
  const facts = [run.recipe, run.model, run.seed === undefined ? undefined : `seed ${run.seed}`].filter((fact) => fact !== undefined);
  return (
    <div class="run-head">
      <div class="row">
        <h1>
          <bdi>{safeLabel(run.name)}</bdi>
        </h1>
        <Badge tone={STATE_TONES[run.state]} title={STATE_HINTS[run.state]}>
          {STATE_WORDS[run.state]}
        </Badge>
        <span class="muted">
          <bdi>{safeLabel(facts.join(' · '))}</bdi>
        </span>
        <span class="faint run-when" title={`begun ${dateTime(run.startedAt)}, last written ${dateTime(run.updatedAt)}`}>
          {run.state === 'running' ? `begun ${ago(run.startedAt, now)}` : `last written ${ago(run.updatedAt, now)}`}
        </span>
      </div>
      {run.stages.length > 0 && (
        <ul class="stages" aria-label="Stages">
          {run.stages.map((stage) => (
            <li key={stage.stage}>
              <StageBar stage={stage} running={run.state === 'running'} updatedAt={run.updatedAt} now={now} />
            </li>
          ))}
        </ul>
      )}
      {run.note !== undefined && <Note tone={run.state === 'unreadable' ? 'bad' : 'info'}>{safeLabel(run.note)}</Note>}
    </div>
  );
}

function StageBar({ stage, running, updatedAt, now }: { stage: StageProgress; running: boolean; updatedAt: string; now: number }) {
  const left = running ? secondsLeft(stage, updatedAt, now) : undefined;
  return (
    <>
      <span>{stageText(stage)}</span>
      {stage.steps > 0 && stage.endedAt === undefined && (
        <span class="stage-meter">
          <Meter
            value={stage.done / stage.steps}
            label={`${count(stage.done)} of ${count(stage.steps)} steps`}
            tone={running ? 'good' : 'warn'}
          />
        </span>
      )}
      {left !== undefined && <span class="muted">about {duration(Math.max(1, Math.round(left)))} left</span>}
    </>
  );
}
