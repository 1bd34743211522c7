import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Budget } from './budget.js';
import { merged } from './intervals.js';
import { number } from './node.js';
import { whole } from './rational.js';
import type { Interval } from './value.js';

/** Ends between whole numbers at half steps, so that membership can be asked at and between all of them. */
const interval = fc
  .tuple(fc.integer({ min: 0, max: 8 }), fc.integer({ min: 1, max: 4 }), fc.boolean(), fc.boolean(), fc.nat(9), fc.nat(9))
  .map(
    ([low, length, lowClosed, highClosed, noLow, noHigh]): Interval => ({
      low: noLow === 0 ? undefined : number(whole(low)),
      high: noHigh === 0 ? undefined : number(whole(low + length)),
      lowClosed: lowClosed && noLow !== 0,
      highClosed: highClosed && noHigh !== 0,
    }),
  );

const endOf = (end: Interval['low'], without: number): number => (end?.kind === 'number' ? Number(end.value.numerator) : without);

const holds = (parts: readonly Interval[], x: number): boolean =>
  parts.some((part) => {
    const [low, high] = [endOf(part.low, -Infinity), endOf(part.high, Infinity)];
    return (x > low || (x === low && part.lowClosed)) && (x < high || (x === high && part.highClosed));
  });

describe('merged intervals', () => {
  it('hold the same numbers, in order, with a gap between each two', () => {
    fc.assert(
      fc.property(fc.array(interval, { minLength: 1, maxLength: 6 }), (parts) => {
        const result = merged(parts, new Budget(1_000_000));
        for (let x = -1; x <= 14; x += 0.5) expect(holds(result, x), `${x}`).toBe(holds(parts, x));
        for (const [i, part] of result.entries()) {
          const before = result[i - 1];
          if (before === undefined) continue;
          const [end, start] = [endOf(before.high, Infinity), endOf(part.low, -Infinity)];
          expect(end < start || (end === start && !before.highClosed && !part.lowClosed)).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('stay as they are where an end is a variable, or the work runs out', () => {
    const parts: Interval[] = [
      { low: { kind: 'name', name: 'a' }, high: { kind: 'name', name: 'b' }, lowClosed: true, highClosed: true },
      { low: { kind: 'name', name: 'b' }, high: { kind: 'name', name: 'c' }, lowClosed: true, highClosed: true },
    ];
    expect(merged(parts, new Budget(1_000_000))).toBe(parts);
    const root = { kind: 'root', degree: 2, radicand: number(whole(2)) } as const;
    const roots: Interval[] = [1, 2].map(() => ({ low: undefined, high: root, lowClosed: false, highClosed: true }));
    expect(merged(roots, new Budget(0))).toBe(roots);
  });
});
