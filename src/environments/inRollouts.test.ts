/** Environments in the rollout loop: what the policy reads, how a rollout ends, what becomes of the rewards. */
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { chatFormatOf, scriptedRollout } from '../../test/support/rolloutSettings.js';
import type { Script } from '../../test/support/scriptedSampler.js';
import type { ChatFormat } from '../chat/chatFormat.js';
import type { Rollout, Trajectory } from '../domain/trajectory.js';
import type { Limits } from '../recipe/schema.js';
import { scoreRollout } from '../reward/rewardFunction.js';
import { runRollout } from '../rollout/runRollout.js';
import { planGroups, runRollouts } from '../rollout/scheduler.js';
import type { Environment } from './environment.js';
import { environmentGrader, environmentReward } from './environmentScoring.js';
import { act, type Counting, counting, GOAL, type Happening } from './testSupport.js';

let format: ChatFormat;
beforeAll(async () => {
  format = await chatFormatOf();
});

const inOrder =
  (...turns: string[]): Script =>
  (_, __, n) =>
    turns[n]!;

function settingsFor(environment: Environment<Counting>, script: Script, limits: Partial<Limits> = {}, warnings: string[] = []) {
  const settings = { environment: environment as Environment, onWarning: (text: string) => void warnings.push(text) };
  return scriptedRollout(format, script, environment.tools, { limits, settings });
}

interface Setup {
  readonly limits?: Partial<Limits>;
  readonly signal?: AbortSignal;
  readonly warnings?: string[];
}

function roll(environment: Environment<Counting>, script: Script, { limits, signal, warnings }: Setup = {}): Promise<Rollout<Counting>> {
  const { settings } = settingsFor(environment, script, limits, warnings);
  return runRollout(settings, {
    problem: GOAL,
    groupId: 'g',
    trajectoryId: 't',
    startSeed: 11,
    seed: (turn) => turn,
    ...(signal && { signal }),
  });
}

async function finished(...args: Parameters<typeof roll>): Promise<Trajectory<Counting>> {
  const rollout = await roll(...args);
  if (rollout.kind !== 'finished') throw new Error(`lost: ${rollout.error}`);
  return rollout.trajectory;
}

const scored = async (rollout: Rollout<Counting>) =>
  scoreRollout(
    rollout,
    { grader: environmentGrader, reward: (trajectory, _, context) => environmentReward(trajectory, context) },
    { signal: new AbortController().signal },
  );

const SOLVE = [act('add', { n: 2 }), act('add', { n: 3 })];

describe('a rollout in an environment', () => {
  it('begins with its first observation behind the question, and ends with the action that ends the task', async () => {
    const happened: Happening[] = [];
    const trajectory = await finished(counting(happened), inOrder(...SOLVE, act('add', { n: 9 })));
    expect(trajectory.problem.question).toBe('Count to 5.\n\nThe counter is at 0. Seed 11.');
    expect(format.decode(trajectory.promptTokens)).toContain('Count to 5.\n\nThe counter is at 0. Seed 11.');
    expect(trajectory.stopReason).toEqual({ kind: 'stopTool', tool: 'add' });
    expect(trajectory.turns.map(({ replies }) => replies.map(({ text }) => text))).toEqual([['2'], ['5']]);
    expect(trajectory.environment).toEqual({
      environment: 'counting',
      steps: 2,
      done: true,
      success: true,
      rewards: { 'env/step': 0.625, 'env/final': 1 },
    });
    expect(happened).toEqual([
      ['reset', 11],
      ['step', 2],
      ['step', 3],
      ['score', 5],
      ['tearDown', 5],
    ]);
  });

  it('is scored too where the policy ends it, or a limit does', async () => {
    const answered = await finished(counting(), inOrder(SOLVE[0]!, 'enough'));
    expect(answered).toMatchObject({ stopReason: { kind: 'answered' }, environment: { steps: 1, done: false, success: false } });
    const limited = await finished(counting(), () => act('add', { n: 1 }), { limits: { turns: 3 } });
    expect(limited).toMatchObject({ stopReason: { kind: 'turnLimit' }, environment: { steps: 2, done: false } });
    const cut = await finished(counting(), () => 'x'.repeat(400), { limits: { turnTokens: 50 } });
    expect(cut).toMatchObject({ stopReason: { kind: 'tokenLimit' }, environment: { steps: 0, rewards: { 'env/final': -1 } } });
  });

  it('runs no call of the same turn after the end, and counts refused calls as no steps', async () => {
    const happened: Happening[] = [];
    const turns = [act('add', { n: 'many' }), act('jump'), act('add', { n: 5 }) + act('add', { n: 1 })];
    const trajectory = await finished(counting(happened), inOrder(...turns), { limits: { callsPerTurn: 4 } });
    expect(trajectory.environment).toMatchObject({ steps: 1, success: true });
    expect(happened.filter(([what]) => what === 'step')).toEqual([['step', 5]]);
    expect(trajectory.turns[2]!.replies.map(({ kind }) => kind)).toEqual(['executed', 'refused']);
  });

  it('gets its verdict and its reward from the environment', async () => {
    const outcome = await scored(await roll(counting(), inOrder(...SOLVE)));
    expect(outcome).toMatchObject({
      kind: 'scored',
      member: {
        verdict: { correct: true, score: 1, note: '2 steps, ended by the environment' },
        reward: { total: 1.625, parts: { 'env/step': 0.625, 'env/final': 1 } },
      },
    });
  });
});

