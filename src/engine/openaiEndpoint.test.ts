import { afterEach, describe, expect, it } from 'vitest';
import { UserError } from '../userError.js';
import { chat } from './openaiChat.js';
import { OpenAiClient } from './openaiClient.js';
import { describeAbilities, openEndpoint, parseEndpoint, refuseTraining } from './openaiEndpoint.js';
import { type Asked, completion, models, openAiTestServer, type ScriptedAnswer, type TestServer } from './testSupport.js';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function serve(answer: (asked: Asked, count: number) => ScriptedAnswer | Promise<ScriptedAnswer>): Promise<TestServer> {
  const server = await openAiTestServer(answer);
  open.push(server);
  return server;
}

const client = (url: string, options: Partial<ConstructorParameters<typeof OpenAiClient>[0]> = {}): OpenAiClient => {
  const made = new OpenAiClient({ url, firstPause: 0.001, jitter: () => 0, ...options });
  open.push(made);
  return made;
};

const ask = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], tools: [], maxTokens: 9, temperature: 1, topP: 0.6 } as const;
const tools = [{ name: 'f', description: 'd', parameters: { type: 'object' } }];

describe('the name of an endpoint', () => {
  it('is an address and a model', () => {
    expect(parseEndpoint('openai:http://127.0.0.1:8000/v1#org/m#x')).toEqual({ url: 'http://127.0.0.1:8000/v1', model: 'org/m#x' });
    expect(parseEndpoint('openai:https://h/v1')).toEqual({ url: 'https://h/v1' });
    expect(() => parseEndpoint('openai:h')).toThrow(UserError);
  });

  it('cannot be trained, and is told why', () => {
    expect(() => refuseTraining('openai:https://h/v1#m')).toThrow(/can be evaluated, not trained: it lacks forward_backward, optim_step/);
  });
});

describe('the client', () => {
  it('sends what chat completions take', async () => {
    const server = await serve(() => completion({ content: 'Hello' }));
    const outcome = await chat(client(server.url, { key: 'k' }), { ...ask, tools, seed: 7 });
    expect(outcome).toEqual({
      kind: 'turn',
      turn: { content: 'Hello', reasoning: '', calls: [], stop: 'stop', promptTokens: 10, completionTokens: 5 },
    });
    expect(server.asked[0]).toMatchObject({ path: '/v1/chat/completions', headers: { authorization: 'Bearer k' } });
    expect(server.asked[0]!.body).toEqual({
      model: 'm',
      messages: ask.messages,
      tools: [{ type: 'function', function: tools[0] }],
      max_tokens: 9,
      temperature: 1,
      top_p: 0.6,
      seed: 7,
    });
  });

  it('sends top-k only where it is asked for', async () => {
    const server = await serve(() => completion({ content: 'Hello' }));
    await chat(client(server.url), { ...ask, topK: 20 });
    await chat(client(server.url), ask);
    expect(server.asked.map(({ body }) => (body as { top_k?: number }).top_k)).toEqual([20, undefined]);
  });

  it('waits where the server is busy: longer each time, and as long as it is asked to', async () => {
    const busy: ScriptedAnswer[] = [
      { status: 500, body: 'oh' },
      { status: 503, body: {} },
      { status: 429, headers: { 'retry-after': '9' }, body: {} },
      { status: 429, headers: { 'retry-after': new Date(Date.now() + 3_600_000).toUTCString() }, body: {} },
    ];
    const server = await serve((_, count) => busy[count - 1] ?? completion({ content: 'x' }));
    const pauses: number[] = [];
    const pause = async (seconds: number): Promise<void> => {
      pauses.push(seconds);
    };
    const told: string[] = [];
    const onBusy = (why: string, seconds: number): void => void told.push(`${why.replace(server.url, 'URL')} ${seconds}`);
    expect((await chat(client(server.url, { firstPause: 1, jitter: () => 0.5, pause, onBusy }), ask)).kind).toBe('turn');
    expect(pauses).toEqual([0.75, 1.5, 9, 600]);
    expect(told.slice(0, 1)).toEqual(['URL answers HTTP 500: oh 0.75']);
  });

  it('gives up after its attempts, with the last answer', async () => {
    const server = await serve(() => ({ status: 503, body: { error: { message: 'overloaded' } } }));
    await expect(chat(client(server.url, { attempts: 3 }), ask)).rejects.toMatchObject({
      category: 'server',
      message: expect.stringMatching(/answers HTTP 503: overloaded/),
    });
    expect(server.asked).toHaveLength(3);
  });

  it('never asks again once an answer began', async () => {
    const broken = await serve(() => ({ body: '{"choices": [', break: true }));
    await expect(chat(client(broken.url), ask)).rejects.toMatchObject({
      category: 'connection',
      message: expect.stringMatching(/broke after the request was sent/),
    });
    expect(broken.asked).toHaveLength(1);
    for (const body of ['not JSON', '{}', '{"choices": []}', { choices: [{ message: { content: 5 } }] }]) {
      const server = await serve(() => ({ body }));
      await expect(chat(client(server.url), ask)).rejects.toMatchObject({
        category: 'server',
        message: expect.stringMatching(/no chat completion/),
      });
      expect(server.asked).toHaveLength(1);
    }
  });

  it('tells a refusal from a conversation that is too long', async () => {
    const server = await serve((_, count) =>
      count === 1
        ? { status: 400, body: { error: { message: "This model's maximum context length is 4096 tokens" } } }
        : { status: 400, body: { error: { message: 'no such thing' } } },
    );
    const own = client(server.url);
    expect(await chat(own, ask)).toMatchObject({ kind: 'tooLong' });
    await expect(chat(own, ask)).rejects.toMatchObject({ category: 'user' });
  });

  it('keeps its key: not over plain http to elsewhere, not along a redirect, not into a message', async () => {
    expect(() => new OpenAiClient({ url: 'http://example.com/v1', key: 'k' })).toThrow(/the key is not sent over plain http/);
    const elsewhere = await serve(() => completion({ content: 'x' }));
    const server = await serve((_, count) =>
      count === 1
        ? { status: 307, headers: { location: `${elsewhere.url}/chat/completions` }, body: '' }
        : { status: 400, body: { error: { message: 'bad key sk-secret' } } },
    );
    const own = client(server.url, { key: 'sk-secret' });
    await expect(chat(own, ask)).rejects.toThrow(/a redirect, which is not followed/);
    expect(elsewhere.asked).toEqual([]);
    const error: unknown = await chat(own, ask).catch((e: unknown) => e);
    expect((error as Error).message).toMatch(/bad key \*\*\*/);
  });

  it('keeps to its number of requests at once', async () => {
    const server = await serve(async () => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      return completion({ content: 'x' });
    });
    const own = client(server.url, { concurrency: 3 });
    await Promise.all(Array.from({ length: 12 }, () => chat(own, ask)));
    expect(server.asked).toHaveLength(12);
    expect(server.load.most).toBeLessThanOrEqual(3);
  });

  it('ends with its signal, while it waits too', async () => {
    const server = await serve(() => ({ status: 429, headers: { 'retry-after': '500' }, body: {} }));
    const controller = new AbortController();
    const running = chat(client(server.url), ask, controller.signal);
    setTimeout(() => controller.abort(new Error('stopped')), 30);
    await expect(running).rejects.toThrow('stopped');
    expect(server.asked).toHaveLength(1);
  });
});

