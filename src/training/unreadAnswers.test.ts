import { describe, expect, it } from 'vitest';
import { someTrajectory } from '../../test/support/someRun.js';
import type { Reason } from '../domain/verdict.js';
import { UserError } from '../userError.js';
import { refuseUnreadAnswers } from './unreadAnswers.js';

const member = (reason: Reason | undefined, finalText = 'It is 42.') => ({
  trajectory: { ...someTrajectory('t'), finalText },
  ...(reason && { verdict: { kind: 'graded', correct: reason === 'match', score: 0, reason } as const }),
});
const batch = (count: number, reason: Reason | undefined, finalText?: string) =>
  Array.from({ length: count }, () => member(reason, finalText));

describe('a batch without a single answer', () => {
  it('stops the run with a sample', () => {
    const members = [...batch(31, 'noAnswer', ''), member('noProgram')];
    expect(() => refuseUnreadAnswers(members, 4)).toThrow(UserError);
    expect(() => refuseUnreadAnswers(members, 4)).toThrow(/any of the 32 rollouts of RL step 5; .*"It is 42\."/);
  });

  it('is laid to the prompt at the first step, to training later', () => {
    const hint = (step: number) => {
      try {
        refuseUnreadAnswers(batch(32, 'noAnswer'), step);
      } catch (error) {
        return error instanceof UserError ? error.hint : undefined;
      }
    };
    expect(hint(0)).toContain('the prompt');
    expect(hint(4)).toContain('rl.learningRate');
  });

  it('is not one with a single answer, right or wrong', () => {
    expect(() => refuseUnreadAnswers([...batch(63, 'noAnswer'), member('mismatch')], 0)).not.toThrow();
  });

  it('is not told from a small batch, nor where a reward judged without verdicts', () => {
    expect(() => refuseUnreadAnswers(batch(31, 'noAnswer'), 0)).not.toThrow();
    expect(() => refuseUnreadAnswers(batch(64, undefined), 0)).not.toThrow();
  });
});
