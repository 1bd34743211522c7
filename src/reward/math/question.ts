/** What the exact comparison leaves open, for whoever can settle it. Everything in a list of questions has to hold. */
import type { Node } from './node.js';

export type Question =
  /** Whether two expressions are equal. */
  | { readonly kind: 'same'; readonly a: Node; readonly b: Node }
  /** Whether a is a number other than 0 times b; a positive one for inequalities. */
  | { readonly kind: 'proportional'; readonly a: Node; readonly b: Node; readonly positive: boolean }
  /** Whether rows and columns can be paired off where cells hold; with `cover`, whether each row and each column has one at all. */
  | { readonly kind: 'matching'; readonly cells: readonly (readonly Cell[])[]; readonly cover: boolean };

export type Cell = boolean | readonly Question[];

/** The pairs of expressions in them. */
export function sizeOf(questions: readonly Question[]): number {
  let size = 0;
  for (const question of questions) {
    if (question.kind !== 'matching') size++;
    else for (const cell of question.cells.flat()) size += typeof cell === 'boolean' ? 0 : sizeOf(cell);
  }
  return size;
}
