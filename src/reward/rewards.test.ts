import { describe, expect, expectTypeOf, it } from 'vitest';
import type { StopReason } from '../domain/stopReason.js';
import type { Rollout, Trajectory } from '../domain/trajectory.js';
import type { Turn } from '../domain/turn.js';
import type { Graded, InfraFailure } from '../domain/verdict.js';
import { UserError } from '../userError.js';
import { mathGrader } from './mathGrader.js';
import { paperReward } from './paperReward.js';
import { type RewardFunction, scoreRollouts, toReward } from './rewardFunction.js';

const context = { signal: new AbortController().signal };

interface Shape {
  readonly id?: string;
  readonly calls?: number;
  readonly refused?: number;
  readonly model?: number;
  readonly toolTokens?: number;
  readonly stopReason?: StopReason;
  readonly finalText?: string;
}

function trajectory(shape: Shape = {}): Trajectory {
  const { calls = 0, refused = 0, model = 10, toolTokens = 0, stopReason = { kind: 'answered' }, finalText = '\\boxed{7}' } = shape;
  const call = { kind: 'call', name: 'f', arguments: {}, repairs: [] } as const;
  const turn: Turn = {
    text: '',
    segments: [],
    stop: 'stop',
    tokens: model,
    policyVersion: 0,
    replies: [
      ...Array.from({ length: calls }, () => ({ kind: 'executed', call, success: true, text: '', seconds: 0 }) as const),
      ...Array.from({ length: refused }, () => ({ kind: 'refused', problem: 'malformed', text: '' }) as const),
    ],
  };
  const length = model + toolTokens;
  return {
    trajectoryId: shape.id ?? 't',
    groupId: 'g',
    problem: { id: 'p', question: 'q', answer: '7' },
    promptTokens: [],
    tokens: new Array<number>(length).fill(1),
    mask: Array.from({ length }, (_, i) => (i < model ? 1 : 0)),
    samplerLogProbs: new Array<number>(length).fill(0),
    turns: [turn],
    finalText,
    stopReason,
    seconds: 1,
  };
}

const right: Graded = { kind: 'graded', correct: true, score: 1, reason: 'match' };
const wrong: Graded = { kind: 'graded', correct: false, score: 0, reason: 'mismatch' };
const finished = (shape: Shape): Rollout => ({ kind: 'finished', trajectory: trajectory(shape) });

describe('mathGrader', () => {
  it('grades the box in the final text', () => {
    expect(mathGrader(trajectory())).toMatchObject({ correct: true, extracted: '7' });
    expect(mathGrader(trajectory({ finalText: '7' }))).toMatchObject({ correct: false, reason: 'noAnswer' });
  });

  it('asks for an answer to compare with', () => {
    expect(() => mathGrader({ finalText: '', problem: { id: 'p', question: 'q' } })).toThrow(UserError);
  });
});

describe('paperReward', () => {
  const overlong = { maxTokens: 100, bufferTokens: 20 };

  it('pays tool calls that were executed, right or wrong, up to the cap', () => {
    expect(paperReward()(trajectory({ calls: 2, refused: 5 }), right).parts).toEqual({ outcome: 1, tool: 0.2, overlong: 0 });
    expect(paperReward()(trajectory({ calls: 9 }), wrong)).toEqual({ total: -0.6, parts: { outcome: -1, tool: 0.4, overlong: 0 } });
    expect(paperReward({ tool: false })(trajectory({ calls: 9 }), wrong).total).toBe(-1);
  });

  it('fines length by the tokens the model wrote', () => {
    const reward = paperReward({ overlong });
    expect(reward(trajectory({ model: 90 }), right).parts.overlong).toBe(-0.5);
    expect(reward(trajectory({ model: 80, toolTokens: 19 }), right).parts.overlong).toBe(0);
  });

  it('takes the whole -1 at a token limit, and nothing at a limit of turns', () => {
    const reward = paperReward({ overlong });
    for (const limit of ['turn', 'response'] as const) {
      expect(reward(trajectory({ stopReason: { kind: 'tokenLimit', limit } }), wrong).total).toBe(-2);
    }
    expect(reward(trajectory({ stopReason: { kind: 'turnLimit' } }), wrong).total).toBe(-1);
  });

  it('follows the released rule where asked: wrong answers only, tool tokens counted', () => {
    const reward = paperReward({ overlong, reference: true });
    expect(reward(trajectory({ calls: 2 }), right).parts.tool).toBe(0);
    expect(reward(trajectory({ calls: 2 }), wrong).parts.tool).toBe(0.2);
    expect(reward(trajectory({ model: 80, toolTokens: 10 }), right).parts.overlong).toBe(-0.5);
  });

  it('cannot be given an infrastructure failure', () => {
    expectTypeOf<ReturnType<typeof paperReward>>().parameter(1).toEqualTypeOf<Graded>();
    expectTypeOf<InfraFailure>().not.toExtend<Graded>();
  });
});

