import { describe, expect, it } from 'vitest';
import { grpoAdvantages } from '../../../algorithm/advantages.js';
import { pairToCompare, spreadOf } from './rewardSpread.js';

describe('rewards of a group', () => {
  it('say plainly where there is no gradient', () => {
    expect(spreadOf([-0.9, -0.9, -0.9])).toEqual({ kind: 'equal', reward: -0.9, count: 3 });
    expect(spreadOf([0.1 + 0.2, 0.3])).toMatchObject({ kind: 'equal' });
    expect(spreadOf([0, 0])).toMatchObject({ kind: 'equal' });
    expect(spreadOf([1])).toEqual({ kind: 'single', reward: 1 });
    expect(spreadOf([undefined, null])).toEqual({ kind: 'none' });
  });

  it('are measured as advantages measure them', () => {
    const rewards = [1.1, -1, 1, -0.9];
    const spread = spreadOf(rewards);
    if (spread.kind !== 'mixed') throw new Error('these differ');
    expect(spread).toMatchObject({ mean: expect.closeTo(0.05), low: -1, high: 1.1 });
    const advantages = grpoAdvantages(rewards);
    expect((1.1 - spread.mean) / spread.deviation).toBeCloseTo(advantages[0]!, 4);
  });

  it('choose the best and the worst to be compared', () => {
    const member = (id: number, reward?: number, correct?: boolean) => ({
      id,
      ...(reward === undefined ? {} : { reward }),
      ...(correct === undefined ? {} : { correct }),
    });
    expect(pairToCompare([member(1, -1), member(2, 1), member(3, 0)])?.map(({ id }) => id)).toEqual([2, 1]);
    expect(pairToCompare([member(1, undefined, false), member(2, undefined, true)])?.map(({ id }) => id)).toEqual([2, 1]);
    expect(pairToCompare([member(5, 1), member(6, 1), member(7, 1)])?.map(({ id }) => id)).toEqual([5, 6]);
    expect(pairToCompare([member(1, 1)])).toBeUndefined();
  });
});
