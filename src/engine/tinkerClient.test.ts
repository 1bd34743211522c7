import { setTimeout as sleep } from 'node:timers/promises';
import { create, toBinary } from '@bufbuild/protobuf';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type FakeServer, startFakeServer } from '../../test/support/fakeTinkerServer.js';
import type { Datum } from '../domain/datum.js';
import type { Engine } from './engine.js';
import { EngineError } from './engineError.js';
import { PATIENCE } from './futures.js';
import { ForwardBackwardOutputSchema } from './proto/tinker_pb.js';
import { PROTO_TYPE } from './protoCodec.js';
import type { SampleRequest } from './sampler.js';
import { connectEngine } from './tinkerClient.js';

const quick = { ...PATIENCE, outageMs: 400, firstDelayMs: 5, maxDelayMs: 50, billingMs: 5 };
const datum: Datum = { inputTokens: [1, 2, 3], targets: [2, 3, 4], weights: [0, 1, 1] };
const adam = { learningRate: 1e-3, beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weightDecay: 0, gradClipNorm: 1 };
const request: SampleRequest = { prompt: [1, 2, 3], maxTokens: 4, temperature: 1, topP: 1, seed: 7, stopTokenIds: [] };
const outputs = { loss_fn_outputs: [{ logprobs: { data: [-9, -1, -2], dtype: 'float32' } }], metrics: { 'loss:sum': 3 } };
const sampled = { sequences: [{ stop_reason: 'stop', tokens: [5, 6], logprobs: [-0.5, -0.25] }], prompt_logprobs: [-1, -2] };
const extended = {
  version: '0.1.0',
  extensions: ['stop_token_ids', 'entropy', 'lockstep'],
  losses: { cross_entropy: [] },
  loss_reduction: 'sum',
};

let server: FakeServer;
let engine: Engine | undefined;

const start = async (results: Record<string, unknown> = {}, toolwise?: object, patience = quick): Promise<Engine> => {
  server = await startFakeServer({ asample: sampled, forward_backward: outputs, forward: outputs, ...results }, toolwise);
  engine = await connectEngine({ url: server.url, key: 'tml-test', patience });
  return engine;
};

beforeEach(() => {
  engine = undefined;
});

afterEach(async () => {
  vi.useRealTimers();
  await engine?.close();
  await server.close();
});

/** One datum's log-probs as a server writes them in protobuf. */
function trainingResult(values: number[]): Uint8Array {
  const data = new Uint8Array(Float32Array.from(values).buffer);
  const offsets = new Uint8Array(BigInt64Array.from([0n, BigInt(data.length)]).buffer);
  const record = { typeTag: '', numDatums: 1n, fields: { logprobs: { data, offsets, dtype: 1, trailingShape: [] } } };
  return toBinary(ForwardBackwardOutputSchema, create(ForwardBackwardOutputSchema, { lossFnOutputs: [record], metrics: {} }));
}

const failure = async (call: Promise<unknown>): Promise<EngineError> => {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(EngineError);
  return error as EngineError;
};

