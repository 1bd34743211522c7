import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { CallSegment } from '../domain/segment.js';
import { type AnyTool, type CallOutcome, Toolbox, ToolSession, type ToolSessionOptions } from './callTool.js';
import { Gate } from './gate.js';
import { jsonTool } from './jsonTool.js';
import { tool } from './tool.js';

const add = tool({
  name: 'add',
  description: 'Adds two numbers.',
  parameters: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => `${a + b}`,
});

const call = (name: string, args: Record<string, unknown>): CallSegment => ({ kind: 'call', name, arguments: args, repairs: [] });

function session(tools: AnyTool[], options: Partial<ToolSessionOptions> = {}): ToolSession {
  return new ToolSession(new Toolbox(tools), {
    problem: { id: 'p', question: 'q' },
    trajectoryId: 't',
    signal: new AbortController().signal,
    timeoutSeconds: 5,
    shorten: (text) => text,
    ...options,
  });
}

function reply(outcome: CallOutcome) {
  if (outcome.kind !== 'replied') throw new Error(`no reply but ${outcome.error}`);
  return outcome.reply;
}

describe('a call', () => {
  it('is executed with validated arguments', async () => {
    expect(reply(await session([add]).call(call('add', { a: 1, b: 2 })))).toMatchObject({ kind: 'executed', success: true, text: '3' });
  });

  it('has its numbers read from strings', async () => {
    expect(reply(await session([add]).call(call('add', { a: '1', b: ' 2.5 ' })))).toMatchObject({ success: true, text: '3.5' });
  });

  it('with wrong arguments is refused, the field named', async () => {
    const refused = reply(await session([add]).call(call('add', { a: 'one', b: 2 })));
    expect(refused).toMatchObject({ kind: 'refused', problem: 'badArguments' });
    expect(refused.text).toContain('"a"');
  });

  it('of an unknown tool is told the known ones', async () => {
    const refused = reply(await session([add]).call(call('sum', {})));
    expect(refused).toMatchObject({ kind: 'refused', problem: 'unknownTool' });
    expect(refused.text).toContain('Known: add');
  });

  it('whose tool throws is told the error', async () => {
    const broken = { ...add, execute: () => Promise.reject(new Error('out of paper')) };
    expect(reply(await session([broken]).call(call('add', { a: 1, b: 2 })))).toMatchObject({
      kind: 'executed',
      success: false,
      text: 'Error: out of paper',
    });
  });

  it('that our machinery failed is no reply', async () => {
    const down = { ...add, execute: () => ({ kind: 'infra', error: 'sandbox down' }) as const };
    expect(await session([down]).call(call('add', { a: 1, b: 2 }))).toEqual({ kind: 'infra', error: 'sandbox down' });
  });

  it('that never ends is stopped, and its tool told', async () => {
    let stopped = false;
    const endless: AnyTool = {
      ...add,
      execute: (_, { signal }) =>
        new Promise<string>(() => {
          signal.addEventListener('abort', () => {
            stopped = true;
          });
        }),
    };
    const refused = reply(await session([endless], { timeoutSeconds: 0.02 }).call(call('add', { a: 1, b: 2 })));
    expect(refused).toMatchObject({ kind: 'executed', success: false, text: 'Error: the call was stopped after 0.02 s.' });
    expect(stopped).toBe(true);
  });

  it('ends with the rollout’s signal', async () => {
    const abort = new AbortController();
    const endless: AnyTool = { ...add, execute: () => new Promise<string>(() => undefined) };
    const running = session([endless], { signal: abort.signal }).call(call('add', { a: 1, b: 2 }));
    abort.abort(new Error('enough'));
    await expect(running).rejects.toThrow('enough');
  });
});

it('words the mistakes of a call differently', async () => {
  const tools = session([add]);
  const texts = [
    tools.refuse({ kind: 'malformedCall', raw: '{', problem: 'The tool call is not valid JSON.' }).text,
    tools.refuse({ kind: 'cutOffCall', raw: '{' }).text,
    reply(await tools.call(call('sum', {}))).text,
    reply(await tools.call(call('add', {}))).text,
    tools.refuseFurther(1).text,
  ];
  expect(new Set(texts).size).toBe(5);
  expect(texts[0]).toContain('not valid JSON');
});

