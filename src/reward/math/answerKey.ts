/** One text for one answer: equal for answers that say the same, as far as they can be evaluated. For counting votes. */
import { Budget, OutOfBudget } from './budget.js';
import { type Complex, isReal, NoValue } from './complex.js';
import { pointOf } from './equalNodes.js';
import { exactValue } from './exact.js';
import { merged, solvedChain } from './intervals.js';
import { difference, keyOf, mapNodes, type Node, number, someNode, variablesOf } from './node.js';
import { Evaluator } from './numeric.js';
import { plainForm, textForm } from './plainText.js';
import { bitLength, whole } from './rational.js';
import { readAnswer } from './readAnswer.js';
import { type Real, Uncertain, upper } from './real.js';
import type { Value } from './value.js';

const BUDGET = 6_000_000;
const BITS = 320;
/** Binary digits that a key holds. */
const KEY_BITS = 120;
const KEY_POINTS = [0, 2, 4, 6, 9];

/** Units, currency marks and the name before `=` are no part of the key: answers to one question share them. */
export function answerKey(text: string): string {
  const plain = plainForm(text);
  const value = readAnswer(plain);
  return value === undefined ? `text ${textForm(plain)}` : keyOfValue(value, new Budget(BUDGET));
}

function keyOfValue(value: Value, budget: Budget): string {
  switch (value.kind) {
    case 'quantity':
      return keyOfNode(value.node, budget);
    case 'infinity':
      return value.negative ? '-infinity' : 'infinity';
    case 'set':
    case 'list': {
      const keys = keysOf(value, budget);
      return keys.length === 1 && value.items[0]!.kind !== 'set' ? keys[0]! : `{${keys.join(', ')}}`;
    }
    case 'tuple': {
      const open = value.open === '⟨' || (value.open === '[' && value.items.length > 2) ? '(' : value.open;
      const close = value.close === '⟩' || (value.close === ']' && value.items.length > 2) ? ')' : value.close;
      return `${open}${value.items.map((item) => keyOfElement(item, budget)).join(', ')}${close}`;
    }
    case 'matrix':
      if (value.rows[0]!.length === 1) return `(${value.rows.map(([cell]) => keyOfNode(cell!, budget)).join(', ')})`;
      return `[${value.rows.map((row) => row.map((cell) => keyOfNode(cell, budget)).join(', ')).join('; ')}]`;
    case 'intervals':
      return merged(value.parts, budget)
        .map(({ low, high, lowClosed, highClosed }) => {
          const [from, to] = [
            low === undefined ? '-infinity' : keyOfNode(low, budget),
            high === undefined ? 'infinity' : keyOfNode(high, budget),
          ];
          return `${lowClosed ? '[' : '('}${from}, ${to}${highClosed ? ']' : ')'}`;
        })
        .sort()
        .join(' or ');
    case 'relation': {
      const solved = value.operators.length > 1 ? solvedChain(value, budget) : undefined;
      if (solved !== undefined) return keyOfValue(solved, budget);
      const [left, right] = value.sides;
      if (value.operators.length > 1) return value.sides.map((side, i) => keyOfNode(side, budget) + (value.operators[i] ?? '')).join('');
      return `${value.operators[0]} ${keyOfRatios(difference(right!, left!), value.operators[0] === '=', budget)}`;
    }
  }
}

/** A set inside a collection keeps its braces, one of a single element too. */
const keyOfElement = (value: Value, budget: Budget): string =>
  value.kind === 'set' ? `{${keysOf(value, budget).join(', ')}}` : keyOfValue(value, budget);

function keysOf(value: Extract<Value, { kind: 'set' | 'list' }>, budget: Budget): readonly string[] {
  const keys = value.items.map((item) => keyOfElement(item, budget)).sort();
  return value.kind === 'set' ? [...new Set(keys)] : keys;
}

function keyOfNode(node: Node, budget: Budget): string {
  try {
    const exact = exactValue(node, budget);
    if (typeof exact !== 'string') return exact.denominator === 1n ? `${exact.numerator}` : `${exact.numerator}/${exact.denominator}`;
    const names = [...variablesOf(node)];
    const values = valuesAt(node, names, budget).map((value) => (value === undefined ? '?' : keyOfComplex(value)));
    return values.every((value) => value === '?') ? keyOf(node) : `${names.length > 0 ? 'f' : ''}~${values.join(' ')}`;
  } catch (error) {
    if (error instanceof OutOfBudget) return keyOf(node);
    throw error;
  }
}

/** The values of an equation's sides apart, over the first of them: the same up to a factor. */
function keyOfRatios(node: Node, anySign: boolean, budget: Budget): string {
  try {
    const evaluator = new Evaluator(BITS, budget);
    const values = valuesAt(node, [...variablesOf(node)], budget);
    const first = values.find((value) => value !== undefined);
    if (first === undefined) return keyOf(node);
    const sign = anySign ? '' : first.re.m > 0n ? '+' : '-';
    return sign + values.map((value) => (value === undefined ? '?' : keyOfComplex(evaluator.arithmetic.divide(value, first)))).join(' ');
  } catch (error) {
    if (error instanceof OutOfBudget || error instanceof NoValue || error instanceof Uncertain) return keyOf(node);
    throw error;
  }
}

/** Undefined where there is no value; real parts only where the rest is 0. */
function valuesAt(node: Node, names: readonly string[], budget: Budget): (Complex | undefined)[] {
  const read = withDecimalLogs(node);
  return (names.length === 0 ? [0] : KEY_POINTS).map((index) => {
    try {
      return new Evaluator(BITS, budget).value(read, pointOf(names, index));
    } catch (error) {
      if (error instanceof NoValue || error instanceof Uncertain) return undefined;
      throw error;
    }
  });
}

const withDecimalLogs = (node: Node): Node =>
  someNode(node, (part) => part.kind === 'call' && part.name === 'log')
    ? mapNodes(node, (part) =>
        part.kind === 'call' && part.name === 'log' && part.args.length === 1
          ? { ...part, args: [...part.args, number(whole(10))] }
          : undefined,
      )
    : node;

function keyOfComplex(z: Complex): string {
  const [re, im] = [keyOfReal(z.re), isReal(z) ? '0' : keyOfReal(z.im)];
  return im === '0' ? re : `${re}+${im}i`;
}

function keyOfReal(x: Real): string {
  const length = bitLength(x.m);
  if (x.m === 0n || upper(x) < -KEY_BITS) return x.m === 0n || x.r > length + x.e - 10 ? '0' : rounded(x, length);
  return rounded(x, length);
}

function rounded(x: Real, length: number): string {
  const extra = length - KEY_BITS;
  const digits = extra > 0 ? (x.m + (1n << BigInt(extra - 1))) >> BigInt(extra) : x.m << BigInt(-extra);
  return `${digits.toString(36)}e${length + x.e}`;
}
