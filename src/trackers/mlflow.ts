/**
 * MLflow by its REST API 2.0: an experiment, a run with the recipe as parameters, metrics in batches. The run's id is kept in the run's
 * folder, so that a run that goes on is the same one there. Credentials are MLflow's own: MLFLOW_TRACKING_TOKEN, or MLFLOW_TRACKING_USERNAME
 * and MLFLOW_TRACKING_PASSWORD.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { addressOf, sendJson } from './http.js';
import { type TrackedRun, type Tracker, TrackerGone, type TrackerPoint } from './tracker.js';

export interface MlflowOptions {
  /** For example `http://127.0.0.1:5000`. */
  readonly url: string;
  /** Made where it does not exist. Default `toolwise`. */
  readonly experiment?: string;
}

/** The most that one request of the API takes. */
const MOST_METRICS = 1000;
const MOST_PARAMS = 100;
const LONGEST_VALUE = 500;

/** @throws UserError for an address that is none, or credentials that would travel in the open */
export function mlflow({ url, experiment = 'toolwise' }: MlflowOptions): Tracker {
  const credentials = authorization();
  const base = addressOf(url, credentials, 'MLflow');
  const headers = credentials === undefined ? {} : { authorization: credentials };
  let runId = '';

  const call = async (method: 'GET' | 'POST', path: string, body: unknown, signal: AbortSignal, mayFail = false): Promise<Answer> => {
    const answer = await sendJson({ method, url: `${base}/api/2.0/mlflow/${path}`, ...(body !== undefined && { body }), headers, signal });
    const content = (typeof answer.body === 'object' && answer.body !== null ? answer.body : {}) as Answer;
    if (answer.status >= 400 && !mayFail) throw new TrackerGone(`${path}: ${content.message ?? `status ${answer.status}`}`);
    return content;
  };

  const experimentId = async (signal: AbortSignal): Promise<string> => {
    const query = `experiments/get-by-name?experiment_name=${encodeURIComponent(experiment)}`;
    const found = await call('GET', query, undefined, signal, true);
    if (found.experiment) return found.experiment.experiment_id;
    const made = await call('POST', 'experiments/create', { name: experiment }, signal, true);
    if (made.experiment_id !== undefined) return made.experiment_id;
    // another process may have made it in between
    const again = await call('GET', query, undefined, signal, true);
    if (again.experiment) return again.experiment.experiment_id;
    throw new TrackerGone(
      `the experiment ${JSON.stringify(experiment)} cannot be had: ${again.message ?? made.message ?? 'no reason given'}`,
    );
  };

  const begin = async (run: TrackedRun, signal: AbortSignal): Promise<void> => {
    const { info, folder } = run;
    const tags = [
      { key: 'mlflow.runName', value: basename(folder) },
      { key: 'toolwise.seed', value: String(info.seed) },
      { key: 'toolwise.model', value: info.model.name },
      ...Object.entries(info.versions).map(([key, value]) => ({ key: `version.${key}`, value })),
    ];
    // a second try goes on with what the first one made
    if (runId === '') {
      const body = { experiment_id: await experimentId(signal), start_time: Date.now(), run_name: basename(folder), tags };
      const made = await call('POST', 'runs/create', body, signal);
      if (made.run === undefined) throw new TrackerGone('runs/create: no run in the answer');
      runId = made.run.info.run_id;
    }
    const params = flat(info.recipe);
    for (let i = 0; i < params.length; i += MOST_PARAMS)
      await call('POST', 'runs/log-batch', { run_id: runId, params: params.slice(i, i + MOST_PARAMS) }, signal);
  };

  return {
    name: 'mlflow',
    async start(run, signal) {
      const file = join(run.folder, RUN_FILE);
      const before = run.resumed ? readRunId(file, base) : undefined;
      if (before === undefined) await begin(run, signal);
      else {
        runId = before;
        await call('POST', 'runs/update', { run_id: runId, status: 'RUNNING' }, signal);
      }
      writeFileSync(file, `${JSON.stringify({ url: base, runId })}\n`);
    },
    async log(points, signal) {
      const metrics = points.flatMap(metricsOf);
      for (let i = 0; i < metrics.length; i += MOST_METRICS)
        await call('POST', 'runs/log-batch', { run_id: runId, metrics: metrics.slice(i, i + MOST_METRICS) }, signal);
    },
    async end(outcome, signal) {
      const status = ({ ended: 'FINISHED', failed: 'FAILED', interrupted: 'KILLED' } as const)[outcome.kind];
      await call('POST', 'runs/update', { run_id: runId, status, end_time: Date.now() }, signal);
    },
  };
}

const RUN_FILE = 'mlflow.json';

interface Answer {
  readonly message?: string;
  readonly experiment_id?: string;
  readonly experiment?: { readonly experiment_id: string };
  readonly run?: { readonly info: { readonly run_id: string } };
}

function authorization(): string | undefined {
  const { MLFLOW_TRACKING_TOKEN: token, MLFLOW_TRACKING_USERNAME: user, MLFLOW_TRACKING_PASSWORD: password } = process.env;
  if (token) return `Bearer ${token}`;
  return user && password ? `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` : undefined;
}

/** Of this server's run; another server's does not count. */
function readRunId(file: string, base: string): string | undefined {
  if (!existsSync(file)) return undefined;
  try {
    const { url, runId } = JSON.parse(readFileSync(file, 'utf8')) as { url?: unknown; runId?: unknown };
    return url === base && typeof runId === 'string' ? runId : undefined;
  } catch {
    return undefined;
  }
}

const metricsOf = ({ at, step, values }: TrackerPoint): { key: string; value: number; timestamp: number; step: number }[] =>
  Object.entries(values).map(([key, value]) => ({ key: allowed(key), value, timestamp: Math.round(at), step }));

/** Names may hold letters, digits, and `_-. /`. */
const allowed = (name: string): string => name.replace(/[^\w\-. /]/g, '_');

/** The recipe as `rl.algorithm.clipHigh` and so on. */
function flat(value: unknown, path = ''): { key: string; value: string }[] {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return Object.entries(value).flatMap(([key, inner]) => flat(inner, path === '' ? key : `${path}.${key}`));
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text === undefined ? [] : [{ key: allowed(path), value: text.slice(0, LONGEST_VALUE) }];
}