describe('limits of a tool', () => {
  it('are its own time, in place of the rollout’s', async () => {
    const endless: AnyTool = { ...add, timeoutSeconds: 0.02, execute: () => new Promise<string>(() => undefined) };
    expect(reply(await session([endless]).call(call('add', { a: 1, b: 2 }))).text).toBe('Error: the call was stopped after 0.02 s.');
  });

  it('are tokens of its results', async () => {
    const asked: (number | undefined)[] = [];
    const shorten = (text: string, tokens?: number): string => {
      asked.push(tokens);
      return text;
    };
    await session([{ ...add, resultTokens: 7 }], { shorten }).call(call('add', { a: 1, b: 2 }));
    await session([add], { shorten }).call(call('add', { a: 1, b: 2 }));
    expect(asked).toEqual([7, undefined]);
  });

  it.each<[string, (gate: Gate) => Partial<AnyTool>, number]>([
    ['calls at once, over all rollouts', () => ({ concurrency: 3 }), 3],
    ['calls at once, of all tools that share the places', (gate) => ({ concurrency: gate }), 2],
  ])('are %s', async (_, limit, most) => {
    let inside = 0;
    let highest = 0;
    const execute = async (): Promise<string> => {
      highest = Math.max(highest, ++inside);
      await new Promise((resolve) => setTimeout(resolve, 2));
      inside--;
      return 'done';
    };
    const gate = new Gate(2);
    const names = most === 2 ? ['one', 'two'] : ['one'];
    const toolbox = new Toolbox(names.map((name) => ({ ...add, name, execute, ...limit(gate) })));
    const options = { problem: { id: 'p', question: 'q' }, trajectoryId: 't', timeoutSeconds: 5, shorten: (text: string) => text };
    const calls = Array.from({ length: 20 }, (_, i) =>
      new ToolSession(toolbox, { ...options, signal: new AbortController().signal }).call(call(names[i % names.length]!, { a: 1, b: 2 })),
    );
    for (const outcome of await Promise.all(calls)) expect(reply(outcome).text).toBe('done');
    expect(highest).toBe(most);
  });

  it('keep the wait for a place out of the call’s time, and end it with the rollout', async () => {
    const waits: (() => void)[] = [];
    const held: AnyTool = { ...add, concurrency: 1, execute: () => new Promise<string>((resolve) => waits.push(() => resolve('done'))) };
    const stop = new AbortController();
    const toolbox = new Toolbox([held]);
    const options = { problem: { id: 'p', question: 'q' }, trajectoryId: 't', timeoutSeconds: 0.1, shorten: (text: string) => text };
    const [one, two, three] = [0, 1, 2].map(
      (i) => new ToolSession(toolbox, { ...options, signal: i === 1 ? stop.signal : new AbortController().signal }),
    );
    const first = one!.call(call('add', { a: 1, b: 2 }));
    await expect.poll(() => waits).toHaveLength(1);
    const second = two!.call(call('add', { a: 1, b: 2 }));
    const third = three!.call(call('add', { a: 1, b: 2 }));
    await new Promise((resolve) => setImmediate(resolve));
    stop.abort(new Error('enough'));
    await expect(second).rejects.toThrow('enough');
    // The first never ends: its time is up, its place is free, and the third has its own time.
    expect(reply(await first).text).toContain('stopped after 0.1 s');
    await expect.poll(() => waits).toHaveLength(2);
    waits[1]!();
    expect(reply(await third).text).toBe('done');
  });

  it('that cannot be are refused by the tool’s name', () => {
    for (const limit of [{ timeoutSeconds: 0 }, { timeoutSeconds: Number.NaN }, { concurrency: 1.5 }, { resultTokens: -1 }]) {
      expect(() => tool({ ...add, ...limit })).toThrow(/^tool "add": /);
      expect(() => new Toolbox([{ ...add, ...limit }])).toThrow(/^tool "add": /);
    }
  });
});

