/**
 * Pairs off the elements of two collections, whatever the order. Knows elements by their number only: how two of them compare, the caller
 * says, once for each two that are looked at.
 */
import type { Decision } from './equalNodes.js';
import { type Cell, type Question, sizeOf } from './question.js';

/** How two elements compare; `open` where they are undecided and that can be asked. */
export interface Compared {
  readonly decision: Decision;
  readonly open?: readonly Question[];
}

/** Larger tables are not asked about. */
const MAX_ROWS = 6;
const MAX_QUESTIONS = 16;

/**
 * @param cover as sets: each element needs an equal one on the other side, and may share it; else each has its own
 */
export function matched(rows: number, columns: number, compare: (row: number, column: number) => Compared, cover: boolean): Compared {
  if (!cover && rows !== columns) return { decision: 'different' };
  const known = new Map<number, Compared>();
  const cell = (row: number, column: number): Compared => {
    const key = row * columns + column;
    let found = known.get(key);
    if (found === undefined) {
      found = compare(row, column);
      known.set(key, found);
    }
    return found;
  };
  const fits = cover ? isCovered : canPairOff;
  if (fits(rows, columns, (row, column) => cell(row, column).decision === 'equal')) return { decision: 'equal' };
  if (!fits(rows, columns, (row, column) => cell(row, column).decision !== 'different')) return { decision: 'different' };
  if (rows > MAX_ROWS || columns > MAX_ROWS) return { decision: 'undecided' };
  const cells: Cell[][] = [];
  for (let row = 0; row < rows; row++) {
    const line: Cell[] = [];
    for (let column = 0; column < columns; column++) {
      const { decision, open } = cell(row, column);
      if (decision !== 'undecided') line.push(decision === 'equal');
      else if (open === undefined) return { decision };
      else line.push(open);
    }
    cells.push(line);
  }
  const question: Question = { kind: 'matching', cells, cover };
  return sizeOf([question]) > MAX_QUESTIONS ? { decision: 'undecided' } : { decision: 'undecided', open: [question] };
}

type Fits = (row: number, column: number) => boolean;

function isCovered(rows: number, columns: number, fits: Fits): boolean {
  const all = (count: number, test: (i: number) => boolean): boolean => {
    for (let i = 0; i < count; i++) if (!test(i)) return false;
    return true;
  };
  const some = (count: number, test: (i: number) => boolean): boolean => !all(count, (i) => !test(i));
  return (
    all(rows, (row) => some(columns, (column) => fits(row, column))) && all(columns, (column) => some(rows, (row) => fits(row, column)))
  );
}

/** Whether each row has a column of its own, by augmenting paths. */
function canPairOff(rows: number, columns: number, fits: Fits): boolean {
  const rowOf = new Map<number, number>();
  const place = (row: number, tried: Set<number>): boolean => {
    for (let column = 0; column < columns; column++) {
      if (tried.has(column) || !fits(row, column)) continue;
      tried.add(column);
      const holder = rowOf.get(column);
      if (holder === undefined || place(holder, tried)) {
        rowOf.set(column, row);
        return true;
      }
    }
    return false;
  };
  for (let row = 0; row < rows; row++) if (!place(row, new Set())) return false;
  return true;
}
