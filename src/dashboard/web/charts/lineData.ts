/** Lines of a chart as columns over one x, the form in which they are drawn; and what a person is told of them. Pure; typed arrays where it can be. */

export interface LinePoints {
  readonly x: ArrayLike<number>;
  /** What is drawn strongly. */
  readonly y: ArrayLike<number>;
  /** Drawn faintly behind it: the values before smoothing. */
  readonly faint?: ArrayLike<number>;
  /** Least and most where a point stands for many. */
  readonly low?: ArrayLike<number>;
  readonly high?: ArrayLike<number>;
}

export type Column = Float64Array | (number | null)[];

export interface Columns {
  readonly x: Float64Array;
  /** Of each line in order: low, high, faint where it has them, then y. */
  readonly columns: readonly Column[];
}

/** Which columns each line has, in order; equal shapes can be drawn by one chart. */
export const shapeOf = (lines: readonly LinePoints[]): string => lines.map((line) => columnsOf(line).length).join();

const columnsOf = ({ low, high, faint, y }: LinePoints): readonly ArrayLike<number>[] =>
  [low, high, faint, y].filter((column) => column !== undefined);

/** All lines over the union of their x. Where a line has no point there, null. With `log`, what is not above 0 is null. */
export function joined(lines: readonly LinePoints[], { log = false } = {}): Columns {
  const first = lines[0];
  if (first === undefined) return { x: new Float64Array(0), columns: [] };
  const shared = lines.every(({ x }) => same(x, first.x));
  const x = shared ? typed(first.x) : union(lines.map((line) => line.x));
  const columns = lines.flatMap((line) => columnsOf(line).map((column) => (shared ? typed(column) : spread(x, line.x, column))));
  return { x, columns: log ? columns.map(positive) : columns };
}

/** Each line on top of those before it; all over the x of the longest, a line without a point there adds nothing. */
export function stacked(lines: readonly LinePoints[]): Columns {
  const x = union(lines.map((line) => line.x));
  let below = new Float64Array(x.length);
  const columns: Column[] = [];
  for (const line of lines) {
    const own = spread(x, line.x, line.y);
    const top = below.map((value, i) => value + (own[i] ?? 0));
    columns.push(top);
    below = top;
  }
  return { x, columns };
}

/**
 * A decimated line in sight as about `most` points, neighbours merged: their mean, with the least and the most. Other lines stay as they are.
 */
export function thinned(line: LinePoints, most: number, from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY): LinePoints {
  const { x, y, low, high, faint } = line;
  if (low === undefined || high === undefined) return line;
  let first = 0;
  let end = x.length;
  // one point beyond either side: lines go on out of sight
  while (first + 1 < end && x[first + 1]! < from) first++;
  while (end - 2 >= first && x[end - 2]! > to) end--;
  const each = Math.ceil((end - first) / Math.max(1, most));
  if (each <= 1) return line;
  const n = Math.ceil((end - first) / each);
  const column = (): Float64Array => new Float64Array(n);
  const merged = { x: column(), y: column(), low: column(), high: column(), faint: column() };
  for (let i = 0; i < n; i++) {
    const start = first + i * each;
    const stop = Math.min(end, start + each);
    let [sum, faintSum, least, greatest] = [0, 0, low[start]!, high[start]!];
    for (let j = start; j < stop; j++) {
      sum += y[j]!;
      faintSum += faint?.[j] ?? 0;
      if (low[j]! < least) least = low[j]!;
      if (high[j]! > greatest) greatest = high[j]!;
    }
    merged.x[i] = x[stop - 1]!;
    merged.y[i] = sum / (stop - start);
    merged.faint[i] = faintSum / (stop - start);
    merged.low[i] = least;
    merged.high[i] = greatest;
  }
  const { faint: faintMerged, ...rest } = merged;
  return faint === undefined ? rest : { ...rest, faint: faintMerged };
}

function same(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

const typed = (values: ArrayLike<number>): Float64Array => (values instanceof Float64Array ? values : Float64Array.from(values));

/** Ascending, each value once. Every list is ascending. */
export function union(lists: readonly ArrayLike<number>[]): Float64Array {
  let all: Float64Array = typed(lists[0] ?? []);
  for (const list of lists.slice(1)) {
    if (same(list, all)) continue;
    const merged = new Float64Array(all.length + list.length);
    let n = 0;
    for (let i = 0, j = 0; i < all.length || j < list.length; ) {
      const next = j >= list.length || (i < all.length && all[i]! <= list[j]!) ? all[i++]! : list[j++]!;
      if (n === 0 || merged[n - 1] !== next) merged[n++] = next;
    }
    all = merged.subarray(0, n);
  }
  return all;
}

function spread(x: Float64Array, own: ArrayLike<number>, values: ArrayLike<number>): (number | null)[] {
  const column: (number | null)[] = new Array(x.length).fill(null);
  for (let i = 0, j = 0; i < x.length && j < own.length; i++) if (x[i] === own[j]) column[i] = values[j++]!;
  return column;
}

function positive(column: Column): Column {
  for (let i = 0; i < column.length; i++) {
    const value = column[i];
    if (value != null && value <= 0) return Array.from(column, (each) => (each != null && each > 0 ? each : null));
  }
  return column;
}

/** Index of the point nearest to `at`; -1 without any. */
export function nearest(x: ArrayLike<number>, at: number): number {
  if (x.length === 0) return -1;
  let from = 0;
  let to = x.length - 1;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (x[middle]! < at) from = middle + 1;
    else to = middle;
  }
  return from > 0 && at - x[from - 1]! <= x[from]! - at ? from - 1 : from;
}

export interface Extent {
  readonly last: number;
  readonly min: number;
  readonly max: number;
  readonly minAt: number;
  readonly maxAt: number;
}

/** Over the values themselves, least and most of buckets included; undefined without any. `from` and `to` narrow x. */
export function extentOf(line: LinePoints, from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY): Extent | undefined {
  const { x, low, high } = line;
  const own = line.faint ?? line.y;
  let found: { last: number; min: number; max: number; minAt: number; maxAt: number } | undefined;
  for (let i = 0; i < x.length; i++) {
    const at = x[i]!;
    if (at < from || at > to) continue;
    const least = low?.[i] ?? own[i]!;
    const most = high?.[i] ?? own[i]!;
    found ??= { last: own[i]!, min: least, max: most, minAt: at, maxAt: at };
    found.last = own[i]!;
    if (least < found.min) [found.min, found.minAt] = [least, at];
    if (most > found.max) [found.max, found.maxAt] = [most, at];
  }
  return found;
}

/** Linear between points, the ends held. Both ascending in x. */
export function interpolate(x: ArrayLike<number>, y: ArrayLike<number>, at: number): number {
  const n = x.length;
  if (n === 0) return Number.NaN;
  if (at <= x[0]!) return y[0]!;
  if (at >= x[n - 1]!) return y[n - 1]!;
  let i = nearest(x, at);
  if (x[i]! > at) i--;
  const share = (at - x[i]!) / (x[i + 1]! - x[i]!);
  return y[i]! + (y[i + 1]! - y[i]!) * share;
}

/** At most `most` indices of a list of `length`, evenly, the first and the last among them. */
export function sampledIndices(length: number, most: number): readonly number[] {
  if (length <= most) return Array.from({ length }, (_, i) => i);
  return Array.from({ length: most }, (_, i) => Math.round((i * (length - 1)) / (most - 1)));
}
