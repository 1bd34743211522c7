/** Data reports of the folder: what was found out about data, outside runs. */
import type { ReportLink } from '../../api.js';
import { Empty, Failed, Loading } from '../components/bits.js';
import { href } from '../router.js';
import { useApi } from '../useApi.js';
import { ReportList } from './ReportList.js';

export default function ReportsView({ rest }: { readonly rest: readonly string[] }) {
  const asked = useApi<readonly ReportLink[]>('reports');
  const { value: reports } = asked;
  if (reports === undefined) {
    return asked.error === undefined ? <Loading what="Looking for data reports" /> : <Failed error={asked.error} retry={asked.reload} />;
  }
  return (
    <section class="reports-page" aria-label="Data reports">
      <h1>Data reports</h1>
      {reports.length === 0 ? (
        <Empty title="There are no data reports in this folder.">
          Commands such as <code>toolwise data inspect</code> and <code>toolwise data check</code> write them.
        </Empty>
      ) : (
        <ReportList
          label="Data reports"
          reports={reports}
          current={rest.length === 0 ? reports[0]?.name : rest.join('/')}
          hrefOf={(name) => href(['reports', name])}
          fileOf={(name) => `api/reports/${encodeURIComponent(name)}`}
        />
      )}
    </section>
  );
}