describe('order', () => {
  it('lets the calls of a trainer leave in order, each once the one before has been taken, without waiting for results', async () => {
    const trainer = await (await start()).createTrainer({ model: 'tiny' });
    server.on('forward_backward', { body: { request_id: 'slow' }, afterMs: 60 });
    server.on('retrieve_future', ({ body }) => ({
      body: body.request_id === 'slow' ? outputs : { metrics: { 'skyrl.ai/grad_norm': 2.5 } },
    }));
    const [first, step] = await Promise.all([
      trainer.forwardBackward([datum], { name: 'cross_entropy' }),
      trainer.optimStep(adam),
      trainer.forwardBackward([datum], { name: 'cross_entropy' }),
    ]);
    const sent = server.received.filter(({ path }) => path === 'forward_backward' || path === 'optim_step');
    expect(sent.map(({ path, body }) => [path, body.seq_id])).toEqual([
      ['forward_backward', 1],
      ['optim_step', 2],
      ['forward_backward', 3],
    ]);
    expect([...first.logProbs[0]!]).toEqual([0, -1, -2]);
    expect(step.gradNorm).toBe(2.5);
  });

  it('submits the next call after one that the server refused', async () => {
    const trainer = await (await start()).createTrainer({ model: 'tiny' });
    server.on('optim_step', { status: 400, body: { detail: 'beta1 is above 1', category: 'user' } });
    const [refused, result] = await Promise.allSettled([
      trainer.optimStep(adam),
      trainer.forwardBackward([datum], { name: 'cross_entropy' }),
    ]);
    expect(refused).toMatchObject({
      status: 'rejected',
      reason: { category: 'user', message: expect.stringContaining('beta1 is above 1') },
    });
    expect(result.status).toBe('fulfilled');
    expect(trainer.policyVersion).toBe(0);
    server.on('retrieve_future', { body: { sampling_session_id: 'x' } });
    expect((await trainer.publish()).policyVersion).toBe(0);
  });

  it('unloads a model after the calls that were made before', async () => {
    const trainer = await (await start()).createTrainer({ model: 'tiny' });
    server.on('forward_backward', { body: { request_id: 'slow' }, afterMs: 60 });
    server.on('retrieve_future', ({ body }) => ({ body: body.request_id === 'slow' ? outputs : {} }));
    await Promise.all([trainer.forwardBackward([datum], { name: 'cross_entropy' }), trainer.optimStep(adam), trainer.unload()]);
    const sent = server.received.map(({ path }) => path).filter((path) => /forward_backward|optim_step|unload_model/.test(path));
    expect(sent).toEqual(['forward_backward', 'optim_step', 'unload_model']);
  });

  it("removes what was saved where its path says it is; without a kind it is a sampler's weights", async () => {
    await start();
    for (const path of ['tinker://m1/weights/a', 'tinker://m1/sampler_weights/b', 'tinker://m1/c', 'elsewhere/d'])
      await engine!.deleteCheckpoint(path);
    expect(server.received.map(({ path }) => path).filter((path) => path.includes('checkpoints'))).toEqual([
      'training_runs/m1/checkpoints/weights/a',
      'training_runs/m1/checkpoints/sampler_weights/b',
      'training_runs/m1/checkpoints/sampler_weights/c',
    ]);
  });

  it('gives a snapshot the version of the updates that were asked for before it', async () => {
    const trainer = await (await start({ save_weights_for_sampler: { sampling_session_id: 'x' } })).createTrainer({ model: 'tiny' });
    const [, sampler] = await Promise.all([trainer.optimStep(adam), trainer.publish(), trainer.optimStep(adam)]);
    expect(sampler.policyVersion).toBe(1);
    expect(trainer.policyVersion).toBe(2);
  });
});

