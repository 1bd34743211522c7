import { describe, expect, it } from 'vitest';
import { hashText53, runsOf } from './hash.js';

describe('hashes of runs', () => {
  const words = 'a rose is a rose is a rose'.split(' ');

  it('are equal for equal runs alone, wherever they stand', () => {
    const runs = [...runsOf(words, 3)];
    expect(runs).toHaveLength(6);
    // a rose is, rose is a, is a rose, and again.
    expect(runs.slice(3)).toEqual(runs.slice(0, 3));
    expect(new Set(runs).size).toBe(3);
    expect([...runsOf(['x', 'a', 'rose', 'is'], 3)][1]).toBe(runs[0]);
    expect([...runsOf(['rose', 'a', 'is'], 3)][0]).not.toBe(runs[0]);
  });

  it('are there only where there are enough words', () => {
    expect(runsOf(words, 8)).toHaveLength(1);
    expect(runsOf(words, 9)).toHaveLength(0);
    expect(runsOf([], 2)).toHaveLength(0);
  });

  it('hardly ever meet', () => {
    const many = Array.from({ length: 20_000 }, (_, i) => `w${i}`);
    expect(new Set(runsOf(many, 8)).size).toBeGreaterThan(19_980);
    expect(new Set(many.map(hashText53)).size).toBe(20_000);
  });
});
