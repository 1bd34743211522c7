import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { studentCdf, studentQuantile, studentTail } from './student.js';
import { type ClaimReading, holm, pairedDifference, type Reading, readDifference, readParts, verdicts } from './verdict.js';

describe("Student's t", () => {
  it('has the quantiles of the tables', () => {
    const tables: [number, number, number][] = [
      [0.975, 1, 12.7062047362],
      [0.975, 5, 2.5705818366],
      [0.975, 7, 2.3646242516],
      [0.995, 10, 3.1692726726],
      [0.9, 30, 1.3104150254],
      [0.975, 1000, 1.9623390808],
    ];
    for (const [p, df, t] of tables) expect(studentQuantile(p, df)).toBeCloseTo(t, 8);
  });

  it('is symmetric, rises, and keeps small tails', () => {
    fc.assert(
      fc.property(fc.double({ min: -50, max: 50, noNaN: true }), fc.integer({ min: 1, max: 60 }), (t, df) => {
        expect(studentCdf(t, df) + studentCdf(-t, df)).toBeCloseTo(1, 12);
        expect(studentCdf(t + 0.1, df)).toBeGreaterThanOrEqual(studentCdf(t, df));
      }),
    );
    expect(studentTail(20, 7)).toBeCloseTo(9.7e-8, 8);
    expect(studentTail(Number.POSITIVE_INFINITY, 3)).toBe(0);
  });
});

const reading = (differences: number[], margin = 5): Reading['says'] => readDifference(pairedDifference(differences), margin).says;

describe('a paired difference', () => {
  it('has the interval of the textbook', () => {
    const { mean, interval } = pairedDifference([4, 6, 8, 10]);
    expect(mean).toBe(7);
    // 3.182446 * 2.581989 / 2
    expect(interval[0]).toBeCloseTo(7 - 4.10852, 4);
    expect(interval[1]).toBeCloseTo(7 + 4.10852, 4);
  });

  it('supports only beyond the margin, contradicts below 0, and has no material effect inside', () => {
    expect(reading([10, 11, 9, 10, 12, 10])).toBe('supported');
    expect(reading([-10, -11, -9, -10, -12, -10])).toBe('contradicted');
    expect(reading([1, -1, 0, 2, -2, 0])).toBe('noMaterialEffect');
    expect(reading([-2, -1.9, -2.1, -2, -2, -2])).toBe('noMaterialEffect');
    expect(reading([3, 4, 9, 5, 7, 4])).toBe('undecided');
    expect(reading([20, -20, 15, -10, 30, -8])).toBe('undecided');
  });

  it('says nothing from one block, nor where nothing tells how it scatters', () => {
    expect(reading([50])).toBe('undecided');
    expect(reading([6, 6, 6])).toBe('undecided');
    expect(reading([0, 0, 0])).toBe('undecided');
    expect(reading([0.1 + 0.2, 0.3, 0.3])).toBe('undecided');
  });

  it('agrees with its interval', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: -20, max: 20, noNaN: true }), { minLength: 3, maxLength: 12 }), (differences) => {
        const paired = pairedDifference(differences);
        const [low, high] = paired.interval;
        const edges = [low - 5, high, low + 5, high - 5];
        fc.pre(paired.deviation > 1e-6 && edges.every((edge) => Math.abs(edge) > 1e-9));
        const { says } = readDifference(paired, 5);
        const inside = low > -5 && high < 5;
        const expected = inside ? 'noMaterialEffect' : low > 5 ? 'supported' : high < 0 ? 'contradicted' : 'undecided';
        expect(says).toBe(expected);
      }),
    );
  });
});

describe('a claim of several parts', () => {
  const part = (says: Reading['says'], p: number): Reading => ({ says, p });
  it('needs all of them, at the weakest level', () => {
    expect(readParts([part('supported', 0.001), part('supported', 0.03)])).toEqual(part('supported', 0.03));
    expect(readParts([part('supported', 0.001), part('noMaterialEffect', 0.001)]).says).toBe('undecided');
  });
  it('is contradicted by one, which pays for being chosen among them', () => {
    expect(readParts([part('supported', 0.001), part('contradicted', 0.01)])).toEqual(part('contradicted', 0.02));
  });
});

describe('the claims of a study', () => {
  const claim = (id: string, p: number, more: Partial<ClaimReading> = {}): ClaimReading => ({
    id,
    reading: { says: 'supported', p },
    blocks: 8,
    checked: true,
    ...more,
  });

  it("are judged together by Holm's procedure", () => {
    expect(holm([0.01, 0.04, 0.03])).toEqual([0.03, 0.06, 0.06]);
    const judged = verdicts([claim('a', 0.01), claim('b', 0.04), claim('c', 0.03)]);
    expect(judged.map(({ outcome }) => outcome)).toEqual(['supported', 'undecided', 'undecided']);
  });

  it('are exploratory with fewer than 6 blocks, not tested where a check failed, and neither counts among the others', () => {
    const judged = verdicts([claim('a', 0.02), claim('b', 0.001, { blocks: 5 }), claim('c', 0.001, { checked: false })]);
    expect(judged).toEqual([
      { id: 'a', outcome: 'supported', adjusted: 0.02 },
      { id: 'b', outcome: 'exploratory' },
      { id: 'c', outcome: 'notTested' },
    ]);
  });

  it('keep the chance of a false verdict where nothing is there (simulated)', () => {
    // 400 studies of 5 claims over 8 blocks, the true difference 0 and large noise: no verdict but "undecided" is right to call "supported".
    let state = 7;
    const uniform = (): number => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return (state + 0.5) / 2 ** 32;
    };
    const normal = (): number => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
    let wrong = 0;
    for (let study = 0; study < 400; study++) {
      const claims = Array.from({ length: 5 }, (_, i) => {
        const differences = Array.from({ length: 8 }, () => 12 * normal());
        return { ...claim(String(i), 1), reading: readDifference(pairedDifference(differences), 5) };
      });
      if (verdicts(claims).some(({ outcome }) => outcome === 'supported' || outcome === 'contradicted')) wrong++;
    }
    expect(wrong / 400).toBeLessThan(0.05);
  });
});
