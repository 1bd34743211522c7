/** Matrices: environments of LaTeX, with a factor before them or brackets around, and lists of lists. */
import { MINUS_ONE, type Node, product } from './node.js';
import { parseExpression, parseRows } from './parseExpression.js';
import { isSign, outside } from './tokenSpans.js';
import type { Token } from './tokens.js';
import type { Value } from './value.js';

const MATRICES = /^\\begin (?:[pbB]?matrix|smallmatrix|array)$/;

export const bracketedMatrix = (tokens: readonly Token[], from: number, to: number): Value | undefined => {
  const matrix = readMatrix(tokens, from + 1, to - 1);
  return matrix?.kind === 'matrix' ? matrix : undefined;
};

/** `[[1, 2], [3, 4]]` as a matrix. */
export function rowsOf(items: readonly Value[]): Value | undefined {
  const rows: Node[][] = [];
  for (const item of items) {
    if (item.kind !== 'tuple' || item.open !== '[' || item.close !== ']') return undefined;
    const row: Node[] = [];
    for (const cell of item.items) {
      if (cell.kind !== 'quantity' || cell.unit !== '' || cell.label !== undefined) return undefined;
      row.push(cell.node);
    }
    rows.push(row);
  }
  return rows.length > 1 && rows.every((row) => row.length === rows[0]!.length) ? { kind: 'matrix', rows } : undefined;
}

export function readMatrix(tokens: readonly Token[], from: number, to: number): Value | undefined {
  const begin = outside(tokens, from, to, (token) => token.type === 'sign' && MATRICES.test(token.sign))[0];
  if (begin === undefined) return undefined;
  const matrix = parseRows(tokens, begin, to);
  if (matrix === undefined || matrix.end !== to || !matrix.rows.every((row) => row.length === matrix.rows[0]!.length)) return undefined;
  if (begin === from) return { kind: 'matrix', rows: matrix.rows };
  const sign = begin === from + 1 && isSign(tokens[from], '-');
  const scalar = sign ? { node: MINUS_ONE, end: begin } : parseExpression(tokens, from, begin);
  if (scalar === undefined || scalar.end !== begin) return undefined;
  return { kind: 'matrix', rows: matrix.rows.map((row) => row.map((cell) => product([scalar.node, cell]))) };
}
