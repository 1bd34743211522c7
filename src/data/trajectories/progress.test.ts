import { describe, expect, it } from 'vitest';
import { compact, roughly, SamplingProgress } from './progress.js';

function following(all: number, concurrency: number) {
  const lines: string[] = [];
  let now = 0;
  const progress = new SamplingProgress({ all, concurrency, log: (line) => lines.push(line), now: () => now });
  return {
    lines,
    at(seconds: number, rollouts: number, outcome: 'right' | 'wrong' | 'lost' = 'right') {
      now = seconds;
      for (let i = 0; i < rollouts; i++) progress.add(outcome === 'lost' ? undefined : 100, outcome === 'right');
    },
  };
}

describe('how far a sampling is', () => {
  it('is estimated after eight rollouts, those in flight taken for half done', () => {
    const { lines, at } = following(100, 1);
    at(35, 7);
    expect(lines).toEqual([]);
    at(40, 1);
    expect(lines).toEqual(['estimate from 8 rollouts: about 7 min and 9.20k tokens of the model for the 92 to come']);
    const many = following(200, 256);
    many.at(24, 8);
    expect(many.lines).toEqual(['estimate from 8 rollouts: about 22 s and 19.2k tokens of the model for the 192 to come']);
  });

  it('is told again every twenty seconds, with the share that was right of those that were not lost', () => {
    const { lines, at } = following(40, 1);
    at(8, 8);
    at(27, 1, 'lost');
    at(28, 3, 'wrong');
    expect(lines).toHaveLength(2);
    expect(lines[1]).toBe('10/40 rollouts, 89% right; about 79 s and 3.00k tokens of the model for the 30 to come');
    at(29, 30);
    expect(lines).toHaveLength(2);
  });

  it('is estimated from fewer after a minute', () => {
    const { lines, at } = following(100, 1);
    at(59, 1);
    at(61, 1);
    expect(lines).toEqual([expect.stringMatching(/^estimate from 2 rollouts/)]);
  });

  it('is not estimated where everything is there', () => {
    const { lines, at } = following(3, 1);
    at(30, 3);
    expect(lines).toEqual([]);
  });
});

it.each([
  [950, '950'],
  [12_345, '12.3k'],
  [4_600_000, '4.60M'],
])('%d tokens are %s', (count, text) => {
  expect(compact(count)).toBe(text);
});

it.each([
  [0.2, '1 s'],
  [89, '89 s'],
  [720, '12 min'],
  [12_600, '3.5 h'],
])('%d seconds are %s', (seconds, text) => {
  expect(roughly(seconds)).toBe(text);
});
