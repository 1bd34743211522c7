import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type CacheOptions, cached } from './cached.js';
import { canonicalJson } from './canonicalJson.js';
import { dryRun } from './dryRun.js';
import { Calls } from './mcp/testSupport.js';
import { type ToolContext, type ToolOutcome, tool } from './tool.js';

type Execute = (args: { q: string }, context: ToolContext<undefined>) => string | ToolOutcome | Promise<string | ToolOutcome>;

/** A tool that counts how often it is executed. */
function counting(execute: Execute = ({ q }) => q.toUpperCase()) {
  const executed: string[] = [];
  const plain = tool({
    name: 'look',
    description: 'Looks.',
    parameters: z.object({ q: z.string(), n: z.number().optional() }),
    execute: (args, context) => {
      executed.push(args.q);
      return execute(args, context);
    },
  });
  return { plain, executed };
}

function within(options: CacheOptions<{ q: string; n?: number | undefined }>, execute?: Execute) {
  const { plain, executed } = counting(execute);
  const one = cached(plain, options);
  const rollout = (groupId: string, trajectoryId: string, signal?: AbortSignal): Calls =>
    new Calls([one], { groupId, trajectoryId, ...(signal && { signal }) });
  return { one, executed, rollout };
}

describe('equal calls', () => {
  it.each<[CacheOptions['scope'], number]>([
    ['run', 1],
    ['group', 2],
    ['rollout', 3],
  ])('of a %s are executed once', async (scope, times) => {
    const { executed, rollout } = within({ scope });
    const rollouts = [rollout('g1', 'g1/0'), rollout('g1', 'g1/1'), rollout('g2', 'g2/0')];
    for (const calls of rollouts) for (const _ of [1, 2]) expect(await calls.text('look', { q: 'a' })).toBe('A');
    expect(executed).toHaveLength(times);
    expect(await rollouts[0]!.text('look', { q: 'b' })).toBe('B');
    expect(executed).toHaveLength(times + 1);
  });

  it('are equal whatever the order of their fields, and as mended', async () => {
    const { executed, rollout } = within({ scope: 'run' });
    const calls = rollout('g', 't');
    await calls.text('look', { q: 'a', n: 1 });
    await calls.text('look', { n: '1', q: 'a' });
    expect(executed).toHaveLength(1);
  });

  it('may be equal by a rule of one’s own, or never', async () => {
    const { executed, rollout } = within({ scope: 'run', key: ({ q }) => (q.startsWith('!') ? undefined : q.toLowerCase()) });
    const calls = rollout('g', 't');
    for (const q of ['a', 'A', '!x', '!x']) await calls.text('look', { q });
    expect(executed).toEqual(['a', '!x', '!x']);
  });

  it('without a group share nothing with other rollouts', async () => {
    const { one, executed } = within({ scope: 'group' });
    for (const trajectoryId of ['a', 'b']) await new Calls([one], { trajectoryId }).text('look', { q: 'a' });
    expect(executed).toHaveLength(2);
  });

  it('that failed are executed again, unless errors are remembered too; those of the machinery always', async () => {
    for (const errors of [false, true]) {
      let times = 0;
      const { rollout } = within({ scope: 'run', errors }, () => {
        times++;
        throw new Error('no paper');
      });
      const calls = rollout('g', 't');
      for (const _ of [1, 2]) expect(await calls.text('look', { q: 'a' })).toBe('Error: no paper');
      expect(times).toBe(errors ? 1 : 2);
    }
    const { executed, rollout } = within({ scope: 'run', errors: true }, () => ({ kind: 'infra', error: 'down' }));
    for (const _ of [1, 2]) expect(await rollout('g', 't').text('look', { q: 'a' })).toBe('infra: down');
    expect(executed).toHaveLength(2);
  });

  it('are forgotten, the one not asked for longest first', async () => {
    const { executed, rollout } = within({ scope: 'run', maxEntries: 2 });
    const calls = rollout('g', 't');
    for (const q of ['a', 'b', 'a', 'c', 'a', 'b']) await calls.text('look', { q });
    expect(executed).toEqual(['a', 'b', 'c', 'b']);
  });
});

