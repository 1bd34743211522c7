/**
 * What the dashboard's server takes to answer over a run with very many rollouts and metrics, asked over a real connection; and what the
 * words and facts that it filters by cost the writer. Draws nothing: the browser's part is not in it.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serveDashboard } from '../dashboard/server/serve.js';
import { type MadeRun, makeRun } from './madeRun.js';

export interface UiFigures {
  readonly writer: { readonly rolloutsPerSecond: number; readonly bytesPerRollout: number };
  /** Milliseconds of an answer, the median of several. */
  readonly answers: readonly { readonly what: string; readonly milliseconds: number; readonly target?: number }[];
}

const REPEATS = 5;

const asked = ({ rollouts }: MadeRun): readonly { readonly what: string; readonly path: string; readonly target?: number }[] => [
  { what: 'first page: runs, one run, its newest rollouts', path: '', target: 1_000 },
  { what: 'filter: wrong though the tool succeeded', path: 'trajectories?flags=wrongThoughToolSucceeded', target: 200 },
  { what: 'filter: malformed', path: 'trajectories?flags=malformed', target: 200 },
  { what: 'filter: extreme advantages, sorted by them', path: 'trajectories?flags=extremeAdvantage&sort=-advantage', target: 200 },
  { what: 'filter: wrong, in some steps', path: 'trajectories?correct=false&fromStep=1000&toStep=3000', target: 200 },
  { what: 'sorted by length', path: 'trajectories?sort=longest', target: 200 },
  { what: 'search: a rare number', path: 'trajectories?text=9541', target: 200 },
  { what: 'search: a word of one in seven', path: 'trajectories?text=nameerror', target: 200 },
  { what: 'search: three words of all', path: 'trajectories?text=range%20boxed%20x', target: 200 },
  { what: 'one rollout, with its neighbours under a filter', path: `trajectories/${Math.ceil(rollouts / 2)}?flags=malformed`, target: 200 },
  { what: 'problems, hardest first', path: 'problems' },
  { what: 'groups, newest first', path: 'groups' },
  { what: 'reasoning modes over all steps', path: 'modes' },
  { what: 'all metrics, thinned to 1,000 points each', path: 'metrics?points=1000' },
];

export async function benchmarkUi(size: MadeRun, log: (line: string) => void = () => undefined): Promise<UiFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'toolwise-bench-ui-'));
  try {
    log(`ui: writing ${size.rollouts} rollouts and ${size.metricPoints} metric points`);
    const { writerSeconds } = makeRun(join(folder, 'made'), size);
    const bytes = statSync(join(folder, 'made', 'run.sqlite')).size;
    const served = await serveDashboard({ folder, assets: folder });
    try {
      const ask = async (path: string): Promise<number> => {
        const start = performance.now();
        const response = await fetch(`${served.address}api/runs/made/${path}`);
        await response.arrayBuffer();
        if (response.status !== 200) throw new Error(`${path}: ${response.status}`);
        return performance.now() - start;
      };
      const firstPage = async (): Promise<number> => {
        const start = performance.now();
        for (const path of ['api/runs', 'api/runs/made', 'api/runs/made/trajectories'])
          await (await fetch(`${served.address}${path}`)).arrayBuffer();
        return performance.now() - start;
      };
      const answers: UiFigures['answers'][number][] = [];
      for (const { what, path, target } of asked(size)) {
        const times: number[] = [];
        // the first page is asked for once: it is the one that finds nothing ready
        for (let i = 0; i < (path === '' ? 1 : REPEATS); i++) times.push(await (path === '' ? firstPage() : ask(path)));
        const milliseconds = times.sort((a, b) => a - b)[Math.floor(times.length / 2)]!;
        log(`ui: ${what}: ${milliseconds.toFixed(0)} ms`);
        answers.push({ what, milliseconds, ...(target !== undefined && { target }) });
      }
      return { writer: { rolloutsPerSecond: size.rollouts / writerSeconds, bytesPerRollout: bytes / size.rollouts }, answers };
    } finally {
      await served.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
