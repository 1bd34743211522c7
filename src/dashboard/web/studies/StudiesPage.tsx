/** All studies of the folder: how far each is, and whether it runs. */
import type { StudySummary } from '../../api.js';
import { Badge, Empty, Failed, Loading, Meter, Note } from '../components/bits.js';
import { SafeText } from '../components/SafeText.js';
import { ago, count, counted, dateTime } from '../format.js';
import { href } from '../router.js';
import { safeLabel } from '../safeText.js';
import { useApi } from '../useApi.js';
import { useNow } from '../useNow.js';
import { STATE_HINTS, STATE_TONES, STATE_WORDS } from './studyWords.js';
import { useFresh } from './useFresh.js';
import './studies.css';

export default function StudiesPage() {
  const asked = useApi<readonly StudySummary[]>('studies');
  const { value: studies, error, reload } = asked;
  useFresh(reload);
  const now = useNow(5000);
  if (studies === undefined) return error === undefined ? <Loading what="Reading the studies" /> : <Failed error={error} retry={reload} />;
  return (
    <section class="study-page" aria-labelledby="studies-title">
      <h1 id="studies-title">Studies</h1>
      {error !== undefined && <Note tone="warn">{error.message}</Note>}
      {studies.length === 0 ? (
        <Empty title="There is no study in this folder yet.">
          A study is a folder with a <code>study.json</code>, as <code>toolwise study PLAN.yaml</code> writes it: claims, tried with
          repeats. It appears here by itself.
        </Empty>
      ) : (
        <ul class="studies">
          {studies.map((study) => (
            <li key={study.id} class="card study-item">
              <div class="row">
                <h2>
                  <a href={href(['studies', study.id])}>
                    <bdi>{safeLabel(study.id === '@' ? study.name : study.id)}</bdi>
                  </a>
                </h2>
                <Badge tone={STATE_TONES[study.state]} title={STATE_HINTS[study.state]}>
                  {STATE_WORDS[study.state]}
                </Badge>
                <span class="faint study-when" title={dateTime(study.lastResultAt)}>
                  {study.lastResultAt === undefined ? 'no result yet' : `last result ${ago(study.lastResultAt, now)}`}
                </span>
              </div>
              {study.note !== undefined && <Note tone="bad">{safeLabel(study.note)}</Note>}
              <div class="row muted">
                <span class="study-meter">
                  <Meter
                    value={study.wanted === 0 ? 0 : study.done / study.wanted}
                    label={`${study.done} of ${study.wanted} arm-runs`}
                    tone={study.state === 'running' ? 'good' : 'info'}
                  />
                </span>
                <span>
                  {count(study.done)} of {counted(study.wanted, 'arm-run')}
                </span>
                <span>
                  {count(study.blocksDone)} of {counted(study.blocksWanted, 'block')} complete
                </span>
                <span>{counted(study.claims, 'claim')}</span>
              </div>
              <p>
                <span class="muted">{study.plans.length === 1 ? 'plan' : counted(study.plans.length, 'plan')}</span>{' '}
                <SafeText text={study.plans.map(({ name }) => name).join(', ')} />
              </p>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