describe('equal calls at once', () => {
  it('are one', async () => {
    const { executed, rollout } = within({ scope: 'group' }, async ({ q }) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      return q;
    });
    const texts = await Promise.all(Array.from({ length: 16 }, (_, i) => rollout('g', `g/${i}`).text('look', { q: 'a' })));
    expect(texts).toEqual(Array<string>(16).fill('a'));
    expect(executed).toHaveLength(1);
  });

  it('go on while one still waits, and stop with the last', async () => {
    let stopped = false;
    let answer: (text: string) => void = () => undefined;
    const { executed, rollout } = within({ scope: 'group' }, (_, { signal }) => {
      signal.addEventListener('abort', () => {
        stopped = true;
      });
      return new Promise<string>((resolve) => {
        answer = resolve;
      });
    });
    const [first, second, third] = [new AbortController(), new AbortController(), new AbortController()];
    const one = rollout('g', 'g/0', first.signal).text('look', { q: 'a' });
    const two = rollout('g', 'g/1', second.signal).text('look', { q: 'a' });
    await expect.poll(() => executed).toHaveLength(1);
    first.abort(new Error('one has enough'));
    await expect(one).rejects.toThrow('one has enough');
    expect(stopped).toBe(false);
    second.abort(new Error('so has two'));
    await expect(two).rejects.toThrow('so has two');
    expect(stopped).toBe(true);
    // What comes after nobody waited is not remembered.
    answer('late');
    const three = rollout('g', 'g/2', third.signal).text('look', { q: 'a' });
    await expect.poll(() => executed).toHaveLength(2);
    answer('in time');
    expect(await three).toBe('in time');
  });

  it('keep what they use until they are done, though its rollout has ended', async () => {
    const events: string[] = [];
    let answer: (text: string) => void = () => undefined;
    const stateful = tool({
      name: 'look',
      description: '',
      parameters: z.object({}),
      setUp: () => events.push('set up'),
      execute: () =>
        new Promise<string>((resolve) => {
          events.push('executed');
          answer = resolve;
        }),
      tearDown: () => void events.push('torn down'),
    });
    const one = cached(stateful, { scope: 'group' });
    const stop = new AbortController();
    const first = new Calls([one], { groupId: 'g', trajectoryId: 'g/0', signal: stop.signal });
    const second = new Calls([one], { groupId: 'g', trajectoryId: 'g/1' });
    const leading = first.text('look');
    await expect.poll(() => events).toContain('executed');
    const joining = second.text('look');
    await new Promise((resolve) => setImmediate(resolve));
    stop.abort(new Error('enough'));
    await expect(leading).rejects.toThrow('enough');
    const closed = first.close();
    await new Promise((resolve) => setImmediate(resolve));
    expect(events).toEqual(['set up', 'executed']);
    answer('x');
    expect(await joining).toBe('x');
    await closed;
    // The second executed nothing: there is nothing to tear down.
    expect(await second.close()).toEqual([]);
    expect(events).toEqual(['set up', 'executed', 'torn down']);
  });

  it('are not waited for at the end by one whose tool never ends', async () => {
    const { executed, rollout } = within({ scope: 'group' }, () => new Promise<string>(() => undefined));
    const stop = new AbortController();
    const calls = rollout('g', 'g/0', stop.signal);
    const running = calls.text('look', { q: 'a' });
    await expect.poll(() => executed).toHaveLength(1);
    stop.abort(new Error('enough'));
    await expect(running).rejects.toThrow('enough');
    expect(await calls.close()).toEqual([]);
  });
});

it('a tool that cannot be set up is no score, and is tried again', async () => {
  let times = 0;
  const failing = tool({
    name: 'look',
    description: '',
    parameters: z.object({}),
    setUp: () => {
      if (++times === 1) throw new Error('no database');
      return 'ready';
    },
    execute: (_, { state }) => state,
  });
  const calls = new Calls([cached(failing, { scope: 'run' })]);
  expect(await calls.text('look')).toBe('infra: tool "look" could not be set up: no database');
  expect(await calls.text('look')).toBe('ready');
});

it('says once that calls are remembered, and refuses a bound that is none', () => {
  const { plain } = counting();
  expect(cached(plain, { scope: 'group' }).notes).toEqual(['tool look: equal calls of a group are executed once (cache)']);
  expect(() => cached(plain, { scope: 'run', maxEntries: 0 })).toThrow(/maxEntries is 0/);
});

describe('a dry run', () => {
  it('answers, checks arguments, and executes nothing', async () => {
    const events: string[] = [];
    const pay = tool({
      name: 'pay',
      description: 'Pays.',
      parameters: z.object({ amount: z.number() }),
      timeoutSeconds: 7,
      setUp: () => events.push('set up'),
      execute: () => {
        events.push('paid');
        return 'paid';
      },
    });
    const dry = dryRun(pay, ({ amount }) => (amount > 10 ? { kind: 'error', text: 'too much' } : `paid ${amount}`));
    const calls = new Calls([dry]);
    expect(await calls.reply('pay', { amount: '5' })).toMatchObject({ kind: 'executed', success: true, text: 'paid 5' });
    expect(await calls.reply('pay', { amount: 50 })).toMatchObject({ success: false, text: 'too much' });
    expect(await calls.reply('pay', {})).toMatchObject({ kind: 'refused' });
    expect(await new Calls([dryRun(pay, 'done')]).text('pay', { amount: 1 })).toBe('done');
    expect(await calls.close()).toEqual([]);
    expect(events).toEqual([]);
    expect(dry).toMatchObject({ timeoutSeconds: 7, notes: ['tool pay: dry run, its calls are answered and not executed'] });
  });
});

describe('canonical JSON', () => {
  it('is the same for equal values, and different for others', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        const shuffled = JSON.parse(JSON.stringify(a), (_, value: unknown) =>
          typeof value === 'object' && value !== null && !Array.isArray(value)
            ? Object.fromEntries(Object.entries(value).reverse())
            : value,
        ) as unknown;
        expect(canonicalJson(shuffled)).toBe(canonicalJson(JSON.parse(JSON.stringify(a))));
        const parse = (text: string): unknown => JSON.parse(text);
        expect(parse(canonicalJson(a))).toEqual(parse(JSON.stringify(a)));
        if (canonicalJson(a) === canonicalJson(b)) expect(parse(JSON.stringify(a))).toEqual(parse(JSON.stringify(b)));
      }),
    );
  });

  it.each([
    ['a map', new Map([[1, 2]])],
    ['a function', () => 1],
    ['an object of a class', new (class A {})()],
  ])('has none for %s', (_, value) => {
    expect(() => canonicalJson({ value })).toThrow(TypeError);
  });

  it('tells apart what JSON does not', () => {
    const texts = [1, 1n, '1', [1], null, undefined, Number.NaN, { a: 1 }, new Date(0)].map(canonicalJson);
    expect(new Set(texts).size).toBe(texts.length);
  });
});
