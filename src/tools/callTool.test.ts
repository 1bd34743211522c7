import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { CallSegment } from '../domain/segment.js';
import { type AnyTool, type CallOutcome, Toolbox, ToolSession, type ToolSessionOptions } from './callTool.js';
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
