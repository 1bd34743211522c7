/**
 * Sets of real numbers in one form: unions without parts that touch or overlap, and chains of inequalities solved for their variable. Where
 * an end is not known well enough, things stay as they are written.
 */
import type { Budget } from './budget.js';
import { equalNodes } from './equalNodes.js';
import { exactValue } from './exact.js';
import { difference, mapNodes, type Node, negated, number, product, quotient, sum, variablesOf } from './node.js';
import { orderOf, signOfNode } from './order.js';
import { ONE, ZERO } from './rational.js';
import type { Interval, Value } from './value.js';

/** The same numbers by as few intervals as possible, from low to high; as given where an order is unknown or a part holds nothing. */
export function merged(parts: readonly Interval[], budget: Budget): readonly Interval[] {
  if (parts.length < 2) return parts;
  let known = true;
  const order = (a: Node, b: Node): -1 | 0 | 1 => {
    const found = known ? orderOf(a, b, budget) : undefined;
    if (found === undefined) known = false;
    return found ?? 0;
  };
  for (const { low, high, lowClosed, highClosed } of parts) {
    if (low === undefined || high === undefined) continue;
    const ends = order(low, high);
    if (!known || ends > 0 || (ends === 0 && !(lowClosed && highClosed))) return parts;
  }
  const sorted = [...parts].sort((a, b) => {
    if (a.low === undefined || b.low === undefined) return Number(a.low !== undefined) - Number(b.low !== undefined);
    return order(a.low, b.low) || Number(b.lowClosed) - Number(a.lowClosed);
  });
  const result: Interval[] = [];
  for (const part of sorted) {
    const last = result[result.length - 1];
    const gap = last === undefined ? 1 : last.high === undefined || part.low === undefined ? -1 : order(part.low, last.high);
    if (last === undefined || gap > 0 || (gap === 0 && !part.lowClosed && !last.highClosed)) {
      result.push(part);
      continue;
    }
    const ends = last.high === undefined ? -1 : part.high === undefined ? 1 : order(part.high, last.high);
    if (ends > 0) result[result.length - 1] = { ...last, high: part.high, highClosed: part.highClosed };
    else if (ends === 0) result[result.length - 1] = { ...last, highClosed: last.highClosed || part.highClosed };
  }
  return known ? result : parts;
}

/** `2 < 2x < 6` as the interval that x lies in: a chain of inequalities, each linear in the same variable. Undefined for any other. */
export function solvedChain({ sides, operators }: Extract<Value, { kind: 'relation' }>, budget: Budget): Value | undefined {
  const names = [...new Set(sides.flatMap((side) => [...variablesOf(side)]))];
  const [name] = names;
  if (names.length !== 1 || name === undefined || !operators.every((operator) => operator === '<' || operator === '≤')) return undefined;
  let bounds: Interval = { low: undefined, high: undefined, lowClosed: false, highClosed: false };
  for (const [i, operator] of operators.entries()) {
    const half = halfLine(difference(sides[i + 1]!, sides[i]!), name, operator === '≤', budget);
    const both = half && intersection(bounds, half, budget);
    if (both === undefined) return undefined;
    bounds = both;
  }
  return { kind: 'intervals', parts: [bounds], label: name };
}

/** Where a * x + b is positive. */
function halfLine(node: Node, name: string, closed: boolean, budget: Budget): Interval | undefined {
  const at = (value: Node): Node => mapNodes(node, (part) => (part.kind === 'name' && part.name === name ? value : undefined));
  const offset = at(number(ZERO));
  const slope = difference(at(number(ONE)), offset);
  const sign = signOfNode(slope, budget);
  if (sign === undefined || sign === 0) return undefined;
  if (equalNodes(node, sum([product([slope, { kind: 'name', name }]), offset]), budget) !== 'equal') return undefined;
  const root = quotient(negated(offset), slope);
  const exact = exactValue(root, budget);
  const end = typeof exact === 'string' ? root : number(exact);
  return sign > 0
    ? { low: end, high: undefined, lowClosed: closed, highClosed: false }
    : { low: undefined, high: end, lowClosed: false, highClosed: closed };
}

/** Undefined where it is empty, or not known. */
function intersection(a: Interval, b: Interval, budget: Budget): Interval | undefined {
  const [low, lowClosed] = a.low === undefined ? [b.low, b.lowClosed] : [a.low, a.lowClosed];
  const [high, highClosed] = a.high === undefined ? [b.high, b.highClosed] : [a.high, a.highClosed];
  let result: Interval = { low, high, lowClosed, highClosed };
  if (a.low !== undefined && b.low !== undefined) {
    const order = orderOf(b.low, a.low, budget);
    if (order === undefined) return undefined;
    if (order > 0) result = { ...result, low: b.low, lowClosed: b.lowClosed };
    else if (order === 0) result = { ...result, lowClosed: a.lowClosed && b.lowClosed };
  }
  if (a.high !== undefined && b.high !== undefined) {
    const order = orderOf(b.high, a.high, budget);
    if (order === undefined) return undefined;
    if (order < 0) result = { ...result, high: b.high, highClosed: b.highClosed };
    else if (order === 0) result = { ...result, highClosed: a.highClosed && b.highClosed };
  }
  if (result.low === undefined || result.high === undefined) return result;
  const ends = orderOf(result.low, result.high, budget);
  return ends === -1 || (ends === 0 && result.lowClosed && result.highClosed) ? result : undefined;
}
