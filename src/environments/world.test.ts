import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Problem } from '../domain/problem.js';
import type { StopReason } from '../domain/stopReason.js';
import { type Environment, environment, type StepResult } from './environment.js';
import { counting, GOAL, type Happening } from './testSupport.js';
import type { World } from './world.js';

const idle = new AbortController().signal;
const ANSWERED: StopReason = { kind: 'answered' };

async function begun<P extends Problem>(world: Environment<P>, problem: P, signal = idle): Promise<World<P>> {
  const started = await world.start({ problem, trajectoryId: 't', seed: 3, signal });
  if (started.kind === 'infra') throw new Error(started.error);
  return started.world;
}

const finish = (world: World, signal = idle) => world.finish({ stopReason: ANSWERED, finalText: '', signal });

describe('a start', () => {
  it('leaves the problem as it was and gives each rollout a copy with the observation', async () => {
    const env = counting();
    const [a, b] = [await begun(env, GOAL), await begun(env, GOAL)];
    expect(a.problem).toEqual({ ...GOAL, question: 'Count to 5.\n\nThe counter is at 0. Seed 3.' });
    expect(a.problem).not.toBe(b.problem);
    expect(GOAL.question).toBe('Count to 5.');
  });

  it('needs neither a question nor an observation', async () => {
    const silent = counting([], { reset: () => ({ state: { value: 0, seed: 0 } }) });
    expect((await begun(silent, GOAL)).problem.question).toBe('Count to 5.');
    expect((await begun(counting(), { ...GOAL, question: '' })).problem.question).toBe('The counter is at 0. Seed 3.');
  });

  it('that fails, or gives nothing, is infrastructure', async () => {
    const failing = counting([], { reset: () => Promise.reject(new Error('no database')) });
    const empty = counting([], { reset: () => undefined as never });
    const start = { problem: GOAL, trajectoryId: 't', seed: 3, signal: idle };
    expect(await failing.start(start)).toEqual({
      kind: 'infra',
      error: 'environment "counting" could not be reset: no database',
    });
    expect(await empty.start(start)).toMatchObject({ kind: 'infra' });
  });

  it('that takes too long is infrastructure, is told so, and what it comes to late is torn down', async () => {
    const happened: Happening[] = [];
    let told = false;
    let comeLate = (): void => undefined;
    const late = new Promise<void>((resolve) => {
      comeLate = resolve;
    });
    const slow = counting(happened, {
      resetSeconds: 0.02,
      reset: async (_, { signal }) => {
        signal.addEventListener('abort', () => {
          told = true;
        });
        await late;
        return { state: { value: 7, seed: 0 } };
      },
    });
    expect(await slow.start({ problem: GOAL, trajectoryId: 't', seed: 3, signal: idle })).toEqual({
      kind: 'infra',
      error: 'environment "counting" could not be reset: it took longer than 0.02 s',
    });
    expect(told).toBe(true);
    expect(happened).toEqual([]);
    comeLate();
    await delay(0);
    expect(happened).toEqual([['tearDown', 7]]);
  });

  it('ends with the signal', async () => {
    const abort = new AbortController();
    const endless = counting([], { reset: () => new Promise<never>(() => undefined) });
    const starting = endless.start({ problem: GOAL, trajectoryId: 't', seed: 3, signal: abort.signal });
    abort.abort(new Error('enough'));
    await expect(starting).rejects.toThrow('enough');
  });
});

describe('a step', () => {
  it('after the end is refused, and changes nothing', async () => {
    const happened: Happening[] = [];
    const world = await begun(counting(happened), GOAL);
    expect(await world.step('add', { n: 5 }, idle)).toEqual({ kind: 'ok', text: '5' });
    expect(world.done).toBe(true);
    expect(await world.step('add', { n: 1 }, idle)).toEqual({ kind: 'error', text: 'Error: the task is over; this call was not run.' });
    expect(await finish(world)).toMatchObject({ outcome: { steps: 1, success: true } });
    await world.close();
    expect(await world.step('add', { n: 1 }, idle)).toMatchObject({ kind: 'error' });
    expect(happened.filter(([what]) => what === 'step')).toEqual([['step', 5]]);
  });

  it('waits for the one before it', async () => {
    let running = 0;
    let most = 0;
    const env = environment({
      name: 'slow',
      reset: () => ({ state: { log: '' } }),
      actions: {
        write: {
          description: 'Writes.',
          parameters: z.object({ text: z.string() }),
          step: async (state, { text }) => {
            most = Math.max(most, ++running);
            await delay(text === 'a' ? 5 : 0);
            running--;
            state.log += text;
            return state.log;
          },
        },
      },
      score: ({ log }) => log === 'abc',
    });
    const world = await begun(env, GOAL);
    await Promise.all(['a', 'b', 'c'].map((text) => world.step('write', { text }, idle)));
    expect(most).toBe(1);
    expect(await finish(world)).toMatchObject({ outcome: { steps: 3, success: true, rewards: { 'env/final': 1 } } });
  });

  const failures: [string, (signal: AbortSignal) => StepResult | Promise<StepResult>, string][] = [
    ['throws', () => Promise.reject(new Error('disk full')), 'disk full'],
    ['says so', () => ({ kind: 'infra', error: 'no connection' }), 'no connection'],
    ['never ends', () => new Promise<never>(() => undefined), 'it took longer than 0.02 s'],
    ['pays what is no number', () => ({ observation: '', reward: { bonus: Number.NaN } }), 'reward part "bonus" is NaN'],
  ];
  it.each(failures)('that fails because it %s is infrastructure, and so is all that follows', async (_, fail, why) => {
    const env = environment({
      name: 'broken',
      stepSeconds: 0.02,
      reset: () => ({ state: {} }),
      actions: { work: { description: 'Works.', parameters: z.object({}), step: (_state, _args, { signal }) => fail(signal) } },
      score: () => true,
    });
    const world = await begun(env, GOAL);
    const lost = { kind: 'infra', error: expect.stringContaining(`environment "broken", action "work": ${why}`) };
    expect(await world.step('work', {}, idle)).toEqual(lost);
    expect(await world.step('work', {}, idle)).toEqual(lost);
    expect(await finish(world)).toEqual(lost);
  });

  it('that was cut in the middle leaves no score', async () => {
    const call = new AbortController();
    const env = counting([], { score: () => true });
    const world = await begun(env, GOAL);
    call.abort(new Error('the call was stopped'));
    await world.step('add', { n: 5 }, call.signal);
    expect(await finish(world)).toMatchObject({ kind: 'infra', error: expect.stringContaining('the call was stopped') });
  });
});