describe('a rollout that is lost', () => {
  it('is so for failures of the environment, never scored, and torn down where there is something to tear down', async () => {
    const happened: Happening[] = [];
    const unset = counting(happened, { reset: () => Promise.reject(new Error('no database')) });
    const atReset = await roll(unset, inOrder(...SOLVE));
    expect(atReset).toMatchObject({ kind: 'infra', error: 'environment "counting" could not be reset: no database' });
    expect(await scored(atReset)).toMatchObject({ kind: 'lost' });
    expect(happened).toEqual([]);

    const failing = counting(happened, {
      score: () => {
        throw new Error('no ruler');
      },
    });
    const atEnd = await roll(failing, inOrder(...SOLVE));
    expect(atEnd).toMatchObject({ kind: 'infra', error: 'environment "counting" could not score: no ruler' });
    expect(happened.at(-1)).toEqual(['tearDown', 5]);
  });

  it('is torn down when it is aborted, wherever it is', async () => {
    for (const at of ['reset', 'sampling', 'step', 'score'] as const) {
      const abort = new AbortController();
      const happened: Happening[] = [];
      const stop = (here: string): void => {
        if (here === at) abort.abort(new Error('enough'));
      };
      const env = counting(happened, {
        reset: () => {
          stop('reset');
          return { state: { value: 0, seed: 0 } };
        },
        score: () => {
          stop('score');
          return new Promise<never>(() => undefined);
        },
      });
      const script: Script = () => {
        if (at === 'sampling') stop('sampling');
        if (at === 'step') queueMicrotask(() => stop('step'));
        return at === 'score' ? 'done' : at === 'sampling' ? undefined : act('add', { n: 1 });
      };
      await expect(roll(env, script, { signal: abort.signal }), at).rejects.toThrow('enough');
      await delay(0);
      expect(
        happened.filter(([what]) => what === 'tearDown'),
        at,
      ).toHaveLength(1);
    }
  });

  it('says once where tear-down failed, and is a rollout all the same', async () => {
    const warnings: string[] = [];
    const sticky = counting([], { tearDown: () => Promise.reject(new Error('stuck')) });
    await finished(sticky, inOrder(...SOLVE), { warnings });
    expect(warnings).toEqual(['t: environment "counting" could not be torn down: stuck']);
  });
});

it('shortens the first observation like any result, and refuses a prompt that is too long with it', async () => {
  const long = counting([], { reset: () => ({ state: { value: 0, seed: 0 }, observation: `BEGIN${'x'.repeat(2000)}<|im_end|>END` }) });
  const trajectory = await finished(long, () => 'no', { limits: { toolTokens: 100 } });
  expect(trajectory.problem.question).toMatch(/^Count to 5\.\n\nBEGINx+\n\[\.\.\. \d+ tokens left out \.\.\.\]\nx*<.*END$/);
  const ends = ({ promptTokens }: Trajectory): number => promptTokens.filter((id) => format.isStop(id)).length;
  expect(ends(trajectory)).toBe(ends(await finished(counting(), () => 'no')));
  await expect(roll(long, () => 'no', { limits: { toolTokens: 100, promptTokens: 300 } })).rejects.toThrow(
    /first observation of environment "counting" the prompt of problem "p" has \d+ tokens; at most 300/,
  );
});

describe.each([false, true])('many rollouts, in lockstep %s', (lockstep) => {
  const problems: Counting[] = [2, 3, 4].map((goal) => ({ id: `to ${goal}`, question: `Count to ${goal}.`, goal }));
  const oneByOne: Script = () => act('add', { n: 1 });

  async function run(environment: Environment<Counting>, step: number, concurrency = 64) {
    const { settings } = settingsFor(environment, oneByOne);
    return runRollouts(planGroups(problems, 4, `rl/${step}`), settings, { runSeed: 7, step, concurrency, lockstep });
  }

  it('start alike in a group, differently in every occurrence', async () => {
    const seeds = new Map<string, Set<string>>();
    for (const step of [0, 1]) {
      for (const rollout of await run(counting(), step)) {
        if (rollout.kind !== 'finished') throw new Error(rollout.error);
        const { groupId, problem, promptTokens } = rollout.trajectory;
        const [, seed] = /Seed (\d+)/.exec(problem.question)!;
        expect(format.decode(promptTokens)).toContain(`Seed ${seed}.`);
        seeds.set(groupId, (seeds.get(groupId) ?? new Set()).add(seed!));
      }
    }
    const each = [...seeds.values()];
    expect(each.map(({ size }) => size)).toEqual([1, 1, 1, 1, 1, 1]);
    expect(new Set(each.flatMap((own) => [...own])).size).toBe(6);
  });

  it('come to the same whatever runs beside them', async () => {
    const slow = counting([], {
      reset: async (_, { seed, trajectoryId }) => {
        await delay(trajectoryId.length % 3);
        return { state: { value: 0, seed }, observation: `Seed ${seed}.` };
      },
    });
    const quick = counting([], { reset: (_, { seed }) => ({ state: { value: 0, seed }, observation: `Seed ${seed}.` }) });
    const outcomes = (rollouts: readonly Rollout<Counting>[]) =>
      rollouts.map((rollout) =>
        rollout.kind === 'finished' ? [rollout.trajectory.problem.question, rollout.trajectory.environment] : rollout.error,
      );
    expect(outcomes(await run(slow, 0, 12))).toEqual(outcomes(await run(quick, 0, 1)));
  });

  it('go on without those that could not be reset', async () => {
    let resets = 0;
    const failing = counting([], {
      reset: ({ goal }, { seed }) => {
        resets++;
        if (goal === 3) throw new Error('no such place');
        return { state: { value: 0, seed } };
      },
    });
    const rollouts = await run(failing, 0);
    expect(rollouts.map(({ kind }) => kind)).toEqual([
      ...Array(4).fill('finished'),
      ...Array(4).fill('infra'),
      ...Array(4).fill('finished'),
    ]);
    expect(resets).toBe(16); // each lost one is run once more
  });
});
