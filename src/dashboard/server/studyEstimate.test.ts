import { describe, expect, it } from 'vitest';
import type { ArmResult } from '../../study/armResult.js';
import { madePlan, madeResults } from '../../study/testSupport.js';
import { estimateOf } from './studyEstimate.js';

const [some] = madeResults(madePlan(), 'wide', [0.5]);
/** Ended at this minute after so many. */
const result = (minute: number, minutes: number): ArmResult => ({
  ...some!,
  seconds: 60 * minutes,
  ended: new Date(Date.UTC(2026, 10, 20) + 60_000 * minute).toISOString(),
});
const TWO_BY_TWO = [result(2, 2), result(2.5, 2), result(4, 2), result(5, 2)];

describe('what a study may take still', () => {
  it('is the mean of what has ended, times what is left, over those side by side', () => {
    expect(estimateOf(TWO_BY_TWO, 10, 2)).toEqual({ seconds: 600, each: 120, of: 4, beside: 2 });
  });

  it('is not longer because one of a block runs alone, or none for a moment', () => {
    expect(estimateOf(TWO_BY_TWO, 10, 1)?.beside).toBe(2);
    expect(estimateOf(TWO_BY_TWO, 10, 0)?.beside).toBe(2);
    expect(estimateOf(TWO_BY_TWO, 1, 1)).toMatchObject({ seconds: 120, beside: 1 });
  });

  it('of one that does not run is told for one at a time', () => {
    expect(estimateOf(TWO_BY_TWO, 10, undefined)).toMatchObject({ seconds: 1200, beside: 1 });
  });

  it('is not known before anything has ended, and nothing when all has', () => {
    expect(estimateOf([], 10, 2)).toBeUndefined();
    expect(estimateOf(TWO_BY_TWO, 0, 0)).toBeUndefined();
    expect(estimateOf([{ ...some!, ended: 'nonsense' }], 3, 1)?.beside).toBe(1);
  });
});
