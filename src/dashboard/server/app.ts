/** All that the dashboard's server answers: see `../api.ts`. Listens nowhere: see `serve.ts`. */
import { type Context, Hono } from 'hono';
import type { TrajectoryRecord } from '../../domain/event.js';
import { Assets } from './assets.js';
import { Catalogue } from './catalogue.js';
import { metricsCsv, metricsJsonl, trajectoriesCsv, trajectoriesJsonl } from './exports.js';
import { listGroups, viewGroup } from './groups.js';
import { Live, type LiveOptions } from './live.js';
import { seriesOf } from './metrics.js';
import { viewModes } from './modes.js';
import { listProblems, viewProblem } from './problems.js';
import { Query } from './query.js';
import { Refusal } from './refusal.js';
import { dataReports, linksOf, reportFiles, sendReport } from './reports.js';
import type { RunView } from './runView.js';
import { type Access, guard } from './security.js';
import { streamed } from './streamed.js';
import { Studies } from './studies.js';
import { detailOf, unreadable } from './summary.js';
import { systemOf } from './systemText.js';
import { Tokenizers, viewTokens } from './tokens.js';
import { listTrajectories, recordOf, viewTrajectory } from './trajectories.js';

export interface Dashboard {
  readonly app: Hono;
  /** Ends every connection and lets go of all files. */
  readonly close: () => void;
}

export interface DashboardOptions extends Access {
  /** The folder whose runs are shown. */
  readonly folder: string;
  /** Of the built page. */
  readonly assets: string;
  readonly live?: LiveOptions;
}

const DEFAULT_POINTS = 1_000;
const MOST_POINTS = 20_000;

