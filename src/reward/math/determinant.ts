/** Determinants, written out by the first row. */
import { MINUS_ONE, type Node, product, sum } from './node.js';

/** @param rows as many as each has cells; small, since the work grows with the factorial */
export function determinant(rows: readonly (readonly Node[])[]): Node {
  if (rows.length === 1) return rows[0]![0]!;
  return sum(
    rows[0]!.map((cell, column) => {
      const minor = determinant(rows.slice(1).map((row) => row.filter((_, i) => i !== column)));
      return column % 2 === 0 ? product([cell, minor]) : product([MINUS_ONE, cell, minor]);
    }),
  );
}