describe('an endpoint', () => {
  const connect = async (server: TestServer, name = `openai:${server.url}`, options = {}) => {
    const endpoint = await openEndpoint(name, { tools, env: {}, firstPause: 0.001, ...options });
    open.push(endpoint.client);
    return endpoint;
  };

  it('is asked what it can do', async () => {
    const server = await serve(({ path }) =>
      path.endsWith('/models')
        ? models('m')
        : completion(
            { content: 'hi' },
            {
              choice: { token_ids: [1], logprobs: { content: [{ token: 'hi', logprob: -0.5 }] } },
              top: { prompt_token_ids: [5, 6] },
            },
          ),
    );
    const { model, abilities } = await connect(server);
    expect(model).toBe('m');
    expect(abilities).toEqual({
      toolCalls: true,
      logProbs: true,
      tokenIds: true,
      usage: true,
      completionLimit: false,
      contextTokens: 4096,
    });
    expect(server.asked.at(-1)!.body).toMatchObject({ max_tokens: 1, logprobs: true, return_token_ids: true });
  });

  it('that refuses extras is asked for less, and what it lacks is named', async () => {
    const server = await serve(({ path, body }) => {
      const refuse = (message: string): ScriptedAnswer => ({ status: 400, body: { error: { message } } });
      if (path.endsWith('/models')) return { status: 404, body: {} };
      if (body.tools !== undefined) return refuse('"auto" tool choice requires --enable-auto-tool-choice');
      if (body.return_token_ids !== undefined) return refuse('Unrecognized request argument supplied');
      if (body.logprobs !== undefined) return refuse('logprobs are not supported');
      if (body.max_tokens !== undefined) return refuse("Use 'max_completion_tokens' instead.");
      return { body: { choices: [{ message: { content: 'x' }, finish_reason: 'stop' }] } };
    });
    const { abilities } = await connect(server, `openai:${server.url}#m`);
    expect(abilities).toEqual({ toolCalls: false, logProbs: false, tokenIds: false, usage: false, completionLimit: true });
    expect(describeAbilities(abilities)).toBe('no tool calls, no log-probs, no token ids, no token counts');
  });

  it.each([
    ['#other', () => models('m', 'n'), /does not serve other; it serves: m, n/],
    ['', () => models('m', 'n'), /which model of .*\? It serves: m, n/],
    ['#m', () => ({ status: 401, body: { error: { message: 'no key' } } }), /answers HTTP 401: no key/],
  ] as const)('that cannot be used so is one sentence: %j', async (suffix, answer, message) => {
    const server = await serve(answer);
    const opening = connect(server, `openai:${server.url}${suffix}`);
    await expect(opening).rejects.toThrow(UserError);
    await expect(opening).rejects.toThrow(message);
  });

  it('that takes a request and never answers is one sentence', async () => {
    const server = await serve(() => new Promise(() => undefined));
    const opening = openEndpoint(`openai:${server.url}#m`, { tools, env: {}, openingSeconds: 0.1 });
    await expect(opening).rejects.toThrow(/gave no answer within 0.1 s/);
  });

  it('that is not there is one sentence', async () => {
    const opening = openEndpoint('openai:http://127.0.0.1:9/v1#m', { tools, env: {}, firstPause: 0.001, attempts: 2 });
    await expect(opening).rejects.toThrow(/cannot reach http:\/\/127\.0\.0\.1:9\/v1/);
    await expect(openEndpoint('openai:http://127.0.0.1:9/v1#m', { tools, env: {}, keyName: 'MY_KEY' })).rejects.toThrow(
      'MY_KEY is not set',
    );
  });
});
