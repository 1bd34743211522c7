/** Agents that fail, in every way that one can, and what becomes of their rollouts and of the run. */
import { setTimeout as sleep } from 'node:timers/promises';
import { generateText } from 'ai';
import { describe, expect, expectTypeOf, it } from 'vitest';
import type { Problem } from '../domain/problem.js';
import { mathGrader } from '../reward/mathGrader.js';
import { paperReward } from '../reward/paperReward.js';
import { gradedUnlessGiven, scoreRollout } from '../reward/rewardFunction.js';
import { UserError } from '../userError.js';
import { type AgentContext, agent } from './agent.js';
import { finished, inputOf, nanoFormat, rolloutOf, scripted, settingsOf, withHost } from './testSupport.js';

const format = await nanoFormat();
const setting = () => ({
  format,
  sampler: scripted(format, () => '\\boxed{12}'),
  limits: { turnTokens: 64, responseTokens: 400, toolTokens: 48 },
});
const ask = async ({ model }: Pick<AgentContext, 'model'>): Promise<string> =>
  (await generateText({ model, prompt: 'x', maxRetries: 0 })).text;

/** Rollouts one after the other, as long as they come. */
async function many(made: Parameters<typeof withHost>[0], count: number): Promise<(string | undefined)[]> {
  return withHost(made, async (host) => {
    const on = host.on(settingsOf(setting()));
    const outcomes: (string | undefined)[] = [];
    for (let i = 0; i < count; i++) {
      const rollout = await on.run(inputOf({ trajectoryId: `t${i}` }));
      outcomes.push(rollout.kind === 'infra' ? rollout.error : rollout.trajectory.stopReason.kind);
    }
    return outcomes;
  });
}

describe('an agent that throws', () => {
  const throwing = async (context: AgentContext): Promise<string> => {
    await ask(context);
    throw new TypeError('x is not a function');
  };

  it('loses its rollout, which scores nothing, and says why', async () => {
    expect(await many(agent(throwing), 1)).toEqual(['the agent failed: TypeError: x is not a function']);
  });

  it('counts as without an answer where it is said to: its tokens are trained on', async () => {
    const trajectory = finished(await rolloutOf(agent({ run: throwing, failure: 'wrong' }), setting()));
    expect([trajectory.stopReason.kind, trajectory.finalText, trajectory.turns.length]).toEqual(['agentError', '', 1]);
    expect(trajectory.mask).toContain(1);
  });

  it('stops the run after so many in a row, with the last reason; one that goes well begins the count anew', async () => {
    let calls = 0;
    const third = agent({ run: (context) => (++calls % 3 === 0 ? ask(context) : throwing(context)), failuresInARow: 3 });
    expect(await many(third, 7)).toHaveLength(7);
    const always = many(agent({ run: throwing, failuresInARow: 3, failure: 'wrong' }), 4);
    await expect(always).rejects.toThrow('the agent failed in 3 rollouts in a row, at last in t2: TypeError: x is not a function');
    await expect(many(agent({ run: throwing, failuresInARow: 3 }), 4)).rejects.toThrow(UserError);
  });

  it('may throw what is no error, or return what is no answer', async () => {
    const odd = [
      [() => Promise.reject('a text'), 'a text'],
      [() => Promise.reject(undefined), 'undefined'],
      [() => undefined as never, 'what it returned is undefined'],
      [() => ({}) as never, 'what it returned has neither "answer" nor "reward"'],
      [() => ({ answer: 5 }) as never, 'what it returned has an "answer" that is no text'],
      [() => ({ reward: Number.NaN }), 'what it returned has a "reward" that is neither a finite number nor finite numbers by name'],
    ] as const;
    for (const [run, said] of odd) expect(await many(agent(run), 1)).toEqual([`the agent failed: ${said}`]);
  });
});

describe('an agent that never calls its model', () => {
  it('has rollouts without tokens, which can be scored and not trained on, and stops the run when it never does', async () => {
    const trajectory = finished(
      await rolloutOf(
        agent(() => '\\boxed{12}'),
        setting(),
      ),
    );
    expect(trajectory).toMatchObject({
      promptTokens: [],
      tokens: [],
      turns: [],
      finalText: '\\boxed{12}',
      stopReason: { kind: 'answered' },
    });
    await expect(
      many(
        agent(() => 'x'),
        40,
      ),
    ).rejects.toThrow('32 rollouts in a row without asking its model');
  });
});

describe('an agent that does not end', () => {
  it('is left to itself some time after its signal, and said so; what it does later changes nothing', async () => {
    let late: Promise<string> | undefined;
    const deaf = agent(async (context) => {
      await ask(context);
      late = sleep(600).then(() => ask(context).catch((error: Error) => error.message));
      return late;
    });
    const { rollout, told } = await withHost(deaf, async (host, warnings) => {
      const on = host.on(settingsOf({ ...setting(), limits: { ...setting().limits, deadlineSeconds: 0.2 } }));
      return { rollout: await on.run(inputOf()), told: warnings };
    });
    expect(finished(rollout).stopReason).toEqual({ kind: 'deadline' });
    expect(told).toEqual(['the agent works on 0.2 s after its signal was aborted: it is no longer waited for']);
    const { tokens } = finished(rollout);
    expect(await late).toContain('the rollout has ended');
    expect(finished(rollout).tokens).toEqual(tokens);
  });

  it('ends with the run, whose reason it is', async () => {
    const stop = new AbortController();
    const asked = agent(async (context) => {
      await ask(context);
      stop.abort(new Error('stopped by hand'));
      await sleep(60_000, undefined, { signal: context.signal });
      return 'x';
    });
    await expect(rolloutOf(asked, setting(), { signal: stop.signal })).rejects.toThrow('stopped by hand');
    await expect(rolloutOf(asked, setting(), { signal: stop.signal })).rejects.toThrow('stopped by hand');
  });
});

