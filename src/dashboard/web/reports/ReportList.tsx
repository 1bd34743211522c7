/** Reports as a list, and the one that is chosen: pages in a frame that runs nothing, tables and notes as text. */
import { useEffect, useState } from 'preact/hooks';
import type { ReportLink } from '../../api.js';
import { ApiError } from '../client.js';
import { Badge, Failed, Loading } from '../components/bits.js';
import { SafeText } from '../components/SafeText.js';
import { bytes } from '../format.js';
import { CodeText } from '../trajectories/Code.js';
import '../trajectories/trajectories.css';
import './reports.css';

const KINDS: Readonly<Record<ReportLink['kind'], string>> = { html: 'page', json: 'JSON', markdown: 'text' };

interface ReportListProps {
  readonly label: string;
  readonly reports: readonly ReportLink[];
  readonly current: string | undefined;
  readonly hrefOf: (name: string) => string;
  /** Where the server gives the file. */
  readonly fileOf: (name: string) => string;
}

export function ReportList({ label, reports, current, hrefOf, fileOf }: ReportListProps) {
  const shown = reports.find(({ name }) => name === current);
  return (
    <div class="reports">
      <nav class="report-list" aria-label={label}>
        <ul>
          {reports.map((report) => (
            <li key={report.name}>
              <a href={hrefOf(report.name)} aria-current={report === shown ? 'page' : undefined}>
                <SafeText text={report.title} as="line" />
                <span class="muted">
                  <Badge>{KINDS[report.kind] ?? report.kind}</Badge> <SafeText text={report.name} /> · {bytes(report.bytes)}
                </span>
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <div class="report-shown">
        {shown === undefined ? (
          <p class="muted">{current === undefined ? 'Choose a report.' : 'There is no report of that name any more.'}</p>
        ) : (
          <>
            <div class="bar">
              <h2 class="grow">
                <SafeText text={shown.title} as="line" />
              </h2>
              <a href={fileOf(shown.name)} target="_blank" rel="noreferrer">
                Open by itself
              </a>
              <a href={fileOf(shown.name)} download={shown.name.split('/').at(-1)}>
                Save
              </a>
            </div>
            {shown.kind === 'html' ? (
              <iframe
                key={shown.name}
                class="report-frame"
                title={shown.title}
                src={fileOf(shown.name)}
                sandbox=""
                referrerpolicy="no-referrer"
              />
            ) : (
              <TextReport key={shown.name} path={fileOf(shown.name)} json={shown.kind === 'json'} />
            )}
          </>
        )}
      </div>
    </div>
  );
}

/** Bytes of a text report that are shown. */
const MOST = 4_000_000;

function TextReport({ path, json }: { path: string; json: boolean }) {
  const [state, setState] = useState<{ readonly text?: string; readonly error?: ApiError }>({});
  const [round, setRound] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    textOf(path, abort.signal).then(
      (text) => setState({ text }),
      (error: unknown) => {
        if (!abort.signal.aborted) setState({ error: error instanceof ApiError ? error : new ApiError(String(error), 0) });
      },
    );
    return () => abort.abort();
  }, [path, round]);
  if (state.error) return <Failed error={state.error} retry={() => setRound(round + 1)} />;
  if (state.text === undefined) return <Loading what="Reading the report" />;
  return json ? (
    <CodeText text={pretty(state.text)} language="json" label="The report" />
  ) : (
    <SafeText text={state.text} as="block" class="report-text" />
  );
}

async function textOf(path: string, signal: AbortSignal): Promise<string> {
  const response = await fetch(path, { signal });
  if (!response.ok) throw new ApiError(`The report cannot be read (${response.status}).`, response.status);
  const text = await response.text();
  return text.length > MOST ? `${text.slice(0, MOST)}\n… cut here; save it to read the rest …` : text;
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
