/**
 * The exact value of an expression that is a rational number, as far as it can be written out: powers, factorials and sums are bounded in
 * size, not in notation. Knows nothing of irrational values: see `numeric.ts`.
 */
import type { Budget } from './budget.js';
import type { Node } from './node.js';
import {
  add,
  bitLength,
  compare,
  equalRationals,
  floor,
  gcd,
  inverse,
  isWhole,
  multiply,
  negate,
  ONE,
  type Rational,
  raise,
  sizeInBits,
  whole,
  ZERO,
} from './rational.js';

/** `noValue`: a division by zero or the like. `unknown`: not rational, has variables, or too large to write out. */
export type Exact = Rational | 'noValue' | 'unknown';

const MAX_BITS = 100_000;
const MAX_FACTORIAL = 4_000n;
const MAX_TERMS = 5_000n;

export type Values = ReadonlyMap<string, Rational>;
const NO_VALUES: Values = new Map();

export function exactValue(node: Node, budget: Budget, values: Values = NO_VALUES): Exact {
  switch (node.kind) {
    case 'number':
      return node.value;
    case 'name':
      return values.get(node.name) ?? 'unknown';
    case 'sum':
      return fold(node.terms, ZERO, add, budget, values);
    case 'product':
      return fold(node.factors, ONE, multiply, budget, values);
    case 'quotient': {
      const numerator = exactValue(node.numerator, budget, values);
      const denominator = exactValue(node.denominator, budget, values);
      if (denominator === 'noValue' || numerator === 'noValue') return 'noValue';
      if (denominator === 'unknown') return 'unknown';
      const turned = inverse(denominator);
      if (turned === undefined) return 'noValue';
      if (numerator === 'unknown') return 'unknown';
      return bounded(numerator, turned, multiply, budget);
    }
    case 'power':
      return powerOf(exactValue(node.base, budget, values), exactValue(node.exponent, budget, values), budget);
    case 'root': {
      const radicand = exactValue(node.radicand, budget, values);
      return typeof radicand === 'string' ? radicand : rootOf(radicand, node.degree, budget);
    }
    case 'call': {
      const args: Rational[] = [];
      for (const arg of node.args) {
        const value = exactValue(arg, budget, values);
        if (typeof value === 'string') return value;
        args.push(value);
      }
      return callOf(node.name, args, budget);
    }
    case 'series':
      return seriesOf(node, budget, values);
    default:
      return 'unknown';
  }
}

function fold(
  nodes: readonly Node[],
  start: Rational,
  combine: (a: Rational, b: Rational) => Rational,
  budget: Budget,
  values: Values,
): Exact {
  let result = start;
  let unknown = false;
  for (const node of nodes) {
    const value = exactValue(node, budget, values);
    if (value === 'noValue') return 'noValue';
    if (value === 'unknown') unknown = true;
    else if (!unknown) {
      const next = bounded(result, value, combine, budget);
      if (typeof next === 'string') unknown = true;
      else result = next;
    }
  }
  return unknown ? 'unknown' : result;
}

function bounded(a: Rational, b: Rational, combine: (a: Rational, b: Rational) => Rational, budget: Budget): Exact {
  const bits = sizeInBits(a) + sizeInBits(b);
  if (bits > 2 * MAX_BITS) return 'unknown';
  const words = bits / 64;
  budget.spend(isWhole(a) && isWhole(b) ? 10 + (words * words) / 64 : 50 + 20 * words * words + 200 * words);
  return combine(a, b);
}

function powerOf(base: Exact, exponent: Exact, budget: Budget): Exact {
  if (base === 'noValue' || exponent === 'noValue') return 'noValue';
  if (base === 'unknown' || exponent === 'unknown') return 'unknown';
  if (equalRationals(base, ONE)) return ONE;
  if (base.numerator === 0n) {
    if (exponent.numerator < 0n) return 'noValue';
    return exponent.numerator === 0n ? 'noValue' : ZERO;
  }
  if (!isWhole(exponent)) {
    if (exponent.denominator > 64n) return 'unknown';
    const root = rootOf(base, Number(exponent.denominator), budget);
    return typeof root === 'string' ? root : powerOf(root, whole(exponent.numerator), budget);
  }
  if (isWhole(base) && base.numerator === -1n) return exponent.numerator % 2n === 0n ? ONE : base;
  const size = exponent.numerator < 0n ? -exponent.numerator : exponent.numerator;
  if (size > BigInt(MAX_BITS) || sizeInBits(base) * Number(size) > MAX_BITS) return 'unknown';
  const words = (sizeInBits(base) * Number(size)) / 64;
  budget.spend(20 + (words * words) / 16);
  const raised = raise(base, Number(size));
  return exponent.numerator < 0n ? (inverse(raised) ?? 'noValue') : raised;
}