describe('futures', () => {
  const optimStep = async () => (await engine!.createTrainer({ model: 'tiny' })).optimStep(adam);

  it('asks again after "not yet", time-outs, failures of the server, limits, billing pauses and lost connections', async () => {
    await start();
    const trainer = await engine!.createTrainer({ model: 'tiny' });
    server.on(
      'retrieve_future',
      { body: { type: 'try_again', queue_state: 'active' } },
      { status: 408 },
      { status: 503, body: 'busy' },
      { status: 429 },
      { status: 402 },
      'drop',
      { body: { metrics: { grad_norm: 1 } } },
    );
    expect(await trainer.optimStep(adam)).toEqual({ gradNorm: 1 });
    expect(server.to('optim_step')).toHaveLength(1);
  });

  it.each(['user', 'server'] as const)('passes on whose fault (%s) a failed operation is', async (category) => {
    await start({ optim_step: { error: 'no gradient', category } });
    expect(await failure(optimStep())).toMatchObject({ category, message: 'optim_step: no gradient' });
  });

  it('turns to protobuf for good when a server takes no JSON, and has no forward of its own', async () => {
    await start();
    server.on('forward', { status: 404, body: { detail: 'Not Found' } });
    server.on('forward_backward', ({ headers }) =>
      headers['content-type'] === 'application/json' ? { status: 415, body: { detail: 'protobuf only' } } : { body: { request_id: 'p' } },
    );
    server.on('retrieve_future', ({ body }) =>
      body.request_id === 'p'
        ? { bytes: trainingResult([-9, -1, -2]), headers: { 'content-type': PROTO_TYPE } }
        : { body: { model_id: 'm1' } },
    );
    const trainer = await engine!.createTrainer({ model: 'tiny' });
    expect([...(await trainer.forward([datum]))[0]!]).toEqual([0, -1, -2]);
    const { logProbs } = await trainer.forwardBackward([datum], { name: 'cross_entropy' });
    expect([...logProbs[0]!]).toEqual([0, -1, -2]);
    expect(server.to('forward')).toHaveLength(1);
    expect(server.to('forward_backward').map(({ headers }) => headers['content-type'])).toEqual([PROTO_TYPE, PROTO_TYPE]);
    expect(server.to('retrieve_future').at(-1)!.headers.accept).toBe(PROTO_TYPE);
  });

  it('cuts what is too much for one request, and puts the results together', async () => {
    await start();
    const trainer = await engine!.createTrainer({ model: 'tiny' });
    const data = Array.from({ length: 2050 }, () => datum);
    server.on('retrieve_future', ({ body }) => {
      const { data: sent } = server.to('forward_backward')[Number(body.request_id) - 1]!.body.forward_backward_input;
      return { body: { loss_fn_outputs: sent.map(() => outputs.loss_fn_outputs[0]), metrics: { 'loss:sum': 3, 'loss:mean': 1 } } };
    });
    const { logProbs, metrics } = await trainer.forwardBackward(data, { name: 'cross_entropy' });
    expect(server.to('forward_backward').map(({ body }) => [body.seq_id, body.forward_backward_input.data.length])).toEqual([
      [1, 1024],
      [2, 1024],
      [3, 2],
    ]);
    expect(logProbs).toHaveLength(2050);
    expect(metrics).toEqual({ 'loss:sum': 9, 'loss:mean': 1 });
  });

  it('tells once that the server lets us wait', async () => {
    server = await startFakeServer({ asample: sampled });
    const notices: string[] = [];
    engine = await connectEngine({ url: server.url, patience: quick, onNotice: (text) => notices.push(text) });
    const sampler = await engine.baseSampler('tiny');
    server.on(
      'retrieve_future',
      { body: { type: 'try_again', queue_state: 'paused_capacity' } },
      { body: { type: 'try_again', queue_state: 'paused_rate_limit' } },
      { body: sampled },
    );
    await sampler.sample(request);
    expect(notices).toEqual(['the engine lets us wait: it has no room']);
  });

  it('refuses a model that is not what was asked for', async () => {
    await start({ create_model: { model_id: 'm1', base_model: 'other', lora_config: { rank: 0 } } });
    expect((await failure(engine!.createTrainer({ model: 'tiny' }))).message).toContain('it made one of other');
    await engine!.close();
    await server.close();
    await start({ create_model: { model_id: 'm1', base_model: 'tiny', lora_config: { rank: 4, train_unembed: false } } });
    expect((await failure(engine!.createTrainer({ model: 'tiny', loraRank: 4 }))).message).toContain('set trainUnembed to false');
    expect(server.to('unload_model')).toHaveLength(1);
  });

  it('submits an operation anew when its promise is gone, with the same body', async () => {
    await start();
    const trainer = await engine!.createTrainer({ model: 'tiny' });
    server.on('retrieve_future', { status: 410 }, { body: { metrics: { grad_norm: 1 } } });
    await trainer.optimStep(adam);
    const [first, second, ...more] = server.to('optim_step');
    expect(second!.text).toBe(first!.text);
    expect(more).toEqual([]);
  });

  it('never samples anew in silence', async () => {
    await start();
    const sampler = await engine!.baseSampler('tiny');
    server.on('retrieve_future', { status: 410, body: { detail: 'gone' } });
    expect(await failure(sampler.sample(request))).toMatchObject({ category: 'server', status: 410 });
    expect(server.to('asample')).toHaveLength(1);
  });

  it('takes an unexplained bad request for final after three more tries', async () => {
    await start();
    const sampler = await engine!.baseSampler('tiny');
    server.on('retrieve_future', { status: 400, body: { detail: 'failed' } });
    expect(await failure(sampler.sample(request))).toMatchObject({ category: 'server', status: 400 });
    expect(server.to('retrieve_future')).toHaveLength(4);
  });

  it('gives up on an engine that cannot be reached', async () => {
    await start();
    const sampler = await engine!.baseSampler('tiny');
    server.on('asample', 'drop');
    expect(await failure(sampler.sample(request))).toMatchObject({ category: 'connection' });
  });

  it('asks anew when one question stays open for too long', async () => {
    await start({}, undefined, { ...quick, pollMs: 30 });
    const sampler = await engine!.baseSampler('tiny');
    server.on('retrieve_future', 'never', { body: sampled });
    expect((await sampler.sample(request)).tokens).toEqual([5, 6]);
  });

  it('names the fields of a request that a server cannot read', async () => {
    await start();
    server.on('asample', { status: 422, body: { detail: [{ loc: ['body', 'seed'], msg: 'not a number' }] } });
    const sampler = await engine!.baseSampler('tiny');
    expect(await failure(sampler.sample(request))).toMatchObject({ category: 'user', message: 'asample: body.seed: not a number' });
  });
});

