import { describe, expect, it } from 'vitest';
import { cutTexts } from './cutTexts.js';

describe('texts that are cut', () => {
  it('are named by their path, and never end in half a character', () => {
    const { value, cut } = cutTexts({ a: ['short', 'abc😀def'], n: 1, none: null }, 4);
    expect(value).toEqual({ a: ['shor', 'abc'], n: 1, none: null });
    expect(cut).toEqual([
      { what: 'a.0', length: 5 },
      { what: 'a.1', length: 8 },
    ]);
  });

  it('are bounded together too', () => {
    const { value, cut } = cutTexts(
      Array.from({ length: 10 }, () => 'abcd'),
      4,
      10,
    );
    expect(value.join('')).toBe('abcdabcdab');
    expect(cut).toHaveLength(8);
  });
});
