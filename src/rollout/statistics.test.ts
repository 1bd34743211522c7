import { expect, it } from 'vitest';
import type { Trajectory } from '../domain/trajectory.js';
import { rolloutStatistics } from './statistics.js';

const call = { kind: 'call', name: 'echo', arguments: {}, repairs: [] } as const;
const executed = (success: boolean) => ({ kind: 'executed', call, success, text: '', seconds: 0 }) as const;

function trajectory(changes: Partial<Trajectory>): Trajectory {
  return {
    trajectoryId: 't',
    groupId: 'g',
    problem: { id: 'p', question: 'q' },
    promptTokens: [1],
    tokens: [1, 2, 3, 4],
    mask: [1, 1, 0, 1],
    samplerLogProbs: [-1, -0.5, 0, -0.3],
    turns: [{ text: '', segments: [], stop: 'stop', tokens: 3, policyVersion: 0, replies: [] }],
    finalText: '',
    stopReason: { kind: 'answered' },
    seconds: 1,
    ...changes,
  };
}

it('counts what the rollouts did', () => {
  const turn = trajectory({}).turns[0]!;
  const statistics = rolloutStatistics([
    trajectory({ turns: [{ ...turn, segments: [call], replies: [executed(true)] }, { ...turn, replies: [executed(false)] }, turn] }),
    trajectory({
      stopReason: { kind: 'tokenLimit', limit: 'turn' },
      turns: [{ ...turn, segments: [{ kind: 'cutOffCall', raw: '' }] }],
      tokens: [1],
      mask: [1],
      samplerLogProbs: [-2.2],
    }),
  ]);
  expect(statistics).toEqual({
    rollouts: 2,
    callsPerRollout: 1,
    toolSuccess: 0.5,
    malformed: 0.5,
    truncated: 0.5,
    answered: 0.5,
    withoutCall: 0.5,
    turnsPerRollout: 2,
    tokensPerTurn: 1,
    modelTokensPerRollout: 2,
    responseTokensPerRollout: 2.5,
    entropyEstimate: 1,
  });
});

it('weighs measured entropies by tokens, and leaves them out where one is missing', () => {
  const measured = [trajectory({ entropy: 1 }), trajectory({ entropy: 5, mask: [0, 0, 0, 1], samplerLogProbs: [0, 0, 0, -1] })];
  expect(rolloutStatistics(measured).entropy).toBe(2);
  expect(rolloutStatistics([...measured, trajectory({})])).not.toHaveProperty('entropy');
});

it('counts the branches of a rollout as one: tokens, turns and calls of all of them', () => {
  const { promptTokens, tokens, mask, samplerLogProbs, turns } = trajectory({});
  const branch = { promptTokens, tokens, mask, samplerLogProbs, turns: [{ ...turns[0]!, segments: [call], replies: [executed(false)] }] };
  const statistics = rolloutStatistics([trajectory({ branches: [branch, branch] })]);
  expect(statistics).toMatchObject({
    ...{ rollouts: 1, callsPerRollout: 2, toolSuccess: 0, turnsPerRollout: 3, tokensPerTurn: 3, withoutCall: 0 },
    ...{ modelTokensPerRollout: 9, responseTokensPerRollout: 12 },
  });
  expect(statistics.entropyEstimate).toBeCloseTo(0.6, 12);
});