describe('scoreRollouts', () => {
  const scoring = { grader: mathGrader, reward: paperReward() };

  it('keeps members in order and counts what infrastructure took', async () => {
    const problem = trajectory().problem;
    const { group, lost } = await scoreRollouts(
      [
        finished({ id: 'a' }),
        { kind: 'infra', trajectoryId: 'b', groupId: 'g', problem, error: 'sandbox down' },
        finished({ id: 'c', finalText: '' }),
      ],
      scoring,
      context,
    );
    expect(group.members.map(({ trajectory, reward }) => [trajectory.trajectoryId, reward.total])).toEqual([
      ['a', 1],
      ['c', -1],
    ]);
    expect(group).toMatchObject({ groupId: 'g', problem, lost: 1 });
    expect(lost).toEqual([{ trajectoryId: 'b', error: 'sandbox down' }]);
  });

  it.each([
    [
      'throws',
      () => {
        throw new TypeError('no such field');
      },
      'TypeError: no such field',
    ],
    ['gives no finite number', () => Number.NaN, 'RangeError: reward part "reward" is NaN; a reward must be a finite number'],
    [
      'gives a part that is none',
      async () => ({ style: Number.POSITIVE_INFINITY }),
      'RangeError: reward part "style" is Infinity; a reward must be a finite number',
    ],
    ['gives nothing', () => undefined as unknown as number, 'RangeError: a reward must be a number or numbers by name, not undefined'],
  ] satisfies [string, RewardFunction, string][])('loses a rollout whose reward function %s, with the error', async (_, reward, error) => {
    const { group, lost } = await scoreRollouts([finished({ id: 'a' })], { reward }, context);
    expect(group.members).toEqual([]);
    expect(lost).toEqual([{ trajectoryId: 'a', error }]);
  });

  it('loses a rollout whose grader fails, without asking for its reward', async () => {
    const grader = (): InfraFailure => ({ kind: 'infra', error: 'judge unreachable' });
    const reward = (): number => {
      throw new Error('asked');
    };
    const { lost } = await scoreRollouts([finished({ id: 'a' })], { grader, reward }, context);
    expect(lost).toEqual([{ trajectoryId: 'a', error: 'judge unreachable' }]);
  });

  it('passes on mistakes of the user and an abort', async () => {
    const reward = (): number => {
      throw new UserError('wrong key');
    };
    await expect(scoreRollouts([finished({})], { reward }, context)).rejects.toThrow(UserError);
    const controller = new AbortController();
    const aborting = (): number => {
      controller.abort(new Error('stopped'));
      throw new Error('in the middle');
    };
    await expect(scoreRollouts([finished({})], { reward: aborting }, { signal: controller.signal })).rejects.toThrow('stopped');
  });

  it('refuses rollouts of two groups, and none', async () => {
    const other: Rollout = { kind: 'finished', trajectory: { ...trajectory(), groupId: 'h' } };
    await expect(scoreRollouts([finished({}), other], scoring, context)).rejects.toThrow(RangeError);
    await expect(scoreRollouts([], scoring, context)).rejects.toThrow(RangeError);
  });

  it('types the problem of a user through to the reward', () => {
    interface Riddle {
      readonly id: string;
      readonly question: string;
      readonly secret: number;
    }
    const reward: RewardFunction<Riddle> = ({ problem }) => problem.secret;
    expectTypeOf(reward).parameter(0).toHaveProperty('problem').toEqualTypeOf<Riddle>();
  });
});

describe('toReward', () => {
  it('takes a number, parts, or a whole reward', () => {
    expect(toReward(0.5)).toEqual({ total: 0.5, parts: { reward: 0.5 } });
    expect(toReward({ a: 1, b: -0.5 })).toEqual({ total: 0.5, parts: { a: 1, b: -0.5 } });
    expect(toReward({ total: 1, parts: { a: 1 } })).toEqual({ total: 1, parts: { a: 1 } });
  });

  it('refuses parts that do not add up', () => {
    expect(() => toReward({ total: 2, parts: { a: 1 } })).toThrow(RangeError);
  });
});
