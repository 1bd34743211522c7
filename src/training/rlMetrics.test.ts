import { describe, expect, it } from 'vitest';
import type { AdvantagedGroup } from './rl.js';
import { groupMetrics } from './rlMetrics.js';

const group = (...overlong: (number | undefined)[]): AdvantagedGroup =>
  ({
    advantages: overlong.map(() => 0),
    group: {
      lost: 0,
      members: overlong.map((paid) => ({
        trajectory: { turns: [], tokens: [], mask: [], samplerLogProbs: [], stopReason: { kind: 'answered' } },
        reward: { total: paid ?? 0, parts: paid === undefined ? {} : { overlong: paid } },
      })),
    },
  }) as unknown as AdvantagedGroup;

describe('the numbers of a step', () => {
  it('tell which share of the rollouts paid for its length', () => {
    expect(groupMetrics([group(-0.25, 0), group(-1, 0)])['rollout/overlongShare']).toBe(0.5);
  });

  it('count nobody as paying where lengths are not shaped', () => {
    expect(groupMetrics([group(undefined, undefined)])['rollout/overlongShare']).toBe(0);
  });

  it('leave out what rollouts that never asked the model do not have', () => {
    const metrics = groupMetrics([group(undefined, undefined)]);
    expect(Object.values(metrics).every(Number.isFinite)).toBe(true);
    expect(metrics).not.toHaveProperty('rollout/tokensPerTurn');
    expect(metrics).not.toHaveProperty('rollout/entropy');
  });
});
