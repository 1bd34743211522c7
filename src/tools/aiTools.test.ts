import { asSchema, dynamicTool, jsonSchema, tool as sdkTool, zodSchema } from 'ai';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { z as z3 } from 'zod/v3';
import type { CallSegment } from '../domain/segment.js';
import type { AiTool } from './aiTool.js';
import { type AiToolsOptions, aiTools } from './aiTools.js';
import { Toolbox, ToolSession } from './callTool.js';

/** What comes of one call of the one tool. */
async function called(name: string, one: AiTool, args: Record<string, unknown>, options: AiToolsOptions = {}) {
  const session = sessionOf(await aiTools({ [name]: one }, options));
  const outcome = await session.call(callOf(name, args));
  if (outcome.kind !== 'replied') throw new Error(outcome.error);
  const { reply } = outcome;
  return { text: reply.text, success: reply.kind === 'executed' && reply.success, kind: reply.kind };
}

const callOf = (name: string, args: Record<string, unknown>): CallSegment => ({ kind: 'call', name, arguments: args, repairs: [] });

function sessionOf(tools: Awaited<ReturnType<typeof aiTools>>, signal = new AbortController().signal): ToolSession {
  return new ToolSession(new Toolbox(tools), {
    problem: { id: 'p', question: 'What is the weather?' },
    trajectoryId: 't',
    signal,
    timeoutSeconds: 5,
    shorten: (text) => text,
  });
}

const weather = sdkTool({
  description: 'The weather in a city.',
  inputSchema: z.object({ city: z.string(), days: z.number().int().max(7).default(1) }),
  execute: async ({ city, days }) => ({ city, days, sky: 'clear' }),
});

