import { request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import OpenAI from 'openai';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { chatFormatOf } from '../../test/support/rolloutSettings.js';
import type { Script } from '../../test/support/scriptedSampler.js';
import { type ServedScript, type ServeScriptOptions, serveScript } from '../../test/support/servedScript.js';
import type { ChatFormat } from '../chat/chatFormat.js';
import { EngineError } from '../engine/engineError.js';

let format: ChatFormat;
beforeAll(async () => {
  format = await chatFormatOf();
});

const open: ServedScript[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((served) => served.close()));
});

async function serve(script: Script, options: ServeScriptOptions = {}) {
  const served = await serveScript(format, script, options);
  open.push(served);
  return { served, client: new OpenAI({ baseURL: served.url, apiKey: 'any', maxRetries: 0 }) };
}

const ask = (text: string): OpenAI.ChatCompletionMessageParam[] => [{ role: 'user', content: text }];
const model = 'scripted';
const WEATHER: OpenAI.ChatCompletionTool = {
  type: 'function',
  function: {
    name: 'weather',
    description: 'Tells.',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};
const CALL = 'I look.\n<tool_call>\n{"name": "weather", "arguments": {"city": "Bern"}}\n</tool_call>';

describe('the openai client', () => {
  it('gets an answer with its usage', async () => {
    const { client, served } = await serve(() => '<think>hm</think>\nHello.');
    const answer = await client.chat.completions.create({ model, messages: ask('Hi') });
    const sampled = format.encode('<think>hm</think>\nHello.').length + 1;
    expect(answer.choices).toEqual([
      {
        index: 0,
        message: { role: 'assistant', content: 'Hello.', refusal: null, reasoning_content: 'hm' },
        finish_reason: 'stop',
        logprobs: null,
      },
    ]);
    const prompt = served.requests[0]!.prompt.length;
    expect(answer.usage).toEqual({ prompt_tokens: prompt, completion_tokens: sampled, total_tokens: prompt + sampled });
    expect(served.requests[0]).toMatchObject({ temperature: 1, topP: 1, maxTokens: 2000 - prompt });
  });

  it('gives its tools to the model, runs a call, and the conversation goes on from the tokens', async () => {
    const { client, served } = await serve((_request, _context, call) => [CALL, 'It rains.'][call]!);
    const messages = ask('How is it?');
    const first = await client.chat.completions.create({ model, messages, tools: [WEATHER] });
    const { message, finish_reason } = first.choices[0]!;
    expect(finish_reason).toBe('tool_calls');
    expect(message.content).toBe('I look.');
    const call = message.tool_calls![0] as OpenAI.ChatCompletionMessageFunctionToolCall;
    expect(call.function).toEqual({ name: 'weather', arguments: '{"city":"Bern"}' });
    messages.push(message, { role: 'tool', tool_call_id: call.id, content: 'rain' });
    const second = await client.chat.completions.create({ model, messages, tools: [WEATHER] });
    expect(second.choices[0]!.message.content).toBe('It rains.');
    const [one, two] = served.requests;
    const kept = [...one!.prompt, ...format.encode(CALL), format.stopTokenIds[0]!];
    expect(two!.prompt).toEqual([...kept, ...format.continuation(['rain'])]);
  });

  it('gets log-probs and bytes of every token, also of half a character', async () => {
    const { client } = await serve(() => 'é!');
    const answer = await client.chat.completions.create({ model, messages: ask('Hi'), logprobs: true });
    const content = answer.choices[0]!.logprobs!.content!;
    expect(content.map(({ bytes }) => bytes)).toEqual([[0xc3], [0xa9], [33], [...Buffer.from('<|im_end|>')]]);
    expect(content.map(({ logprob }) => logprob)).toEqual([-0.25, -0.25 - 1 / 1024, -0.25 - 2 / 1024, -0.25 - 3 / 1024]);
    expect(content.every(({ top_logprobs }) => top_logprobs.length === 0)).toBe(true);
  });

  it('stops at stop strings, which the answer does not hold', async () => {
    const { client, served } = await serve(() => ({ tokens: format.encode('one END'), logProbs: new Array(7).fill(-1), stop: 'stop' }));
    const answer = await client.chat.completions.create({ model, messages: ask('Hi'), stop: ['END'] });
    expect(answer.choices[0]).toMatchObject({ message: { content: 'one' }, finish_reason: 'stop' });
    expect(served.requests[0]!.stopStrings).toEqual(['END']);
  });

  it('gets several answers, each of its own seed, and an answer that is cut', async () => {
    const { client, served } = await serve(() => 'abcdef');
    const answer = await client.chat.completions.create({ model, messages: ask('Hi'), n: 3, seed: 7, max_tokens: 2 });
    expect(answer.choices.map(({ index, message, finish_reason }) => [index, message.content, finish_reason])).toEqual([
      [0, 'ab', 'length'],
      [1, 'ab', 'length'],
      [2, 'ab', 'length'],
    ]);
    expect(new Set(served.requests.map(({ seed }) => seed)).size).toBe(3);
  });

  it('can make a turn begin with a call', async () => {
    const { client, served } = await serve(() => ' {"city": "Bern"}}\n</tool_call>');
    const answer = await client.chat.completions.create({
      model,
      messages: ask('Hi'),
      tools: [WEATHER],
      tool_choice: { type: 'function', function: { name: 'weather' } },
    });
    expect(answer.choices[0]!.message.tool_calls).toMatchObject([{ function: { name: 'weather', arguments: '{"city":"Bern"}' } }]);
    expect(format.decode(served.requests[0]!.prompt)).toMatch(/assistant\n<tool_call>\n\{"name": "weather", "arguments":$/);
  });

  it('takes a call for text where no tools are given or none is to be called', async () => {
    const { client } = await serve(() => CALL);
    for (const more of [{}, { tools: [WEATHER], tool_choice: 'none' as const }]) {
      const answer = await client.chat.completions.create({ model, messages: ask('Hi'), ...more });
      expect(answer.choices[0]).toMatchObject({ message: { content: CALL }, finish_reason: 'stop' });
    }
  });

  it('lists the model', async () => {
    const { client } = await serve(() => 'x');
    expect((await client.models.list()).data).toMatchObject([{ id: model, object: 'model', max_model_len: 2000 }]);
    expect((await client.models.retrieve(model)).id).toBe(model);
  });
});

describe.each([
  ['token by token', 1],
  ['in parts', 7],
  ['in one piece, where the engine gives no parts', undefined],
])('a stream %s', (_, partTokens) => {
  const how = partTokens === undefined ? {} : { partTokens };

  it('is put together by the openai client to the same message', async () => {
    const { client } = await serve(() => `<think>é hm</think>\n${CALL}\nand 😀`, how);
    const stream = client.chat.completions.stream({
      model,
      messages: ask('Hi'),
      tools: [WEATHER],
      stream_options: { include_usage: true },
      logprobs: true,
    });
    const chunks: OpenAI.ChatCompletionChunk[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    const whole = await stream.finalChatCompletion();
    const { message, finish_reason, logprobs } = whole.choices[0]!;
    expect(message.content).toBe('I look.\nand 😀');
    expect(message.tool_calls).toMatchObject([{ function: { name: 'weather', arguments: '{"city":"Bern"}' } }]);
    expect(finish_reason).toBe('tool_calls');
    const thinking = chunks.map(
      (chunk) => (chunk.choices[0]?.delta as { reasoning_content?: string } | undefined)?.reasoning_content ?? '',
    );
    expect(thinking.join('')).toBe('é hm');
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: logprobs!.content!.length } });
    const texts = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '');
    expect([...texts, ...thinking].join('')).not.toMatch(/[<\uFFFD]/);
    if (partTokens === 1) expect(texts.filter((text) => text !== '').length).toBeGreaterThan(8);
  });

  it('of several answers keeps them apart', async () => {
    let n = 0;
    const { client } = await serve(() => ['first', 'second'][n++]!, how);
    const texts = ['', ''];
    for await (const { choices } of await client.chat.completions.create({ model, messages: ask('Hi'), n: 2, stream: true })) {
      for (const { index, delta } of choices) texts[index] += delta.content ?? '';
    }
    expect(texts).toEqual(['first', 'second']);
  });

  it('that fails before its first token is an error with a status', async () => {
    const { client, served } = await serve(() => new EngineError('server', 'out of memory'), how);
    await expect(client.chat.completions.create({ model, messages: ask('Hi'), stream: true })).rejects.toMatchObject({ status: 503 });
    expect(served.failures).toHaveLength(1);
  });
});