export function dashboard({ folder, assets, token, live: liveOptions }: DashboardOptions): Dashboard {
  const catalogue = new Catalogue(folder);
  const studies = new Studies(catalogue);
  const live = new Live(catalogue, liveOptions);
  const tokenizers = new Tokenizers();
  const page = new Assets(assets);
  const app = new Hono();

  app.use(guard({ token }));
  app.onError((error, context) => {
    const { status, message } =
      error instanceof Refusal ? error : { status: 500 as const, message: 'the server failed; its terminal says more' };
    if (status === 500) console.error(error);
    return secured(context.json({ error: message }, status));
  });

  app.get('/api/runs', async (context) => context.json(await catalogue.list()));
  app.get('/api/studies', (context) => context.json(studies.list()));
  app.get('/api/studies/:study', async (context) => context.json(await studies.detail(context.req.param('study'))));
  app.get('/api/events', (context) => live.connect(context.req.header('last-event-id') ?? (context.req.query('lastEventId') || undefined)));
  app.get('/api/reports', (context) => context.json(linksOf(dataReports(catalogue.folder.pages()))));
  app.get('/api/reports/:name', (context) => sendReport(dataReports(catalogue.folder.pages()), context.req.param('name')));

  app.get('/api/runs/:run', async (context) => {
    const run = catalogue.find(context.req.param('run'));
    try {
      return context.json(await catalogue.use(run.id, (view) => detailOf(run, view)));
    } catch (error) {
      if (!(error instanceof Refusal) || error.status !== 422) throw error;
      const nothing = { versions: {}, extra: {}, metricNames: {}, allEvaluations: [], checkpoints: [], notes: [], splits: [] };
      return context.json({ ...unreadable(run, error.message), ...nothing });
    }
  });

  const ofRun =
    <T>(read: (view: RunView, query: Query, context: Context) => T | Promise<T>) =>
    async (context: Context) =>
      context.json((await catalogue.use(context.req.param('run')!, (view) => read(view, new Query(context.req.url), context))) as never);

  app.get(
    '/api/runs/:run/metrics',
    ofRun((view, query) =>
      seriesOf(view, {
        stage: query.stage(),
        names: query.all('name'),
        points: Math.max(2, query.whole('points', MOST_POINTS) ?? DEFAULT_POINTS),
        from: query.whole('from'),
        to: query.whole('to'),
      }),
    ),
  );
  app.get(
    '/api/runs/:run/trajectories',
    ofRun((view, query) => listTrajectories(view, query.trajectories())),
  );
  app.get(
    '/api/runs/:run/trajectories/:id',
    ofRun((view, query, context) =>
      viewTrajectory(view, idIn(context), query.trajectories(), {
        whole: query.yes('whole') ?? false,
        systemOf: (one: RunView, record: TrajectoryRecord) => systemOf(one, record, tokenizers),
      }),
    ),
  );
  app.get(
    '/api/runs/:run/trajectories/:id/tokens',
    ofRun((view, _, context) => viewTokens(view, recordOf(view, idIn(context)), tokenizers)),
  );
  app.get(
    '/api/runs/:run/groups',
    ofRun((view, query) => {
      const id = query.text('id');
      return id === undefined ? listGroups(view, query.groups()) : viewGroup(view, id, { stage: query.stage(), step: query.whole('step') });
    }),
  );
  app.get(
    '/api/runs/:run/problems',
    ofRun((view, query) => listProblems(view, query.problems())),
  );
  app.get(
    '/api/runs/:run/problem',
    ofRun((view, query) => viewProblem(view, required(query, 'id'))),
  );
  app.get(
    '/api/runs/:run/modes',
    ofRun((view) => viewModes(view)),
  );

  // reports are read from the folder: a run whose file is damaged may still have them
  const reportsOf = (context: Context) => reportFiles(catalogue.find(context.req.param('run')!).folder);
  app.get('/api/runs/:run/reports', (context) => context.json(linksOf(reportsOf(context))));
  app.get('/api/runs/:run/reports/:name', (context) => sendReport(reportsOf(context), context.req.param('name')));

  app.get('/api/runs/:run/export/:file', (context) => {
    const run = catalogue.find(context.req.param('run'));
    const query = new Query(context.req.url);
    const make = exportOf(context.req.param('file'), query);
    if (context.req.method === 'HEAD') return context.body(null);
    return streamed(context.req.param('file'), run.name, (write) => catalogue.use(run.id, (view) => write(make(view))));
  });

  app.all('/api/*', () => {
    throw new Refusal(404, 'there is no such address');
  });
  app.get('*', (context) => page.answer(context.req.path));

  return {
    app,
    close: () => {
      live.close();
      catalogue.close();
    },
  };
}

function exportOf(file: string, query: Query): (view: RunView) => Generator<string> {
  const asked = query.trajectories();
  const { limit: _, ...rest } = asked;
  const most = query.whole('limit');
  const all = { ...rest, ...(most !== undefined && { limit: most }) };
  const tokens = query.yes('tokens') ?? false;
  const made: Readonly<Record<string, (view: RunView) => Generator<string>>> = {
    'metrics.csv': metricsCsv,
    'metrics.jsonl': metricsJsonl,
    'trajectories.csv': (view) => trajectoriesCsv(view, all),
    'trajectories.jsonl': (view) => trajectoriesJsonl(view, all, tokens),
  };
  const found = Object.hasOwn(made, file) ? made[file] : undefined;
  if (!found) throw new Refusal(404, `there is no export ${file}: ${Object.keys(made).join(', ')}`);
  return found;
}

function idIn(context: Context): number {
  const text = context.req.param('id') ?? '';
  if (!/^\d{1,15}$/.test(text)) throw new Refusal(404, `there is no rollout ${text}`);
  return Number(text);
}

function required(query: Query, name: string): string {
  const value = query.text(name);
  if (value === undefined) throw new Refusal(400, `${name}= is needed`);
  return value;
}

function secured(response: Response): Response {
  response.headers.set('x-content-type-options', 'nosniff');
  response.headers.set('content-security-policy', "default-src 'none'; frame-ancestors 'none'");
  response.headers.set('cross-origin-resource-policy', 'same-origin');
  response.headers.set('cache-control', 'no-store');
  return response;
}