describe('a hostile tool', () => {
  it.each<[string, () => unknown, string]>([
    ['returns nothing', () => undefined, 'Error: the tool returned no text'],
    ['returns a number', () => 42, 'Error: the tool returned no text'],
    ['returns an outcome without text', () => ({ kind: 'ok' }), 'Error: the tool returned no text'],
    ['throws a text', () => Promise.reject('no'), 'Error: no'],
    ['throws nothing', () => Promise.reject(undefined), 'Error: undefined'],
    ['throws what cannot be a text', () => Promise.reject(Object.create(null)), 'Error: the tool failed'],
    [
      'throws at once',
      () => {
        throw new RangeError('far');
      },
      'Error: far',
    ],
  ])('that %s is told as a failed call', async (_, execute, text) => {
    const odd = { ...add, execute } as AnyTool;
    expect(reply(await session([odd]).call(call('add', { a: 1, b: 2 })))).toMatchObject({ kind: 'executed', success: false, text });
  });

  it('that answers after its time changes nothing', async () => {
    let answer: (text: string) => void = () => undefined;
    const late: AnyTool = {
      ...add,
      timeoutSeconds: 0.02,
      execute: () =>
        new Promise<string>((resolve) => {
          answer = resolve;
        }),
    };
    const tools = session([late]);
    const stopped = reply(await tools.call(call('add', { a: 1, b: 2 })));
    answer('late');
    await new Promise((resolve) => setImmediate(resolve));
    expect(stopped.text).toContain('stopped after');
  });

  it('whose own check throws, or is asynchronous, breaks nothing', async () => {
    const throwing = tool({
      ...add,
      parameters: z.object({ a: z.number() }).transform(() => {
        throw new Error('broken check');
      }),
      execute: () => '',
    });
    expect(reply(await session([throwing]).call(call('add', { a: 1 }))).text).toContain('broken check');
    const later = tool({
      ...add,
      parameters: z.object({ a: z.number().refine(async (a) => a > 1, 'too small') }),
      execute: ({ a }) => `${a}`,
    });
    expect(reply(await session([later]).call(call('add', { a: 1 }))).text).toContain('too small');
    expect(reply(await session([later]).call(call('add', { a: 2 }))).text).toBe('2');
  });
});

describe('a tool by JSON Schema', () => {
  const parameters = {
    type: 'object',
    properties: { city: { type: 'string' }, days: { type: 'integer' } },
    required: ['city'],
    additionalProperties: false,
  };
  const weather = jsonTool<{ city: string; days?: number }>({
    name: 'weather',
    description: '',
    parameters,
    execute: ({ city, days = 1 }) => `${city} ${days}`,
  });

  it('is described by it and called by it', async () => {
    const { additionalProperties: _, ...told } = parameters;
    expect(new Toolbox([weather]).descriptions[0]!.parameters).toEqual(told);
    const tools = session([weather]);
    expect(reply(await tools.call(call('weather', { city: 'Oslo', days: '2' }))).text).toBe('Oslo 2');
    expect(reply(await tools.call(call('weather', { days: 'x', where: 1 }))).text).toBe(
      'Error: wrong arguments for weather: "city": is missing; "where": is not a known field; known: city, days; "days": must be integer, not "x".',
    );
  });

  it('is refused by name where it cannot be compiled', () => {
    expect(() => jsonTool({ name: 'bad', description: '', parameters: { type: 'array' }, execute: () => '' })).toThrow(
      /tool "bad".*"array"/,
    );
  });
});

describe('state', () => {
  const events: string[] = [];
  const counter = tool({
    name: 'count',
    description: 'Counts.',
    parameters: z.object({}),
    setUp: ({ trajectoryId }) => {
      events.push(`set up ${trajectoryId}`);
      return { n: 0 };
    },
    execute: (_, { state }) => {
      state.n++;
      return `${state.n}`;
    },
    tearDown: ({ n }) => {
      events.push(`torn down at ${n}`);
    },
  });

  it('is set up once a rollout, before the first call, and torn down once', async () => {
    events.length = 0;
    const tools = session([counter]);
    expect(events).toEqual([]);
    await tools.call(call('count', {}));
    expect(reply(await tools.call(call('count', {}))).text).toBe('2');
    expect(await tools.close()).toEqual([]);
    await tools.close();
    expect(events).toEqual(['set up t', 'torn down at 2']);
  });

  it('that cannot be set up is infrastructure; a failed tear-down is told', async () => {
    const failing: AnyTool = { ...counter, setUp: () => Promise.reject(new Error('no database')) };
    expect(await session([failing]).call(call('count', {}))).toMatchObject({
      kind: 'infra',
      error: expect.stringContaining('no database'),
    });
    const sticky = session([{ ...counter, tearDown: () => Promise.reject(new Error('stuck')) }]);
    await sticky.call(call('count', {}));
    expect(await sticky.close()).toEqual([expect.stringContaining('stuck')]);
  });
});

it('refuses two tools of one name, and parameters that are no object', () => {
  expect(() => new Toolbox([add, add])).toThrow(/same name/);
  expect(() => new Toolbox([tool({ name: 'x', description: '', parameters: z.string(), execute: () => '' })])).toThrow(/z\.object/);
});
