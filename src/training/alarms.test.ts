import { describe, expect, it } from 'vitest';
import { alarms } from './alarms.js';

const kinds = (now: Record<string, number>, first: Record<string, number> = now): string[] => alarms(now, first).map(({ kind }) => kind);

describe('an alarm', () => {
  it('is raised where sampler and trainer differ by more than 0.05 nats, and as much again for each step between them', () => {
    expect(kinds({ 'train/samplerGap': 0.049 })).toEqual([]);
    expect(kinds({ 'train/samplerGap': 0.051 })).toEqual(['samplerGap']);
    expect(kinds({ 'train/samplerGap': 0.099, 'async/lag': 1 })).toEqual([]);
    expect(kinds({ 'train/samplerGap': 0.101, 'async/lag': 1 })).toEqual(['samplerGap']);
    expect(alarms({ 'train/samplerGap': 0.16, 'async/lag': 1.5 }, {})[0]!.text).toBe(
      'sampler and trainer differ by 0.160 nats a token on average, 1.5 steps apart',
    );
  });

  it('is raised where more than a tenth of the importance weights are at their cap', () => {
    expect(kinds({ 'train/importanceCapped': 0.1 })).toEqual([]);
    expect(alarms({ 'train/importanceCapped': 0.25 }, {})).toEqual([
      { kind: 'offPolicy', text: 'the importance weights of 25 % of the tokens are at their cap: the rollouts are too old' },
    ]);
  });

  it('is raised where numbers break, calls or entropy vanish, or nearly all responses are cut', () => {
    expect(kinds({ 'train/loss': Number.NaN })).toEqual(['nan']);
    expect(kinds({ 'rollout/calls': 0.01 }, { 'rollout/calls': 0.5 })).toEqual(['noToolCalls']);
    expect(kinds({ 'rollout/entropy': 0.001 }, { 'rollout/entropy': 0.3 })).toEqual(['entropyGone']);
    expect(kinds({ 'rollout/truncated': 0.96 })).toEqual(['allTruncated']);
    expect(kinds({ 'rollout/calls': 0.01, 'rollout/entropy': 0.001 })).toEqual([]);
  });
});