it('a stream that fails on its way ends with the error', async () => {
  const { client } = await serve(() => 'x'.repeat(50), { partTokens: 1, pauseMs: 5, settings: {} });
  const failing = await serve(() => 'x', {
    settings: {
      sampler: {
        policyVersion: 0,
        sample: () => Promise.reject(new Error('never used')),
        stream: async (_request, onPart) => {
          onPart?.({ tokens: format.encode('abc'), logProbs: [-1, -1, -1] });
          await sleep(20);
          throw new EngineError('connection', 'the engine is gone');
        },
      },
    },
  });
  expect((await client.chat.completions.create({ model, messages: ask('Hi') })).choices[0]!.message.content).toHaveLength(50);
  const read = async (): Promise<void> => {
    for await (const _ of await failing.client.chat.completions.create({ model, messages: ask('Hi'), stream: true })) {
      // Until it fails.
    }
  };
  await expect(read()).rejects.toThrow('the engine is gone');
});

describe('what cannot be done is refused by name', () => {
  it.each<[string, object, string | null, RegExp]>([
    ['another model', { model: 'gpt-5' }, 'model', /not served here.*scripted/],
    [
      'an image',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'x' } }] }] },
      'messages[0].content',
      /text/,
    ],
    ['JSON mode', { response_format: { type: 'json_object' } }, 'response_format', /not offered/],
    ['penalties', { frequency_penalty: 0.5 }, 'frequency_penalty', /not offered/],
    ['top_logprobs', { logprobs: true, top_logprobs: 3 }, 'top_logprobs', /not offered/],
    ['functions', { functions: [] }, 'functions', /tools/],
    ['a field that nobody knows', { best_of: 2 }, 'best_of', /not offered/],
    ['a temperature below 0', { temperature: -1 }, 'temperature', /temperature/],
    ['stop sequences without end', { stop: Array<string>(17).fill('x') }, 'stop', /at most 16/],
    ['no messages', { messages: [] }, 'messages', /messages/],
    [
      'a named tool that is not there',
      { tools: [WEATHER], tool_choice: { type: 'function', function: { name: 'x' } } },
      'tool_choice',
      /not among/,
    ],
    [
      'a result of no call',
      { messages: [...ask('Hi'), { role: 'tool', tool_call_id: 'a', content: 'b' }] },
      'messages[1].tool_call_id',
      /does not make/,
    ],
    [
      'arguments that are no object',
      {
        messages: [
          ...ask('Hi'),
          { role: 'assistant', tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{' } }] },
        ],
      },
      'messages[1].tool_calls[0].function.arguments',
      /no JSON object/,
    ],
    [
      'a conversation that is too long',
      { messages: ask('long '.repeat(1000)) },
      'messages',
      /context length is 2000 tokens.*have \d+ tokens/,
    ],
    [
      'a conversation that is far too long, which nobody waits for to be tokenised',
      { messages: ask('long '.repeat(1_000_000)) },
      'messages',
      /context length is 2000 tokens.*have at least \d+ tokens/,
    ],
  ])('%s', async (_, more, param, message) => {
    const { client, served } = await serve(() => 'x');
    const asked = client.chat.completions.create({ model, messages: ask('Hi'), ...more } as never);
    await expect(asked).rejects.toMatchObject({
      status: 'model' in more ? 404 : 400,
      type: 'invalid_request_error',
      param,
      message: expect.stringMatching(message),
    });
    expect(served.requests).toEqual([]);
  });

  it('what asks for nothing is let through', async () => {
    const { client } = await serve(() => 'x');
    const neutral = {
      user: 'me',
      metadata: {},
      store: false,
      frequency_penalty: 0,
      presence_penalty: 0,
      logit_bias: {},
      response_format: { type: 'text' as const },
      top_logprobs: null,
      seed: null,
    };
    const answer = await client.chat.completions.create({
      model,
      messages: ask('Hi'),
      ...neutral,
    } as OpenAI.ChatCompletionCreateParamsNonStreaming);
    expect(answer.choices[0]!.message.content).toBe('x');
  });

  it('other endpoints say what to use', async () => {
    const { client, served } = await serve(() => 'x');
    await expect(client.responses.create({ model, input: 'Hi' })).rejects.toMatchObject({
      status: 404,
      message: expect.stringContaining('chat.completions.create'),
    });
    await expect(client.completions.create({ model, prompt: 'Hi' })).rejects.toMatchObject({
      status: 404,
      message: expect.stringContaining('user message'),
    });
    const without = new OpenAI({ baseURL: served.url.replace('/v1', ''), apiKey: 'any', maxRetries: 0 });
    await expect(without.chat.completions.create({ model, messages: ask('Hi') })).rejects.toThrow('ends in /v1');
  });
});

