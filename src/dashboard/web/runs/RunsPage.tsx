/** All runs of the folder. */
import { Failed, Loading } from '../components/bits.js';
import { href } from '../router.js';
import { loadRuns, useRuns } from './runsStore.js';

export function RunsPage() {
  const { runs, error } = useRuns();
  if (runs === undefined) return error === undefined ? <Loading what="Reading the runs" /> : <Failed error={error} retry={loadRuns} />;
  return (
    <ul>
      {runs.map((run) => (
        <li key={run.id}>
          <a href={href(['run', run.id])}>{run.id}</a>
        </li>
      ))}
    </ul>
  );
}