describe('set-up and tear-down', () => {
  const order: string[] = [];
  const told = (run: (context: AgentContext<Problem, { id: string }>) => Promise<string>) =>
    agent<Problem, { id: string }>({
      setUp: ({ problem, trajectoryId }) => {
        order.push(`up ${trajectoryId}`);
        return { id: `${problem.id} of ${trajectoryId}` };
      },
      run,
      tearDown: ({ id }) => void order.push(`down ${id}`),
    });

  it('stand around each rollout, however it ends', async () => {
    order.length = 0;
    await many(
      told(async ({ state }) => `${order.push(`run ${state.id}`)}`),
      2,
    );
    expect(order).toEqual(['up t0', 'run p of t0', 'down p of t0', 'up t1', 'run p of t1', 'down p of t1']);
    order.length = 0;
    await many(
      told(() => Promise.reject(new Error('no'))),
      1,
    );
    expect(order).toEqual(['up t0', 'down p of t0']);
  });

  it('that fail lose the rollout, or are told', async () => {
    const up = agent({ setUp: () => Promise.reject(new Error('no database')), run: () => 'x' });
    expect(await many(up, 1)).toEqual(['the agent failed: it could not be set up: no database']);
    const down = agent({ run: ask, tearDown: () => Promise.reject(new Error('still in use')) });
    const warnings = await withHost(down, async (host, list) => {
      finished(await host.on(settingsOf(setting())).run(inputOf()));
      return list;
    });
    expect(warnings).toEqual(['the agent could not be torn down: still in use']);
  });

  it('of an agent whose set-up comes late is torn down all the same', async () => {
    let down = '';
    const late = agent({
      setUp: () => sleep(300, 'late state'),
      run: () => 'never',
      tearDown: (state) => {
        down = state;
      },
    });
    const limits = { ...setting().limits, deadlineSeconds: 0.1 };
    expect(await rolloutOf(late, { ...setting(), limits })).toMatchObject({ kind: 'infra' });
    await sleep(400);
    expect(down).toBe('late state');
  });
});

describe('how many are at work', () => {
  it('is bounded where the agent says so', async () => {
    let now = 0;
    let most = 0;
    const busy = agent({
      concurrency: 2,
      run: async (context) => {
        most = Math.max(most, ++now);
        await sleep(5);
        now--;
        return ask(context);
      },
    });
    await withHost(busy, async (host) => {
      const on = host.on(settingsOf(setting()));
      await Promise.all(Array.from({ length: 6 }, () => on.run(inputOf())));
    });
    expect(most).toBe(2);
  });

  it('is refused where it is no number', () => {
    expect(() => agent({ run: () => 'x', concurrency: 0 })).toThrow("the agent's concurrency is 0");
    expect(() => agent({ run: () => 'x', failuresInARow: 1.5 })).toThrow("the agent's failuresInARow is 1.5");
  });
});

describe('a reward that the agent gives itself', () => {
  const own = agent(async (context) => {
    await ask(context);
    return { answer: 'wrong', reward: { shipped: 1, late: -0.25 } };
  });

  it('stands in place of grader and reward, by its parts, and evaluations count it as right above 0', async () => {
    const rollout = await rolloutOf(own, setting());
    const context = { signal: new AbortController().signal };
    const scored = await scoreRollout(rollout, { grader: mathGrader, reward: paperReward() }, context);
    expect(scored).toMatchObject({ kind: 'scored', member: { reward: { total: 0.75, parts: { shipped: 1, late: -0.25 } } } });
    expect(scored.kind === 'scored' && scored.member.verdict).toBeUndefined();
    expect(await gradedUnlessGiven(mathGrader)(finished(rollout), context)).toMatchObject({ correct: true, score: 0.75 });
  });

  it('is left to a reward function of the run, which may read it', async () => {
    const rollout = await rolloutOf(own, setting());
    const reward = ({ givenReward }: { readonly givenReward?: { readonly total: number } }) => -(givenReward?.total ?? 0);
    const scored = await scoreRollout(rollout, { reward }, { signal: new AbortController().signal });
    expect(scored).toMatchObject({ member: { reward: { total: -0.75 } } });
  });
});

describe('the types', () => {
  it('of the state follow from its set-up', () => {
    const made = agent({
      setUp: ({ problem }) => ({ id: problem.id, calls: 0 }),
      run: ({ state }) => {
        expectTypeOf(state).toEqualTypeOf<{ id: string; calls: number }>();
        return state.id;
      },
      tearDown: (state) => void expectTypeOf(state.calls).toEqualTypeOf<number>(),
    });
    expect(made.kind).toBe('function');
    // @ts-expect-error: a state that was not set up
    expect(agent({ run: ({ state }) => state.id }).kind).toBe('function');
  });
});
