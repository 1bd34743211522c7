/** What sides with `=`, `<`, `∈` and the like between them say: a named value, intervals, or a relation that stays one. */
import { around, asInterval } from './intervalValue.js';
import { MINUS_ONE, mapNodes, type Node, number, someNode, variablesOf } from './node.js';
import { whole } from './rational.js';
import type { Operator, Value } from './value.js';

/** `x \in [0, 1]`, `(x, y) = (1, 2)`, `A = \{1, 2\}`: the right side, with the left as its name. */
export function named(left: Value, right: Value, membership: boolean): Value | undefined {
  const name = left.kind === 'quantity' && nameOf(left.node) !== undefined ? labelOf(left.node) : undefined;
  if (left.kind === 'tuple' && right.kind === 'tuple' && left.items.length === right.items.length) {
    const names = left.items.map((item) => (item.kind === 'quantity' ? nameOf(item.node) : undefined));
    return names.every((part) => part !== undefined) ? { ...right, label: names.join() } : undefined;
  }
  if (name === undefined || right.kind === 'infinity') return undefined;
  if (membership && right.kind === 'tuple') {
    const interval = asInterval(right);
    return interval === undefined ? undefined : { kind: 'intervals', parts: [interval], label: name };
  }
  if (right.kind === 'list') {
    return { kind: 'list', items: right.items.map((item) => (item.kind === 'quantity' ? { ...item, label: name } : item)) };
  }
  if (membership && right.kind !== 'intervals' && right.kind !== 'set') return undefined;
  return { ...right, label: name };
}

/** One variable, or a function of names: the left side that `x = …` and `f(x) = …` may have. */
function nameOf(node: Node): string | undefined {
  if (node.kind === 'name') return node.name;
  return node.kind === 'apply' && node.args.every(({ kind }) => kind === 'name') ? node.name : undefined;
}

/** What the name is called beside others: `f(x, y) = …` and `f(y, x) = …` say different things. */
const labelOf = (node: Node): string =>
  node.kind === 'apply' ? `${node.name}(${node.args.map((arg) => nameOf(arg)).join()})` : (nameOf(node) ?? '');

export function relation(sides: readonly Node[], operators: readonly Operator[], unit: string): Value | undefined {
  const [left, right] = sides;
  if (left === undefined || right === undefined) return undefined;
  if (sides.length === 2 && operators[0] === '=') {
    const expanded = bothSigns(sides);
    if (expanded !== undefined) {
      const items = expanded.map((pair) => relation(pair, operators, unit));
      return items.every((item) => item !== undefined) ? { kind: 'list', items } : undefined;
    }
    const leftName = nameOf(left);
    if (leftName !== undefined && !variablesOf(right).has(leftName) && right.kind !== 'constant') {
      return { kind: 'quantity', node: right, unit, label: labelOf(left) };
    }
    if (leftName !== undefined && right.kind === 'constant' && right.name !== 'infinity')
      return { kind: 'quantity', node: right, unit, label: labelOf(left) };
    const rightName = nameOf(right);
    if (rightName !== undefined && !variablesOf(left).has(rightName)) return { kind: 'quantity', node: left, unit, label: labelOf(right) };
  }
  if (someNodes(sides, ({ kind }) => kind === 'plusMinus')) return undefined;
  return intervalsOf(sides, operators) ?? (someNodes(sides, isInfinity) ? undefined : { kind: 'relation', sides, operators });
}

export const isInfinity = (node: Node): boolean => node.kind === 'constant' && node.name === 'infinity';

const someNodes = (nodes: readonly Node[], test: (node: Node) => boolean): boolean => nodes.some((node) => someNode(node, test));

/** Comparisons of one variable with numbers, as intervals: `1 < x ≤ 3`, `x ≠ 2`. */
function intervalsOf(sides: readonly Node[], operators: readonly Operator[]): Value | undefined {
  const label = sides.map((side) => (side.kind === 'name' ? side.name : undefined)).find((name) => name !== undefined);
  if (label === undefined || operators.some((operator) => operator === '=' || operator === '∈')) return undefined;
  const position = sides.findIndex((side) => side.kind === 'name');
  const others = sides.filter((_, i) => i !== position);
  if (others.some((side) => variablesOf(side).size > 0)) return undefined;
  if (operators.includes('≠')) {
    if (sides.length !== 2) return undefined;
    const [hole] = others;
    return { kind: 'intervals', label, parts: around([hole!]) };
  }
  if (sides.length > 3 || (sides.length === 3 && position !== 1)) return undefined;
  const below = position > 0 ? sides[position - 1] : undefined;
  const above = sides[position + 1];
  const bound = (node: Node | undefined): Node | undefined => (node !== undefined && isInfinity(plainSign(node)) ? undefined : node);
  return {
    kind: 'intervals',
    label,
    parts: [
      {
        low: bound(below),
        high: bound(above),
        lowClosed: bound(below) !== undefined && operators[position - 1] === '≤',
        highClosed: bound(above) !== undefined && operators[position] === '≤',
      },
    ],
  };
}

/** Without a leading minus. */
export const plainSign = (node: Node): Node =>
  node.kind === 'product' && node.factors[0] === MINUS_ONE && node.factors.length === 2 ? node.factors[1]! : node;

/** The two readings of `±`, all upper signs and all lower; undefined where there is none. */
export function bothSigns(nodes: readonly Node[]): readonly [readonly Node[], readonly Node[]] | undefined {
  if (!someNodes(nodes, ({ kind }) => kind === 'plusMinus')) return undefined;
  const read = (lower: boolean): readonly Node[] =>
    nodes.map((node) => mapNodes(node, (part) => (part.kind === 'plusMinus' ? number(whole(part.turned === lower ? 1 : -1)) : undefined)));
  return [read(false), read(true)];
}