/** A plain request with any headers, which fetch would not allow. */
function raw(url: string, headers: Record<string, string>, body?: string | Buffer, method = body === undefined ? 'GET' : 'POST') {
  return new Promise<{ status: number; body: string }>((resolve, reject) => {
    const sent = httpRequest(url, { method, headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (part: string) => {
        text += part;
      });
      answer.on('end', () => resolve({ status: answer.statusCode!, body: text }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

describe('who may ask', () => {
  const body = JSON.stringify({ model, messages: ask('Hi') });
  const json = { 'content-type': 'application/json' };

  it.each<[string, Record<string, string>, number]>([
    ['this machine by its number', {}, 200],
    ['by its name and any port', { host: 'localhost:9' }, 200],
    ['by its number in IPv6', { host: '[::1]:9' }, 200],
    ['another name for this address', { host: 'evil.example' }, 403],
    ['a name that only looks alike', { host: '127.0.0.1.evil.example' }, 403],
    ['a page', { origin: 'http://evil.example' }, 403],
    ['a sandboxed page', { origin: 'null' }, 403],
    ['a page on this machine', { origin: 'http://localhost:3000' }, 403],
    ['a page that shows no origin', { 'sec-fetch-site': 'cross-site' }, 403],
    ['a form', { 'content-type': 'text/plain' }, 415],
  ])('%s', async (_, headers, status) => {
    const { served } = await serve(() => 'x');
    expect((await raw(`${served.url}/chat/completions`, { ...json, ...headers }, body)).status).toBe(status);
    expect(served.requests).toHaveLength(status === 200 ? 1 : 0);
  });

  it('with a token only who has it, by whatever name', async () => {
    const { served } = await serve(() => 'x', { app: { token: 'a long secret'.replaceAll(' ', '-') } });
    const url = `${served.url}/chat/completions`;
    for (const [authorization, status] of [
      ['', 401],
      ['Bearer wrong', 401],
      ['Bearer a-long-secret', 200],
    ] as const) {
      const headers = { ...json, host: 'box.local', ...(authorization !== '' && { authorization }) };
      expect((await raw(url, headers, body)).status).toBe(status);
    }
    expect((await raw(served.url.replace('/v1', '/health'), {})).status).toBe(200);
  });

  it('a body that is too long, or no JSON, or no text, is not read on', async () => {
    const { served } = await serve(() => 'x', { app: { maxBodyBytes: 1000 } });
    const url = `${served.url}/chat/completions`;
    expect((await raw(url, json, JSON.stringify({ model, messages: ask('x'.repeat(2000)) }))).status).toBe(413);
    expect((await raw(url, { ...json, 'transfer-encoding': 'chunked' }, `"${'x'.repeat(2000)}"`)).status).toBe(413);
    expect((await raw(url, json, '{"model":')).body).toContain('not valid JSON');
    expect((await raw(url, json, '[]')).status).toBe(400);
    expect((await raw(url, json, `${'['.repeat(400)}${']'.repeat(400)}`)).body).toContain('nested');
    expect((await raw(url, json, Buffer.from('"\xff"', 'latin1'))).body).toContain('not valid JSON');
  });
});

describe('many at once', () => {
  it('beyond the limit are told to come again, and each place is given back', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const sampler = {
      policyVersion: 0,
      sample: async () => {
        await held;
        return { tokens: format.encode('x'), logProbs: [-1], stop: 'stop' as const };
      },
    };
    const { client } = await serve(() => 'x', { app: { maxRequests: 2 }, settings: { sampler } });
    const first = [1, 2].map(() => client.chat.completions.create({ model, messages: ask('Hi') }));
    await sleep(100);
    await expect(client.chat.completions.create({ model, messages: ask('Hi') })).rejects.toMatchObject({ status: 429 });
    release();
    await Promise.all(first);
    for (const stream of [true, false, true]) await client.chat.completions.create({ model, messages: ask('Hi'), stream });
    await expect(client.chat.completions.create({ model, messages: [] })).rejects.toMatchObject({ status: 400 });
    expect((await client.chat.completions.create({ model, messages: ask('Hi') })).choices).toHaveLength(1);
  });

  it.each([true, false])('who goes away ends its sampling (stream: %s)', async (stream) => {
    const { client, served } = await serve(() => 'x'.repeat(500), { partTokens: 1, pauseMs: 10, settings: { contextTokens: 5000 } });
    const leave = new AbortController();
    const asked = client.chat.completions.create({ model, messages: ask('Hi'), stream }, { signal: leave.signal });
    asked.catch(() => undefined);
    await sleep(150);
    leave.abort();
    for (let tries = 0; tries < 100 && served.cancelled === 0; tries++) await sleep(20);
    expect(served.cancelled).toBe(1);
    expect(served.failures).toEqual([]);
  });
});
