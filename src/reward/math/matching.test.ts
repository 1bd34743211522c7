import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Decision } from './equalNodes.js';
import { type Compared, matched } from './matching.js';
import { number } from './node.js';
import type { Question } from './question.js';
import { whole } from './rational.js';

const QUESTION: Question = { kind: 'same', a: number(whole(1)), b: number(whole(2)) };
const compared = (decision: Decision): Compared => (decision === 'undecided' ? { decision, open: [QUESTION] } : { decision });
const table =
  (rows: readonly (readonly Decision[])[]) =>
  (row: number, column: number): Compared =>
    compared(rows[row]![column]!);

/** Every way to give each row its own column. */
function someOrder(size: number, fits: (row: number, column: number) => boolean, row = 0, taken: ReadonlySet<number> = new Set()): boolean {
  if (row === size) return true;
  for (let column = 0; column < size; column++) {
    if (!taken.has(column) && fits(row, column) && someOrder(size, fits, row + 1, new Set([...taken, column]))) return true;
  }
  return false;
}

describe('matched', () => {
  it('finds a pairing where there is one, leaves open what the undecided cells could give, and denies the rest', () => {
    const decision = fc.constantFrom<Decision>('equal', 'different', 'undecided');
    const square = fc
      .integer({ min: 1, max: 4 })
      .chain((size) => fc.array(fc.array(decision, { minLength: size, maxLength: size }), { minLength: size, maxLength: size }));
    fc.assert(
      fc.property(square, (rows) => {
        const sure = someOrder(rows.length, (i, j) => rows[i]![j] === 'equal');
        const possible = someOrder(rows.length, (i, j) => rows[i]![j] !== 'different');
        const expected = sure ? 'equal' : possible ? 'undecided' : 'different';
        expect(matched(rows.length, rows.length, table(rows), false).decision).toBe(expected);
      }),
      { numRuns: 500 },
    );
  });

  it('lets elements of sets share an equal one, but leaves none without', () => {
    expect(matched(2, 1, table([['equal'], ['equal']]), true)).toEqual({ decision: 'equal' });
    expect(matched(2, 1, table([['equal'], ['equal']]), false)).toEqual({ decision: 'different' });
    expect(matched(1, 2, table([['equal', 'different']]), true)).toEqual({ decision: 'different' });
    expect(matched(0, 0, table([]), true)).toEqual({ decision: 'equal' });
  });

  it('asks with the whole table, and not where a cell cannot be asked or the table is large', () => {
    const rows: Decision[][] = [
      ['equal', 'undecided'],
      ['equal', 'different'],
    ];
    expect(matched(2, 2, table(rows), false)).toEqual({
      decision: 'undecided',
      open: [
        {
          kind: 'matching',
          cover: false,
          cells: [
            [true, [QUESTION]],
            [true, false],
          ],
        },
      ],
    });
    expect(matched(2, 2, (i, j) => ({ decision: rows[i]![j]! }), false)).toEqual({ decision: 'undecided' });
    expect(matched(9, 9, () => compared('undecided'), false)).toEqual({ decision: 'undecided' });
  });
});