describe('a tool of the AI SDK', () => {
  it('is described by its own schema and returns its output as JSON', async () => {
    const [tool] = await aiTools({ weather });
    expect(new Toolbox([tool!]).descriptions).toEqual([
      {
        name: 'weather',
        description: 'The weather in a city.',
        parameters: {
          type: 'object',
          properties: { city: { type: 'string' }, days: { type: 'integer', maximum: 7, default: 1 } },
          required: ['city'],
        },
      },
    ]);
    expect(tool!.source).toBe('AI SDK');
    expect(await called('weather', weather, { city: 'Oslo' })).toMatchObject({
      success: true,
      text: '{"city":"Oslo","days":1,"sky":"clear"}',
    });
  });

  it('has its arguments mended, then refused in words', async () => {
    expect((await called('weather', weather, { city: 'Oslo', days: '3' })).text).toContain('"days":3');
    const refused = await called('weather', weather, { city: 'Oslo', days: 9 });
    expect(refused).toMatchObject({ kind: 'refused', text: expect.stringContaining('"days"') });
  });

  it('is told the call, the question and when to stop', async () => {
    const seen: unknown[] = [];
    const curious = sdkTool({
      inputSchema: z.object({}),
      execute: async (_, { toolCallId, messages, abortSignal }) => {
        seen.push(toolCallId, messages, abortSignal instanceof AbortSignal);
        return 'done';
      },
    });
    const session = sessionOf(await aiTools({ curious }));
    await session.call(callOf('curious', {}));
    await session.call(callOf('curious', {}));
    const messages = [{ role: 'user', content: 'What is the weather?' }];
    expect(seen).toEqual(['t:0', messages, true, 't:1', messages, true]);
  });

  it.each<[string, AiTool]>([
    [
      'jsonSchema()',
      sdkTool({
        inputSchema: jsonSchema<{ n: number }>({ type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }),
        execute: ({ n }) => n + 1,
      }),
    ],
    [
      'jsonSchema() that comes later',
      sdkTool({
        inputSchema: jsonSchema<{ n: number }>(
          Promise.resolve({ type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }),
        ),
        execute: ({ n }) => n + 1,
      }),
    ],
    [
      'jsonSchema() with a check of its own',
      sdkTool({
        inputSchema: jsonSchema<{ n: number }>(
          { type: 'object', properties: { n: { type: 'integer' } } },
          {
            validate: (value) =>
              Number.isInteger((value as { n: unknown }).n)
                ? { success: true, value: value as { n: number } }
                : { success: false, error: new Error('n is no number') },
          },
        ),
        execute: ({ n }) => n + 1,
      }),
    ],
    ['zodSchema()', sdkTool({ inputSchema: zodSchema(z.object({ n: z.int() })), execute: ({ n }) => n + 1 })],
    ['zod 3 by zodSchema()', sdkTool({ inputSchema: zodSchema(z3.object({ n: z3.number().int() })), execute: ({ n }) => n + 1 })],
    ['a dynamic tool', dynamicTool({ inputSchema: z.object({ n: z.int() }), execute: async (input) => (input as { n: number }).n + 1 })],
    [
      'a schema made when it is needed',
      {
        inputSchema: () => jsonSchema({ type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }),
        execute: ({ n }: { n: number }) => n + 1,
      },
    ],
    [
      'a standard schema of another library',
      {
        inputSchema: {
          '~standard': {
            version: 1,
            vendor: 'mine',
            validate: (value: unknown) =>
              Number.isInteger((value as { n: unknown }).n) ? { value } : { issues: [{ message: 'no integer', path: [{ key: 'n' }] }] },
            jsonSchema: { input: () => ({ type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }) },
          },
        },
        execute: ({ n }: { n: number }) => n + 1,
      },
    ],
  ])('takes its input by %s', async (_, one) => {
    expect(await called('next', one, { n: 3 })).toMatchObject({ text: '4', success: true });
    expect(await called('next', one, { n: '3' })).toMatchObject({ text: '4', success: true });
    expect(await called('next', one, { n: 'x' })).toMatchObject({ kind: 'refused' });
  });

  it('may have a schema of zod 3 where the SDK translates it', async () => {
    const one = { inputSchema: z3.object({ n: z3.number() }), execute: ({ n }: { n: number }) => n + 1 };
    await expect(aiTools({ next: one })).rejects.toThrow(/tool "next".*zod/);
    expect(await called('next', one, { n: 1 }, { asSchema })).toMatchObject({ text: '2' });
    expect(await called('next', one, { n: 'x' }, { asSchema })).toMatchObject({ kind: 'refused', text: expect.stringContaining('"n"') });
  });

  it('without input takes none', async () => {
    expect(await called('ping', { execute: () => 'pong' }, {})).toMatchObject({ text: 'pong', success: true });
  });

  it('that streams gives its last value, and is stopped when its time is up', async () => {
    const streaming = sdkTool({
      inputSchema: z.object({}),
      async *execute() {
        yield { status: 'loading' };
        yield { status: 'ready' };
      },
    });
    expect((await called('streaming', streaming as AiTool, {})).text).toBe('{"status":"ready"}');
    let ended = false;
    const endless: AiTool = {
      inputSchema: z.object({}),
      async *execute() {
        try {
          for (let i = 0; ; i++) {
            yield i;
            await new Promise((resolve) => setTimeout(resolve, 1));
          }
        } finally {
          ended = true;
        }
      },
    };
    expect(await called('endless', endless, {}, { timeoutSeconds: 0.02 })).toMatchObject({
      success: false,
      text: expect.stringContaining('0.02 s'),
    });
    await expect.poll(() => ended).toBe(true);
  });

  it.each<[string, (options: { output: number }) => unknown, string, boolean]>([
    ['text', () => ({ type: 'text', value: 'plain' }), 'plain', true],
    ['json', ({ output }) => ({ type: 'json', value: { output } }), '{"output":4}', true],
    ['error text', () => ({ type: 'error-text', value: 'no' }), 'no', false],
    ['error json', () => ({ type: 'error-json', value: ['no'] }), '["no"]', false],
    ['a denial', () => ({ type: 'execution-denied', reason: 'not now' }), 'Error: this call was denied: not now', false],
    [
      'content',
      () => ({
        type: 'content',
        value: [
          { type: 'text', text: 'see' },
          { type: 'image-data', data: 'AAAA', mediaType: 'image/png' },
          { type: 'file-url', url: 'https://example.org/x.pdf' },
          { type: 'hologram' },
        ],
      }),
      'see\n[image (image/png) left out: only text can be read]\n[file at a URL left out: only text can be read]\n[content left out: only text can be read]',
      true,
    ],
    ['what nobody knows', () => ({ type: 'smell' }), 'Error: the tool returned an output of an unknown kind', false],
  ])('may word its output as %s', async (_, toModelOutput, text, success) => {
    const one: AiTool = { inputSchema: z.object({ n: z.int() }), execute: ({ n }: { n: number }) => n + 1, toModelOutput };
    expect(await called('worded', one, { n: 3 })).toMatchObject({ text, success });
  });

  it.each<[string, () => unknown, string]>([
    ['nothing', () => undefined, 'null'],
    [
      'a circle',
      () => {
        const a: Record<string, unknown> = {};
        a.a = a;
        return a;
      },
      'circular',
    ],
    ['a function', () => () => 1, 'no JSON'],
    ['a big integer', () => 1n, 'BigInt'],
  ])('that returns %s breaks nothing', async (_, execute, text) => {
    expect((await called('odd', { inputSchema: z.object({}), execute }, {})).text).toContain(text);
  });

  it('that throws, or rejects with what is no error, is told so', async () => {
    const nothing = Object.create(null) as object;
    for (const thrown of [new Error('out of paper'), 'out of paper', nothing, undefined]) {
      const one: AiTool = { inputSchema: z.object({}), execute: () => Promise.reject(thrown) };
      expect(await called('broken', one, {})).toMatchObject({ success: false, text: expect.stringMatching(/^Error: /) });
    }
  });
});

