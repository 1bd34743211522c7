/** Several runs on the same charts. Those that cannot be read are told and left out. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { RunDetail } from '../../api.js';
import { ApiError, getJson, runPath } from '../client.js';
import { Empty, Failed, Loading, Note } from '../components/bits.js';
import { useLive, useThrottled } from '../live.js';
import { href } from '../router.js';
import { CurvesView } from '../run/CurvesView.js';
import { safeLabel } from '../safeText.js';

/** More lines are not told apart by anybody. */
const MOST_RUNS = 16;

interface Answers {
  readonly runs: readonly RunDetail[];
  readonly failed: readonly { readonly id: string; readonly error: ApiError }[];
}

export default function ComparePage({ runs: ids }: { runs: readonly string[] }) {
  const wanted = useMemo(() => [...new Set(ids)].slice(0, MOST_RUNS), [ids.join('\n')]);
  const [answers, setAnswers] = useState<Answers | undefined>(undefined);
  const [round, setRound] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    Promise.all(
      wanted.map((id) =>
        getJson<RunDetail>(runPath(id), abort.signal).then(
          (run) => ({ run }),
          (error: unknown) => ({ id, error: error instanceof ApiError ? error : new ApiError(String(error), 0) }),
        ),
      ),
    ).then((all) => {
      if (abort.signal.aborted) return;
      setAnswers({
        runs: unambiguous(all.flatMap((each) => ('run' in each ? [each.run] : []))),
        failed: all.flatMap((each) => ('run' in each ? [] : [each])),
      });
    });
    return () => abort.abort();
  }, [wanted, round]);
  const reload = useThrottled(() => setRound((count) => count + 1), 10_000);
  useLive((event) => {
    if (event.kind === 'runs' || event.kind === 'reset' || (event.kind === 'evaluation' && wanted.includes(event.run))) reload();
  });
  if (wanted.length === 0) {
    return (
      <Empty title="No run is chosen.">
        <a href={href([])}>Choose some in the list of runs</a>
      </Empty>
    );
  }
  if (answers === undefined) return <Loading what="Reading the runs" />;
  const { runs, failed } = answers;
  if (runs.length === 0) return <Failed error={failed[0]!.error} retry={() => setRound(round + 1)} />;
  return (
    <>
      <h1 class="hidden">Compare runs</h1>
      {failed.map(({ id, error }) => (
        <Note key={id} tone="warn">
          {safeLabel(id)}: {error.message}
        </Note>
      ))}
      {ids.length > wanted.length && <Note>Only the first {MOST_RUNS} runs are shown.</Note>}
      <CurvesView runs={runs} />
    </>
  );
}

/** Runs of one name are told apart by their folders. */
function unambiguous(runs: readonly RunDetail[]): readonly RunDetail[] {
  const names = new Map<string, number>();
  for (const { name } of runs) names.set(name, (names.get(name) ?? 0) + 1);
  return runs.map((run) => (names.get(run.name)! > 1 ? { ...run, name: run.id } : run));
}
