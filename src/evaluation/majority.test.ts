import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { majorityAtK, type Votes } from './majority.js';

/** All subsets of k of the indices below n. */
function subsets(n: number, k: number): number[][] {
  if (k === 0) return [[]];
  return Array.from({ length: n }, (_, i) => i).flatMap((last) => subsets(last, k - 1).map((rest) => [...rest, last]));
}

/** By looking at every subset. */
function enumerated(votes: Votes, k: number): number {
  const cast = [
    ...Array.from({ length: votes.right }, () => 'right'),
    ...votes.wrong.flatMap((size, i) => Array.from({ length: size }, () => `wrong ${i}`)),
    ...Array.from({ length: votes.silent }, () => undefined),
  ];
  const all = subsets(cast.length, k);
  let sum = 0;
  for (const subset of all) {
    const counts = new Map<string, number>();
    for (const i of subset) if (cast[i] !== undefined) counts.set(cast[i], (counts.get(cast[i]) ?? 0) + 1);
    const most = Math.max(0, ...counts.values());
    if (most > 0 && counts.get('right') === most) sum += 1 / [...counts.values()].filter((count) => count === most).length;
  }
  return sum / all.length;
}

describe('maj@k', () => {
  it('equals the mean over all subsets of k samples', () => {
    const votes = fc.record({
      right: fc.integer({ min: 0, max: 4 }),
      wrong: fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 3 }),
      silent: fc.integer({ min: 0, max: 2 }),
    });
    fc.assert(
      fc.property(votes, (drawn) => {
        const n = drawn.right + drawn.silent + drawn.wrong.reduce((a, b) => a + b, 0);
        for (let k = 1; k <= n; k++) expect(majorityAtK(drawn, k)).toBeCloseTo(enumerated(drawn, k), 10);
      }),
      { numRuns: 150 },
    );
  });

  it('is the share of right votes at k = 1, and the vote itself at k = n', () => {
    expect(majorityAtK({ right: 3, wrong: [2, 2], silent: 1 }, 1)).toBeCloseTo(3 / 8, 12);
    expect(majorityAtK({ right: 3, wrong: [2, 2], silent: 1 }, 8)).toBe(1);
    expect(majorityAtK({ right: 2, wrong: [2, 2], silent: 0 }, 6)).toBeCloseTo(1 / 3, 14);
    expect(majorityAtK({ right: 2, wrong: [3], silent: 0 }, 5)).toBe(0);
  });

  it('stays exact for many samples of many answers', () => {
    // n right ones and one wrong one: a draw of k < n + 1 is lost to a tie only at k = 1 and 2
    expect(majorityAtK({ right: 999, wrong: [1], silent: 0 }, 500)).toBeCloseTo(1, 9);
    expect(majorityAtK({ right: 999, wrong: [1], silent: 0 }, 2)).toBeCloseTo(1 - (2 / 1000) * (1 / 2), 9);
    // equal halves: by symmetry
    expect(majorityAtK({ right: 128, wrong: [128], silent: 0 }, 64)).toBeCloseTo(0.5, 9);
    // one right vote among 512 different answers: whoever is drawn shares the lead with all others
    expect(majorityAtK({ right: 1, wrong: Array.from({ length: 511 }, () => 1), silent: 0 }, 256)).toBeCloseTo(1 / 512, 12);
  });

  it('does not let silent samples vote', () => {
    expect(majorityAtK({ right: 1, wrong: [], silent: 3 }, 4)).toBe(1);
    expect(majorityAtK({ right: 1, wrong: [], silent: 3 }, 2)).toBeCloseTo(1 / 2, 12);
    expect(majorityAtK({ right: 0, wrong: [], silent: 3 }, 2)).toBe(0);
  });

  it('refuses a k that was not sampled', () => {
    expect(() => majorityAtK({ right: 1, wrong: [1], silent: 0 }, 3)).toThrow('maj@3 cannot be told from 2 samples');
    expect(() => majorityAtK({ right: 1, wrong: [1], silent: 0 }, 0)).toThrow(RangeError);
  });
});