describe('a tool that cannot be used', () => {
  it.each<[string, AiTool, RegExp]>([
    ['without execute', sdkTool({ inputSchema: z.object({}), outputSchema: z.string() }), /tool "bad" has no execute/],
    ['run by a provider', { type: 'provider', inputSchema: z.object({}) }, /tool "bad" has no execute: its provider/],
    [
      'with a schema that cannot be compiled',
      { inputSchema: jsonSchema({ type: 'object', properties: { a: { $ref: '#/no' } } }), execute: () => '' },
      /tool "bad": its parameters/,
    ],
    ['with a schema of no object', { inputSchema: jsonSchema({ type: 'array' }), execute: () => '' }, /tool "bad".*array/],
    ['with no schema', { inputSchema: 7, execute: () => '' }, /tool "bad" has no input schema/],
    ['that needs approval', { inputSchema: z.object({}), needsApproval: true, execute: () => '' }, /tool "bad" needs approval/],
  ])('is refused by name: %s', async (_, one, reason) => {
    await expect(aiTools({ bad: one })).rejects.toThrow(reason);
  });

  it('is refused by name: one that no model can call', async () => {
    await expect(aiTools({ 'not a name': weather })).rejects.toThrow(/"not a name"/);
  });
});

describe('approval', () => {
  const one = sdkTool({
    inputSchema: z.object({ amount: z.number() }),
    needsApproval: ({ amount }) => amount > 10,
    execute: async () => 'paid',
  });

  it('is asked only where the tool wants it, and a refusal is told', async () => {
    const asked: unknown[] = [];
    const approve = (call: unknown): boolean => {
      asked.push(call);
      return false;
    };
    expect(await called('pay', one, { amount: 5 }, { approve })).toMatchObject({ text: 'paid' });
    expect(asked).toEqual([]);
    expect(await called('pay', one, { amount: 50 }, { approve })).toMatchObject({
      success: false,
      text: 'Error: this call was not approved.',
    });
    expect(asked).toEqual([{ name: 'pay', input: { amount: 50 } }]);
    expect(await called('pay', one, { amount: 50 }, { approve: () => true })).toMatchObject({ text: 'paid' });
  });
});