describe('the end', () => {
  it('may be a success without more, or pay by names', async () => {
    const plain = await begun(counting([], { score: () => false }), GOAL);
    expect(await finish(plain)).toMatchObject({ outcome: { success: false, rewards: { 'env/final': 0 } } });
    const named = await begun(counting([], { score: () => ({ success: true, reward: { order: 2, 'env/step': 1 } }) }), GOAL);
    await named.step('add', { n: 8 }, idle);
    expect(await finish(named)).toMatchObject({ outcome: { success: true, rewards: { order: 2, 'env/step': 2 } } });
  });

  it('that cannot be scored is infrastructure; one that is aborted throws', async () => {
    const failing = await begun(
      counting([], {
        score: () => {
          throw new Error('lost the book');
        },
      }),
      GOAL,
    );
    expect(await finish(failing)).toEqual({ kind: 'infra', error: 'environment "counting" could not score: lost the book' });
    const abort = new AbortController();
    const endless = await begun(counting([], { score: () => new Promise<never>(() => undefined) }), GOAL);
    const scoring = finish(endless, abort.signal);
    abort.abort(new Error('enough'));
    await expect(scoring).rejects.toThrow('enough');
  });

  it('tears down once, after the step that runs, and tells what went wrong', async () => {
    const happened: string[] = [];
    const env = environment({
      name: 'slow',
      reset: () => ({ state: {} }),
      actions: {
        wait: {
          description: 'Waits.',
          parameters: z.object({}),
          step: async () => {
            happened.push('begun');
            await delay(5);
            happened.push('ended');
            return 'waited';
          },
        },
      },
      score: () => true,
      tearDown: () => {
        happened.push('torn down');
      },
    });
    const world = await begun(env, GOAL);
    void world.step('wait', {}, idle);
    await delay(0);
    expect(await Promise.all([world.close(), world.close()])).toEqual([undefined, undefined]);
    expect(happened).toEqual(['begun', 'ended', 'torn down']);
    const sticky = await begun(counting([], { tearDown: () => Promise.reject(new Error('stuck')) }), GOAL);
    expect(await sticky.close()).toBe('environment "counting" could not be torn down: stuck');
    const endless = await begun(counting([], { resetSeconds: 0.02, tearDown: () => new Promise<never>(() => undefined) }), GOAL);
    expect(await endless.close()).toContain('it took longer than 0.02 s');
  });
});

it('adds its rewards up, whatever they are called', async () => {
  const reward = fc.oneof(fc.integer({ min: -8, max: 8 }), fc.dictionary(fc.constantFrom('a', 'b', 'env/step', 'env/final'), fc.integer()));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.option(reward), { maxLength: 12 }), reward, async (rewards, last) => {
      const env = environment({
        name: 'paying',
        reset: () => ({ state: [...rewards] }),
        actions: {
          next: {
            description: 'Takes the next reward.',
            parameters: z.object({}),
            step: (left) => {
              const paid = left.shift();
              return { observation: '', ...(paid != null && { reward: paid }) };
            },
          },
        },
        score: () => ({ success: true, reward: last }),
      });
      const world = await begun(env, GOAL);
      for (const _ of rewards) await world.step('next', {}, idle);
      const finished = await finish(world);
      if (finished.kind === 'infra') throw new Error(finished.error);
      const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
      const expected = sum([...rewards, last].flatMap((paid) => (typeof paid === 'number' ? [paid] : Object.values(paid ?? {}))));
      expect(sum(Object.values(finished.outcome.rewards))).toBe(expected);
      expect(finished.outcome.steps).toBe(rewards.length);
    }),
  );
});

describe('a definition', () => {
  const action = { description: 'Acts.', parameters: z.object({}), step: () => 'done' };
  const rest = { reset: () => ({ state: {} }), score: () => true };

  it('is refused with a name that no tool may have, without actions, or with limits that are none', () => {
    expect(() => environment({ name: 'x', ...rest, actions: { 'go north': action } })).toThrow(/tool name "go north"/);
    expect(() => environment({ name: 'x', ...rest, actions: {} })).toThrow('environment "x" has no actions');
    expect(() => environment({ name: 'x', ...rest, actions: { go: action }, stepSeconds: 0 })).toThrow('stepSeconds is 0');
    expect(() => environment({ name: 'x', ...rest, actions: { go: { ...action, parameters: z.string() } } })).toThrow(/z\.object/);
  });

  it('has actions that work in its own rollouts only', async () => {
    const env = counting();
    await expect(async () => env.tools[0]!.setUp?.({ problem: GOAL, trajectoryId: 't', signal: idle })).rejects.toThrow(
      '"add" belongs to the environment "counting", which this rollout did not start',
    );
  });
});
