import { describe, expect, it } from 'vitest';
import { modeOf } from '../domain/mode.js';
import type { Segment } from '../domain/segment.js';
import type { Turn } from '../domain/turn.js';
import { modesOf } from './modes.js';

const call = { kind: 'call', name: 'code_interpreter', arguments: { code: 'print(1)' }, repairs: [] } as const;
const callLength = JSON.stringify({ name: call.name, arguments: call.arguments }).length;
const analysis = (length: number): Segment => ({ kind: 'thinking', text: 'x'.repeat(length) });

function turn(segments: readonly Segment[], success?: boolean): Turn {
  const replies = success === undefined ? [] : [{ kind: 'executed', call, success, text: '1', seconds: 0 } as const];
  return { text: '', segments, stop: 'stop', tokens: 10, policyVersion: 0, replies };
}

const answer = turn([{ kind: 'text', text: 'x'.repeat(1000) }]);

describe('deliberative and reactive rollouts', () => {
  it('are told apart by analysis and calls in the rounds that call', () => {
    expect(modeOf({ turns: [turn([analysis(callLength), call], true), answer] })).toBe('deliberative');
    expect(modeOf({ turns: [turn([analysis(callLength - 1), call], true), answer] })).toBe('reactive');
  });

  it('are measured over all their rounds', () => {
    const long = turn([analysis(2 * callLength), call], true);
    const short = turn([call], false);
    expect(modeOf({ turns: [long, short, answer] })).toBe('deliberative');
    expect(modeOf({ turns: [long, short, short, answer] })).toBe('reactive');
  });

  it('are neither where no call was executed, readable or not', () => {
    expect(modeOf({ turns: [answer] })).toBe('withoutCall');
    expect(modeOf({ turns: [turn([{ kind: 'malformedCall', raw: '{', problem: '' }])] })).toBe('withoutCall');
    expect(modeOf({ turns: [] })).toBe('withoutCall');
  });

  it('have shares, success and lengths of their own', () => {
    const modes = modesOf([
      { turns: [turn([analysis(99), call], true), answer] },
      { turns: [turn([call], true), turn([call], false), answer] },
      { turns: [answer] },
      { turns: [answer] },
    ]);
    expect(modes.deliberative).toEqual({ share: 0.25, rollouts: 1, toolSuccess: 1, callsPerRollout: 1, tokensPerRound: 10 });
    expect(modes.reactive).toMatchObject({ share: 0.25, toolSuccess: 0.5, callsPerRollout: 2 });
    expect(modes.withoutCall).toMatchObject({ share: 0.5, toolSuccess: Number.NaN, callsPerRollout: 0 });
  });
});
