/** Environments in the rollout loop: what the policy reads, how a rollout ends, what becomes of the rewards. */
import { beforeAll, describe, expect, it } from 'vitest';
import { chatFormatOf, scriptedRollout } from '../../test/support/rolloutSettings.js';
import type { Script } from '../../test/support/scriptedSampler.js';
import type { ChatFormat } from '../chat/chatFormat.js';
import type { Rollout, Trajectory } from '../domain/trajectory.js';
import type { Limits } from '../recipe/schema.js';
import { scoreRollout } from '../reward/rewardFunction.js';
import { runRollout } from '../rollout/runRollout.js';
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