/** The real root where it is rational. */
function rootOf(value: Rational, degree: number, budget: Budget): Exact {
  if (value.numerator < 0n) {
    if (degree % 2 === 0) return 'unknown';
    const root = rootOf(negate(value), degree, budget);
    return typeof root === 'string' ? root : negate(root);
  }
  const words = sizeInBits(value) / 64;
  budget.spend(50 + words * words * 4);
  const numerator = wholeRoot(value.numerator, degree);
  if (numerator ** BigInt(degree) !== value.numerator) return 'unknown';
  const denominator = wholeRoot(value.denominator, degree);
  return denominator ** BigInt(degree) === value.denominator ? { numerator, denominator } : 'unknown';
}

/** Rounded down. @param value at least 0 */
export function wholeRoot(value: bigint, degree: number): bigint {
  if (value < 2n || degree === 1) return value;
  const size = BigInt(degree);
  let guess = 1n << BigInt(Math.ceil((bitLength(value) + 1) / degree) + 1);
  for (;;) {
    const next = ((size - 1n) * guess + value / guess ** (size - 1n)) / size;
    if (next >= guess) return guess;
    guess = next;
  }
}

function callOf(name: string, args: readonly Rational[], budget: Budget): Exact {
  const [first, second] = args;
  if (first === undefined) return 'unknown';
  switch (name) {
    case 'abs':
      return args.length > 1 ? 'unknown' : first.numerator < 0n ? negate(first) : first;
    case 'floor':
      return whole(floor(first));
    case 'ceil':
      return whole(-floor(negate(first)));
    case 'factorial':
    case 'doubleFactorial':
      return isWhole(first) ? factorial(first.numerator, name === 'factorial' ? 1n : 2n, budget) : 'unknown';
    case 'binomial':
      return second !== undefined && isWhole(first) && isWhole(second) ? binomial(first.numerator, second.numerator, budget) : 'unknown';
    case 'gcd':
    case 'lcm': {
      if (!args.every(isWhole)) return 'unknown';
      const numbers = args.map(({ numerator }) => (numerator < 0n ? -numerator : numerator));
      for (const n of numbers) budget.spend(6 * (bitLength(n) / 64) ** 2 + 50);
      if (name === 'gcd') return whole(numbers.reduce(gcd));
      if (numbers.includes(0n)) return ZERO;
      return numbers.reduce((bits, n) => bits + bitLength(n), 0) > MAX_BITS
        ? 'unknown'
        : whole(numbers.reduce((a, b) => (a / gcd(a, b)) * b));
    }
    case 'max':
      return args.reduce((a, b) => (compare(a, b) >= 0 ? a : b));
    case 'min':
      return args.reduce((a, b) => (compare(a, b) <= 0 ? a : b));
    default:
      return 'unknown';
  }
}

function factorial(n: bigint, step: bigint, budget: Budget): Exact {
  if (n < 0n) return 'noValue';
  if (n > MAX_FACTORIAL) return 'unknown';
  budget.spend(20 + Number(n) * Number(n) * 0.02);
  let result = 1n;
  for (let k = n; k > 1n; k -= step) result *= k;
  return whole(result);
}

function binomial(n: bigint, k: bigint, budget: Budget): Exact {
  if (n < 0n) return 'unknown';
  if (k < 0n || k > n) return ZERO;
  const steps = k < n - k ? k : n - k;
  if (steps > MAX_FACTORIAL || Number(steps) * bitLength(n) > MAX_BITS) return 'unknown';
  budget.spend(20 + Number(steps) * (20 + Number(steps) * 0.05));
  let result = 1n;
  for (let i = 1n; i <= steps; i++) result = (result * (n - steps + i)) / i;
  return whole(result);
}

function seriesOf(node: Extract<Node, { kind: 'series' }>, budget: Budget, values: Values): Exact {
  const from = exactValue(node.from, budget, values);
  const to = exactValue(node.to, budget, values);
  if (typeof from === 'string' || typeof to === 'string' || !isWhole(from) || !isWhole(to)) return 'unknown';
  if (to.numerator - from.numerator > MAX_TERMS) return 'unknown';
  let result = node.of === 'sum' ? ZERO : ONE;
  for (let k = from.numerator; k <= to.numerator; k++) {
    budget.spend(40);
    const term = exactValue(node.body, budget, new Map([...values, [node.index, whole(k)]]));
    if (typeof term === 'string') return term;
    const next = bounded(result, term, node.of === 'sum' ? add : multiply, budget);
    if (typeof next === 'string') return next;
    result = next;
  }
  return result;
}
