/** Reports that lie in a run's folder, and what can be taken along. */
import type { ReportLink } from '../../api.js';
import { exportHref, runPath } from '../client.js';
import { Empty, Failed, Loading } from '../components/bits.js';
import { href } from '../router.js';
import type { RunViewProps } from '../run/RunPage.js';
import { useApi } from '../useApi.js';
import { ReportList } from './ReportList.js';

const EXPORTS = [
  ['metrics.csv', 'Metrics as CSV'],
  ['metrics.jsonl', 'Metrics as JSON Lines'],
  ['trajectories.csv', 'Rollouts as CSV, a line each'],
  ['trajectories.jsonl', 'Rollouts as JSON Lines, whole'],
] as const;

export default function RunReportsView({ run, rest }: RunViewProps) {
  const asked = useApi<readonly ReportLink[]>(runPath(run.id, 'reports'));
  const { value: reports } = asked;
  return (
    <section class="reports-page" aria-label="Reports">
      <p class="row">
        <span class="muted">Export</span>
        {EXPORTS.map(([file, label]) => (
          <a key={file} href={exportHref(run.id, file)} download>
            {label}
          </a>
        ))}
      </p>
      {reports === undefined ? (
        asked.error === undefined ? (
          <Loading what="Looking for reports" />
        ) : (
          <Failed error={asked.error} retry={asked.reload} />
        )
      ) : reports.length === 0 ? (
        <Empty title="There is no report in this run’s folder yet.">One is written when an evaluation or the run has ended.</Empty>
      ) : (
        <ReportList
          label="Reports of the run"
          reports={reports}
          current={rest.length === 0 ? reports.find(({ kind }) => kind === 'html')?.name : rest.join('/')}
          hrefOf={(name) => href(['run', run.id, 'reports', name])}
          fileOf={(name) => `api/${runPath(run.id, `reports/${encodeURIComponent(name)}`)}`}
        />
      )}
    </section>
  );
}
