import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { someInfo } from '../../test/support/someRun.js';
import { mlflow } from './mlflow.js';
import { parseTracker } from './parseTracker.js';
import { TrackerGone, type TrackerPoint } from './tracker.js';
import { webhook } from './webhook.js';

interface Heard {
  readonly path: string;
  readonly authorization: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: whatever was sent
  readonly body: any;
}

let folder: string;
let server: Server;
let url: string;
let heard: Heard[];
let answer: (heard: Heard) => { status?: number; body?: unknown; location?: string };

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'trackers-'));
  heard = [];
  answer = () => ({});
  server = createServer(async (request, response) => {
    const said = { path: request.url!, authorization: request.headers.authorization, body: await bodyOf(request) };
    heard.push(said);
    const { status = 200, body = {}, location } = answer(said);
    response.writeHead(status, { 'content-type': 'application/json', ...(location && { location }) }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  vi.unstubAllEnvs();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true, force: true });
});

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text === '' ? undefined : JSON.parse(text);
}

const signal = new AbortController().signal;
const run = (resumed = false) => ({ folder, info: someInfo(), resumed });
const point = (step: number, values: Record<string, number>): TrackerPoint => ({ axis: 'rl', step, at: 1000 + step, values });

/** An MLflow server as far as the tracker needs one. */
const asMlflow = ({ path }: Heard): { status?: number; body?: unknown } => {
  if (path.includes('get-by-name')) return { status: 404, body: { error_code: 'RESOURCE_DOES_NOT_EXIST', message: 'no such experiment' } };
  if (path.endsWith('experiments/create')) return { body: { experiment_id: '7' } };
  if (path.endsWith('runs/create')) return { body: { run: { info: { run_id: 'abc' } } } };
  return { body: {} };
};

describe('mlflow', () => {
  it('is given an experiment, a run, the recipe as parameters, metrics and an end', async () => {
    answer = asMlflow;
    const tracker = mlflow({ url: `${url}/`, experiment: 'mine' });
    await tracker.start(run(), signal);
    await tracker.log!([point(1, { 'rl/reward/total': 0.5, 'evaluation/rl/T=1 top-p 1/accuracy': 0.25 })], signal);
    await tracker.end({ kind: 'ended' }, signal);
    const of = (name: string): Heard[] => heard.filter(({ path }) => path.endsWith(name));
    expect(of('experiments/create')[0]!.body).toEqual({ name: 'mine' });
    expect(of('runs/create')[0]!.body).toMatchObject({ experiment_id: '7' });
    const params = of('log-batch').flatMap(({ body }) => body.params ?? []) as { key: string; value: string }[];
    expect(params).toContainEqual({ key: 'seed', value: String(someInfo().recipe.seed) });
    expect(of('log-batch').flatMap(({ body }) => body.metrics ?? [])).toEqual([
      { key: 'rl/reward/total', value: 0.5, timestamp: 1001, step: 1 },
      { key: 'evaluation/rl/T_1 top-p 1/accuracy', value: 0.25, timestamp: 1001, step: 1 },
    ]);
    expect(of('runs/update')[0]!.body).toMatchObject({ run_id: 'abc', status: 'FINISHED' });
  });

  it('goes on with the same run after an interruption', async () => {
    answer = asMlflow;
    await mlflow({ url }).start(run(), signal);
    heard = [];
    const again = mlflow({ url });
    await again.start(run(true), signal);
    await again.log!([point(2, { a: 1 })], signal);
    expect(heard.map(({ path }) => path.split('/').at(-1))).toEqual(['update', 'log-batch']);
    expect(heard[0]!.body).toMatchObject({ run_id: 'abc', status: 'RUNNING' });
  });

  it('does not make a second run where the first try stopped half-way', async () => {
    let failures = 1;
    answer = (said) => (said.path.endsWith('log-batch') && failures-- > 0 ? { status: 503 } : asMlflow(said));
    const tracker = mlflow({ url });
    await expect(tracker.start(run(), signal)).rejects.toThrow('status 503');
    await tracker.start(run(), signal);
    expect(heard.filter(({ path }) => path.endsWith('runs/create'))).toHaveLength(1);
  });

  it('sends more than a thousand metrics in parts', async () => {
    answer = asMlflow;
    const tracker = mlflow({ url });
    await tracker.start(run(), signal);
    heard = [];
    await tracker.log!([point(1, Object.fromEntries(Array.from({ length: 1500 }, (_, i) => [`m${i}`, i])))], signal);
    expect(heard.map(({ body }) => body.metrics.length)).toEqual([1000, 500]);
  });

  it("takes MLflow's own credentials, and gives up where they are refused", async () => {
    vi.stubEnv('MLFLOW_TRACKING_USERNAME', 'ada');
    vi.stubEnv('MLFLOW_TRACKING_PASSWORD', 'secret');
    answer = () => ({ status: 401 });
    await expect(mlflow({ url }).start(run(), signal)).rejects.toThrow(TrackerGone);
    expect(heard[0]!.authorization).toBe(`Basic ${Buffer.from('ada:secret').toString('base64')}`);
  });

  it('never sends credentials in the open to another machine', () => {
    vi.stubEnv('MLFLOW_TRACKING_TOKEN', 'secret');
    expect(() => mlflow({ url: 'http://mlflow.example.org' })).toThrow(/not sent over plain http/);
  });

  it('follows no redirect', async () => {
    answer = () => ({ status: 302, location: 'http://127.0.0.1:1/' });
    await expect(mlflow({ url }).start(run(), signal)).rejects.toThrow(/redirect/);
  });
});

describe('a webhook', () => {
  it('is told the end and a collapse, with a sentence', async () => {
    const tracker = webhook({ url: `${url}/hook?x=1` });
    await tracker.start(run(), signal);
    await tracker.alarm!({ kind: 'noToolCalls', text: 'step 3: tool calls fell' }, signal);
    await tracker.end({ kind: 'ended', accuracy: 0.8125 }, signal);
    expect(heard.map(({ path }) => path)).toEqual(['/hook?x=1', '/hook?x=1']);
    expect(heard[0]!.body).toMatchObject({ event: 'alarm', alarm: 'noToolCalls', seed: someInfo().seed });
    expect(heard[1]!.body).toMatchObject({ event: 'ended', accuracy: 0.8125, text: expect.stringMatching(/has ended: 81\.3 % right/) });
  });

  it('that refuses is not asked again; one that fails may be', async () => {
    const tracker = webhook({ url });
    await tracker.start(run(), signal);
    answer = () => ({ status: 404 });
    await expect(tracker.end({ kind: 'interrupted' }, signal)).rejects.toThrow(TrackerGone);
    answer = () => ({ status: 502 });
    await expect(tracker.end({ kind: 'interrupted' }, signal)).rejects.not.toThrow(TrackerGone);
  });
});

describe('a tracker as the command line names it', () => {
  it('is one of the known ones', () => {
    const named = [
      'tensorboard',
      'tensorboard:/tmp/x',
      'mlflow:http://127.0.0.1:5000#mine',
      'wandb:me/mine',
      'webhook:https://a.example/b',
    ];
    expect(named.map((text) => parseTracker(text).name)).toEqual(['tensorboard', 'tensorboard', 'mlflow', 'wandb', 'webhook']);
  });

  it('is refused by name where it is not, or lacks its address', () => {
    expect(() => parseTracker('comet:x')).toThrow(/unknown tracker "comet"/);
    for (const text of ['mlflow', 'wandb:', 'webhook']) expect(() => parseTracker(text)).toThrow(/needs/);
    expect(() => parseTracker('mlflow:ftp://x')).toThrow(/not an http/);
  });
});
