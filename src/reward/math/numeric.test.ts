import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Budget } from './budget.js';
import type { Complex } from './complex.js';
import { type FunctionName, type Node, number } from './node.js';
import { Evaluator } from './numeric.js';
import { fromDigits, rational } from './rational.js';
import { type Real, upper } from './real.js';

const asDouble = ({ m, e }: Real): number => {
  const extra = Math.max(0, m.toString(2).length - 60);
  return Number(m >> BigInt(extra)) * 2 ** (e + extra);
};
const valueAt = (node: Node, bits: number): Complex => new Evaluator(bits, new Budget(1e12)).value(node, new Map());
const call = (name: FunctionName, ...args: Node[]): Node => ({ kind: 'call', name, args });

const MATH: readonly (readonly [FunctionName, (x: number) => number, low: number, high: number])[] = [
  ['sin', Math.sin, -50, 50],
  ['cos', Math.cos, -50, 50],
  ['tan', Math.tan, -1.5, 1.5],
  ['arcsin', Math.asin, -0.999, 0.999],
  ['arccos', Math.acos, -0.999, 0.999],
  ['arctan', Math.atan, -1000, 1000],
  ['exp', Math.exp, -100, 100],
  ['ln', Math.log, 1e-9, 1e9],
  ['sinh', Math.sinh, -20, 20],
  ['cosh', Math.cosh, -20, 20],
  ['tanh', Math.tanh, -3, 3],
];

describe('certain arithmetic', () => {
  it.each(MATH)('agrees with double precision on %s', (name, reference, low, high) => {
    fc.assert(
      fc.property(fc.double({ min: low, max: high, noNaN: true }), (x) => {
        const scaled = rational(BigInt(Math.round(x * 2 ** 40)), 2n ** 40n);
        const exact = Math.round(x * 2 ** 40) / 2 ** 40;
        const got = asDouble(valueAt(call(name, number(scaled)), 128).re);
        const expected = reference(exact);
        expect(Math.abs(got - expected)).toBeLessThanOrEqual(1e-12 * Math.max(Math.abs(expected), 1e-3));
      }),
      { numRuns: 60 },
    );
  });

  it('holds a value of higher precision within the error it states', () => {
    const piece: fc.Arbitrary<Node> = fc.letrec<{ node: Node }>((tie) => ({
      node: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.record({ kind: fc.constant('number' as const), value: fc.integer({ min: 1, max: 60 }).map((n) => rational(BigInt(n), 7n)) }),
        fc.constant<Node>({ kind: 'constant', name: 'pi' }),
        fc.tuple(tie('node'), tie('node')).map(([a, b]): Node => ({ kind: 'sum', terms: [a, b] })),
        fc.tuple(tie('node'), tie('node')).map(([a, b]): Node => ({ kind: 'product', factors: [a, b] })),
        fc.tuple(tie('node'), tie('node')).map(([a, b]): Node => ({ kind: 'quotient', numerator: a, denominator: b })),
        tie('node').map((radicand): Node => ({ kind: 'root', degree: 3, radicand })),
        fc.tuple(fc.constantFrom<FunctionName>('sin', 'cos', 'arctan', 'ln', 'tanh'), tie('node')).map(([name, a]) => call(name, a)),
      ),
    })).node;
    let compared = 0;
    fc.assert(
      fc.property(piece, (node) => {
        let rough: Complex;
        let fine: Complex;
        try {
          rough = valueAt(node, 80);
          fine = valueAt(node, 400);
        } catch {
          return;
        }
        compared++;
        const A = new Evaluator(600, new Budget(1e12)).arithmetic;
        for (const part of ['re', 'im'] as const) {
          const gap = A.real.subtract({ ...rough[part], r: -Infinity }, { ...fine[part], r: -Infinity });
          if (gap.m !== 0n) expect(upper(gap) - 2).toBeLessThanOrEqual(Math.max(rough[part].r, fine[part].r) + 1);
        }
      }),
      { numRuns: 400 },
    );
    expect(compared).toBeGreaterThan(200);
  });

  it('knows fifty digits of pi and e', () => {
    const digits = {
      pi: '3.14159265358979323846264338327950288419716939937510',
      e: '2.71828182845904523536028747135266249775724709369995',
    };
    for (const name of ['pi', 'e'] as const) {
      const [before, after] = digits[name].split('.') as [string, string];
      const A = new Evaluator(300, new Budget(1e9)).arithmetic;
      const gap = A.subtract(valueAt({ kind: 'constant', name }, 300), A.fromRational(fromDigits(before, after))).re;
      expect(upper(gap)).toBeLessThan(-160);
    }
  });
});
