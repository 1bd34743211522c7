import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { editDistance, nearest } from './nearest.js';

describe('nearest known word', () => {
  it('counts insertions, deletions, replacements and swaps', () => {
    expect(['stpes', 'step', 'stepss', 'stops', 'steps'].map((word) => editDistance(word, 'steps'))).toEqual([1, 1, 1, 1, 0]);
    expect(editDistance('', 'abc')).toBe(3);
  });

  it('is symmetric, and zero for equal words alone', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 8 }), fc.string({ maxLength: 8 }), (a, b) => {
        expect(editDistance(a, b)).toBe(editDistance(b, a));
        expect(editDistance(a, b) === 0).toBe(a === b);
      }),
    );
  });

  it('overlooks case and separators, and suggests nothing far away', () => {
    expect(nearest('group_size', ['groupSize', 'groupsPerStep'])).toBe('groupSize');
    expect(nearest('CLIP-HIGH', ['clipLow', 'clipHigh'])).toBe('clipHigh');
    expect(nearest('xyz', ['steps', 'epochs'])).toBeUndefined();
    expect(nearest('steps', [])).toBeUndefined();
  });
});