describe('ending', () => {
  it('stops waiting when the caller aborts, and leaves other calls alone', async () => {
    await start();
    const sampler = await engine!.baseSampler('tiny');
    server.on('retrieve_future', 'never', { body: sampled, afterMs: 50 });
    const controller = new AbortController();
    const stopped = sampler.sample(request, controller.signal);
    while (server.to('retrieve_future').length === 0) await sleep(5);
    const other = sampler.sample(request);
    controller.abort(new Error('enough'));
    await expect(stopped).rejects.toThrow('enough');
    expect((await other).tokens).toEqual([5, 6]);
  });

  it('fails all open calls, and later ones, when the engine is closed', async () => {
    await start();
    const sampler = await engine!.baseSampler('tiny');
    server.on('retrieve_future', 'never');
    const open = [failure(sampler.sample(request)), failure(sampler.sample(request))];
    while (server.to('retrieve_future').length < 2) await sleep(5);
    await engine!.close();
    for (const call of open) expect((await call).category).toBe('connection');
    expect((await failure(sampler.sample(request))).category).toBe('connection');
  });

  it('keeps the session alive, and gives up on a server that has fallen silent', async () => {
    await start({}, undefined, { ...quick, outageMs: 3_000, heartbeatMs: 500 });
    const sampler = await engine!.baseSampler('tiny');
    server.on('retrieve_future', 'never');
    const waiting = failure(sampler.sample(request));
    while (server.to('session_heartbeat').length === 0) await sleep(5);
    expect(server.to('session_heartbeat')[0]!.body.session_id).toBe('s1');
    server.on('session_heartbeat', 'drop');
    expect(await waiting).toMatchObject({ category: 'connection', message: expect.stringContaining('has not answered for ') });
  });
});

describe('the key', () => {
  it('goes to this machine and is not sent over plain http elsewhere', async () => {
    await start();
    expect(server.received.every(({ headers }) => headers['x-api-key'] === 'tml-test')).toBe(true);
    await expect(connectEngine({ url: 'http://example.com:1', key: 'secret' })).rejects.toThrow('not sent over plain http to example.com');
    await expect(connectEngine({ url: 'http://127.0.0.1.example.com', key: 'secret' })).rejects.toThrow('not sent over plain http');
    await expect(connectEngine({ url: 'ftp://localhost', key: 'secret' })).rejects.toThrow('not an http or https URL');
  });

  it('does not follow a redirect', async () => {
    server = await startFakeServer();
    const other = await startFakeServer();
    server.on('get_server_capabilities', { status: 307, headers: { location: `${other.url}/api/v1/get_server_capabilities` } });
    expect((await failure(connectEngine({ url: server.url, key: 'secret' }))).message).toContain('redirect');
    expect(other.received).toEqual([]);
    await other.close();
  });

  it('that is refused is named as the reason', async () => {
    server = await startFakeServer();
    server.on('create_session', { status: 401, body: { detail: 'no' } });
    expect(await failure(connectEngine({ url: server.url, key: 'wrong' }))).toMatchObject({ category: 'user', message: /refuses the key/ });
  });
});

