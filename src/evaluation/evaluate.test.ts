import { describe, expect, it } from 'vitest';
import { accuracyByLevel, type GradedRollout } from './evaluate.js';

const rollout = (correct: boolean, tags?: Record<string, string | number>): GradedRollout =>
  ({
    trajectory: { problem: { id: 'p', question: 'q', ...(tags && { tags }) } },
    verdict: { kind: 'graded', correct, score: correct ? 1 : 0, reason: correct ? 'match' : 'mismatch' },
  }) as unknown as GradedRollout;

describe('accuracy by level', () => {
  it('is the share of right rollouts of each level', () => {
    const rollouts = [rollout(true, { level: 2 }), rollout(true, { level: 1 }), rollout(false, { level: 1 }), rollout(false)];
    expect(accuracyByLevel(rollouts)).toEqual({ 'accuracy/level=1': 0.5, 'accuracy/level=2': 1 });
  });

  it('says nothing where problems have no level, or all the same', () => {
    expect(accuracyByLevel([rollout(true), rollout(false, { family: 'gcd' })])).toEqual({});
    expect(accuracyByLevel([rollout(true, { level: 3 }), rollout(false, { level: 3 })])).toEqual({});
  });
});
