/** Sets of real numbers as they are read: intervals from brackets, from two conditions, from points taken out. */
import { Budget } from './budget.js';
import { exactValue } from './exact.js';
import { type Node, number, variablesOf } from './node.js';
import { orderOf } from './order.js';
import { compare } from './rational.js';
import type { Interval, Value } from './value.js';

/** For the few numbers whose order has to be known to read a text at all. */
const READ_BUDGET = 100_000;

/** `x > 3 and x < 5` as the interval between; undefined where that holds nothing, or may do so. */
export function between(items: readonly Value[]): Value | undefined {
  const halves = items.filter((item) => item.kind === 'intervals' && item.parts.length === 1) as Extract<Value, { kind: 'intervals' }>[];
  const low = halves.find(({ parts }) => parts[0]!.high === undefined);
  const high = halves.find(({ parts }) => parts[0]!.low === undefined);
  if (low === undefined || high === undefined || low === high || low.label !== high.label) return undefined;
  const [from, to] = [low.parts[0]!, high.parts[0]!];
  if (from.low === undefined || to.high === undefined || orderOf(from.low, to.high, new Budget(READ_BUDGET)) !== -1) return undefined;
  return { ...low, parts: [{ low: from.low, high: to.high, lowClosed: from.lowClosed, highClosed: to.highClosed }] };
}

/** An interval, a union of them, or a set of numbers as points. */
export function intervalsIn(value: Value): readonly Interval[] | undefined {
  if (value.kind === 'intervals') return value.label === undefined ? value.parts : undefined;
  if (value.kind === 'set') {
    const points = pointsIn(value);
    return points?.map((node) => ({ low: node, high: node, lowClosed: true, highClosed: true }));
  }
  const interval = value.kind === 'tuple' ? asInterval(value) : undefined;
  return interval && [interval];
}

export function pointsIn(set: Extract<Value, { kind: 'set' }>): readonly Node[] | undefined {
  const points = set.items.map((item) =>
    item.kind === 'quantity' && item.unit === '' && item.label === undefined && variablesOf(item.node).size === 0 ? item.node : undefined,
  );
  return points.every((point) => point !== undefined) ? points : undefined;
}

/** Everything but the points, which are in order. */
export const around = (points: readonly Node[]): readonly Interval[] =>
  [undefined, ...points].map((low, i) => ({ low, high: points[i], lowClosed: false, highClosed: false }));

/** All real numbers without the points of a set; undefined where their order is not known, or something else is taken from. */
export function withoutPoints([all, ...more]: readonly Interval[], set: Extract<Value, { kind: 'set' }>): Value | undefined {
  const points = pointsIn(set);
  if (more.length > 0 || all?.low !== undefined || all?.high !== undefined || points === undefined || points.length === 0) return undefined;
  if (points.length === 1) return union(around(points), undefined);
  const numbers = points.map((node) => {
    const value = exactValue(node, new Budget(READ_BUDGET));
    return typeof value === 'string' ? undefined : value;
  });
  if (!numbers.every((value) => value !== undefined)) return undefined;
  const ends = numbers.sort(compare).filter((value, i) => i === 0 || compare(value, numbers[i - 1]!) !== 0);
  return union(around(ends.map(number)), undefined);
}

export const union = (parts: readonly Interval[], label: string | undefined): Value => ({
  kind: 'intervals',
  parts,
  ...(label !== undefined && { label }),
});

/** Two numbers in brackets, read as the interval between them; infinity belongs to none. */
export function asInterval(tuple: Extract<Value, { kind: 'tuple' }>): Interval | undefined {
  if (tuple.items.length !== 2 || !'(['.includes(tuple.open) || !')]'.includes(tuple.close)) return undefined;
  const ends: (Node | undefined)[] = [];
  for (const [i, item] of tuple.items.entries()) {
    const closed = i === 0 ? tuple.open === '[' : tuple.close === ']';
    if (item.kind === 'infinity' && item.negative === (i === 0) && !closed) ends.push(undefined);
    else if (item.kind === 'quantity') ends.push(item.node);
    else return undefined;
  }
  return {
    low: ends[0],
    high: ends[1],
    lowClosed: tuple.open === '[',
    highClosed: tuple.close === ']',
  };
}