describe('samples', () => {
  it('come with the prompt as long as it is, whether or not the server leaves out the first token', async () => {
    const sampler = await (await start()).baseSampler('tiny');
    const sample = await sampler.sample({ ...request, promptLogProbs: true });
    expect(sample).toEqual({ tokens: [5, 6], logProbs: [-0.5, -0.25], stop: 'stop', promptLogProbs: [null, -1, -2] });
  });

  it('may stop at ids and strings together where the engine offers it', async () => {
    const sampler = await (await start({}, extended)).baseSampler('tiny');
    await sampler.sample({ ...request, stopTokenIds: [9], stopStrings: ['end'], lockstep: { key: 'k', size: 2, index: 1 } });
    const { body } = server.to('asample')[0]!;
    expect(body.sampling_params).toMatchObject({ stop: ['end'], stop_token_ids: [9], seed: 7, max_tokens: 4 });
    expect(body.lockstep).toEqual({ key: 'k', size: 2, index: 1 });
  });

  it('refuse by name what a plain server would ignore', async () => {
    const sampler = await (await start()).baseSampler('tiny');
    await sampler.sample({ ...request, stopTokenIds: [9] });
    expect(server.to('asample')[0]!.body.sampling_params.stop).toEqual([9]);
    const both = { ...request, stopTokenIds: [9], stopStrings: ['end'] };
    expect((await failure(sampler.sample(both))).message).toContain('stop_token_ids');
    expect((await failure(sampler.sample({ ...request, entropy: true }))).message).toContain('entropy');
    expect((await failure(sampler.sample({ ...request, lockstep: { key: 'k', size: 1, index: 0 } }))).message).toContain('lockstep');
  });

  it('without a log-prob for each token are an error of the server', async () => {
    const sampler = await (await start({ asample: { sequences: [{ stop_reason: 'stop', tokens: [1, 2], logprobs: [-1] }] } })).baseSampler(
      'tiny',
    );
    expect((await failure(sampler.sample(request))).category).toBe('server');
  });
});

describe('a server that takes means', () => {
  it('is not sent a second gradient for one update: two means are not the sum', async () => {
    server = await startFakeServer({ forward_backward: outputs, forward: outputs });
    engine = await connectEngine({ url: server.url, server: 'skyrl-jax', patience: quick });
    const trainer = await engine.createTrainer({ model: 'tiny', loraRank: 4, trainUnembed: false });
    await trainer.forwardBackward([datum], { name: 'cross_entropy' });
    await expect(trainer.forwardBackward([datum], { name: 'cross_entropy' })).rejects.toThrow('one forwardBackward for each optimStep');
    await trainer.optimStep(adam);
    await trainer.forwardBackward([datum], { name: 'cross_entropy' });
    expect(server.to('forward_backward')).toHaveLength(2);
  });
});

describe('data', () => {
  it('is checked before it leaves', async () => {
    const trainer = await (await start()).createTrainer({ model: 'tiny' });
    const policy = { name: 'ppo' } as const;
    await expect(trainer.forward([])).rejects.toThrow(RangeError);
    await expect(trainer.forward([{ ...datum, weights: [1] }])).rejects.toThrow('datum 0: 1 weights for 3 input tokens');
    await expect(trainer.forwardBackward([datum], policy)).rejects.toThrow('datum 0 has no logProbs');
    const broken = { ...datum, logProbs: [0, -1, -1], advantages: [0, Number.NaN, 1] };
    await expect(trainer.forwardBackward([broken], policy)).rejects.toThrow('advantages[1] is NaN');
    expect(server.to('forward_backward')).toEqual([]);
    await trainer.forward([datum]);
    expect(server.to('forward')[0]!.body.seq_id).toBe(1);
  });

  it('leaves in the form of the wire', async () => {
    const trainer = await (await start()).createTrainer({ model: 'tiny', trainUnembed: false });
    expect(server.to('create_model')[0]!.body).toMatchObject({ base_model: 'tiny', lora_config: { rank: 0, train_unembed: false } });
    const policy = { ...datum, logProbs: [0, -1, -1.5], advantages: [0, 0.25, -0.5] };
    await trainer.forwardBackward([policy], { name: 'ppo', config: { clip_low_threshold: 0.8, clip_high_threshold: 1.28 } });
    expect(server.to('forward_backward')[0]!.body.forward_backward_input).toEqual({
      data: [
        {
          model_input: { chunks: [{ type: 'encoded_text', tokens: [1, 2, 3] }] },
          loss_fn_inputs: {
            target_tokens: { data: [2, 3, 4], dtype: 'int64', shape: [3] },
            weights: { data: [0, 1, 1], dtype: 'float32', shape: [3] },
            logprobs: { data: [0, -1, -1.5], dtype: 'float32', shape: [3] },
            advantages: { data: [0, 0.25, -0.5], dtype: 'float32', shape: [3] },
          },
        },
      ],
      loss_fn: 'ppo',
      loss_fn_config: { clip_low_threshold: 0.8, clip_high_threshold: 1.28 },
    });
  });
});
