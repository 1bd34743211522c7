/**
 * Decides whether two expressions have the same value: by exact values, by canonical forms, and where those do not settle it by values at
 * fixed points in certain arithmetic. "Different" is always proven. "Equal" is proven, or holds to far more digits than the sizes that occur
 * could hide a difference in: no absolute tolerance, no float.
 *
 * - Variables are real or complex as the expression has it: both sides must agree at positive, negative and whole values, wherever one of
 *   them is real. So the root of 1/n is 1 over the root of n, and the root of x^2 is not x.
 * - A bare `log` may be read with base 10 or e, both sides alike; not with e beside an explicit `ln`.
 * - A power with a fraction of odd denominator, and an odd root, is the real one for a real base.
 */
import { type Budget, OutOfBudget } from './budget.js';
import { Canonical } from './canonical.js';
import { type Complex, isReal, NoValue } from './complex.js';
import { exactValue } from './exact.js';
import { type FunctionName, keyOf, mapNodes, type Node, number, someNode, variablesOf } from './node.js';
import { Evaluator, type Point } from './numeric.js';
import { equalRationals, type Rational, rational, whole } from './rational.js';
import { signOf, Uncertain, upper } from './real.js';

export type Decision = 'equal' | 'different' | 'undecided';

const FIRST_BITS = 200;
const MAX_BITS = 12_000;
/** Points that have to agree before expressions in variables are equal. */
const MIN_AGREEMENT = 3;

/** Never throws; running out of budget is undecided. */
export function equalNodes(a: Node, b: Node, budget: Budget): Decision {
  try {
    budget.spend(40);
    return withLogBases([a, b], ([x, y]) => decide(x!, y!, budget));
  } catch (error) {
    if (error instanceof OutOfBudget) return 'undecided';
    throw error;
  }
}

/**
 * The sign of the number c with a = c * b, for expressions that are not 0 everywhere: how an equation or inequality relates to another.
 * `none` where there is no such number.
 */
export function factorBetween(a: Node, b: Node, budget: Budget): 'positive' | 'negative' | 'other' | 'none' | 'undecided' {
  try {
    const canonical = new Canonical(budget);
    const [x, y] = [canonical.of(a), canonical.of(b)];
    const ratio = x && y ? canonical.ratioOf(x, y) : undefined;
    if (ratio === 'none') return 'none';
    if (ratio !== undefined) return ratio.numerator > 0n ? 'positive' : 'negative';
    return numericFactor(a, b, budget);
  } catch (error) {
    if (error instanceof OutOfBudget) return 'undecided';
    throw error;
  }
}

/** Runs `compare` with bare logarithms read in the bases that are allowed, until one makes equal. */
function withLogBases(nodes: readonly Node[], compare: (nodes: readonly Node[]) => Decision): Decision {
  const bare = (node: Node): boolean => node.kind === 'call' && node.name === 'log' && node.args.length === 1;
  if (!nodes.some((node) => someNode(node, bare))) return compare(nodes);
  const read = (base: Node | undefined): readonly Node[] =>
    nodes.map((node) =>
      mapNodes(node, (part) => {
        if (part.kind !== 'call' || !bare(part)) return undefined;
        return base === undefined ? { ...part, name: 'ln' } : { ...part, args: [...part.args, base] };
      }),
    );
  const ten = compare(read(number(whole(10))));
  if (ten === 'equal' || nodes.some((node) => someNode(node, isNaturalLog))) return ten;
  const natural = compare(read(undefined));
  return natural === 'equal' ? natural : ten === 'undecided' || natural === 'undecided' ? 'undecided' : 'different';
}

/** `\ln`, or `\log_e`: beside it a bare logarithm has base 10. */
const isNaturalLog = (part: Node): boolean => {
  if (part.kind !== 'call') return false;
  const base = part.args[1];
  return part.name === 'ln' || (part.name === 'log' && base?.kind === 'constant' && base.name === 'e');
};

function decide(a: Node, b: Node, budget: Budget): Decision {
  const [x, y] = [exactValue(a, budget), exactValue(b, budget)];
  if (x === 'noValue' || y === 'noValue') return 'different';
  if (x !== 'unknown' && y !== 'unknown') return equalRationals(x, y) ? 'equal' : 'different';
  if (keyOf(a) === keyOf(b)) return 'equal';
  const canonical = new Canonical(budget);
  const [p, q] = [canonical.of(a), canonical.of(b)];
  if (p && q) {
    const difference = canonical.differenceOf(p, q);
    if (difference?.size === 0) return 'equal';
    if (difference !== undefined && canonical.proven(difference)) return 'different';
  }
  return atPoints(opaque(a, canonical), opaque(b, canonical), budget);
}

/** Functions that are only letters become variables, by their arguments' canonical text. */
function opaque(node: Node, canonical: Canonical): Node {
  if (!someNode(node, ({ kind }) => kind === 'apply')) return node;
  return mapNodes(node, (part) => (part.kind === 'apply' ? { kind: 'name', name: canonical.textOf(part) } : undefined));
}

function atPoints(a: Node, b: Node, budget: Budget): Decision {
  const names = [...variablesOf(b, variablesOf(a))];
  const imaginary = [a, b].some((node) => someNode(node, (part) => part.kind === 'constant' && part.name === 'i'));
  let agreed = 0;
  const points = names.length === 0 ? 1 : hasBranches(a) || hasBranches(b) ? POINTS.length : SMOOTH_POINTS;
  for (let i = 0; i < points; i++) {
    const decision = atPoint(a, b, pointOf(names, i), names.length > 0 && !imaginary, budget);
    if (decision === 'different') return 'different';
    if (decision === 'equal') agreed++;
  }
  return agreed >= (names.length === 0 ? 1 : MIN_AGREEMENT) ? 'equal' : 'undecided';
}

/** @param skipNonReal whether a point where neither is real says nothing */
function atPoint(a: Node, b: Node, point: Point, skipNonReal: boolean, budget: Budget): Decision {
  let bits = FIRST_BITS;
  while (bits <= MAX_BITS) {
    const evaluator = new Evaluator(bits, budget);
    let x: Complex;
    let y: Complex;
    try {
      x = evaluator.value(a, point);
      y = evaluator.value(b, point);
    } catch (error) {
      if (error instanceof NoValue) return point.size === 0 ? 'different' : 'undecided';
      if (!(error instanceof Uncertain)) throw error;
      bits *= 4;
      continue;
    }
    if (skipNonReal && isSurelyNotReal(x) && isSurelyNotReal(y)) return 'undecided';
    const { real } = evaluator.arithmetic;
    const difference = evaluator.arithmetic.subtract(x, y);
    const [re, im] = [signOf(difference.re), signOf(difference.im)];
    if ((re !== undefined && re !== 0) || (im !== undefined && im !== 0)) return 'different';
    if (re === 0 && im === 0) return 'equal';
    const error = Math.max(upper(difference.re), upper(difference.im));
    const enough = FIRST_BITS + 4 * real.range;
    if (bits >= enough && error < -(2 * real.range + 100)) return 'equal';
    bits = Math.max(bits * 2, Math.ceil(enough));
  }
  return 'undecided';
}

const isSurelyNotReal = (z: Complex): boolean => {
  const sign = signOf(z.im);
  return !isReal(z) && sign !== undefined && sign !== 0;
};

function numericFactor(a: Node, b: Node, budget: Budget): 'positive' | 'negative' | 'other' | 'none' | 'undecided' {
  const names = [...variablesOf(b, variablesOf(a))];
  if (names.length === 0) return 'undecided';
  let first: Point | undefined;
  let sign: 'positive' | 'negative' | 'other' | undefined;
  let agreed = 0;
  const points = hasBranches(a) || hasBranches(b) ? POINTS.length : SMOOTH_POINTS;
  for (let i = 0; i < points; i++) {
    const point = pointOf(names, i);
    if (first === undefined) {
      sign = signOfRatio(a, b, point, budget);
      if (sign !== undefined) first = point;
      continue;
    }
    const left = { kind: 'product', factors: [a, substituted(b, first)] } as const;
    const right = { kind: 'product', factors: [b, substituted(a, first)] } as const;
    const decision = atPoint(left, right, point, false, budget);
    if (decision === 'different') return 'none';
    if (decision === 'equal') agreed++;
  }
  return sign !== undefined && agreed >= MIN_AGREEMENT ? sign : 'undecided';
}

function substituted(node: Node, point: Point): Node {
  return mapNodes(node, (part) => {
    const value = part.kind === 'name' ? point.get(part.name) : undefined;
    return value === undefined ? undefined : number(value);
  });
}

function signOfRatio(a: Node, b: Node, point: Point, budget: Budget): 'positive' | 'negative' | 'other' | undefined {
  const evaluator = new Evaluator(FIRST_BITS, budget);
  try {
    const ratio = evaluator.arithmetic.divide(evaluator.value(a, point), evaluator.value(b, point));
    if (isSurelyNotReal(ratio)) return 'other';
    const sign = isReal(ratio) ? signOf(ratio.re) : undefined;
    return sign === 1 ? 'positive' : sign === -1 ? 'negative' : undefined;
  } catch (error) {
    if (error instanceof NoValue || error instanceof Uncertain) return undefined;
    throw error;
  }
}

/** How the values of a point are chosen: their sign, and whether they are whole. */
const POINTS: readonly { readonly whole: boolean; readonly sign: 'positive' | 'negative' | 'mixed'; readonly scale: bigint }[] = [
  { whole: false, sign: 'positive', scale: 4n },
  { whole: false, sign: 'mixed', scale: 3n },
  { whole: true, sign: 'positive', scale: 8n },
  { whole: false, sign: 'negative', scale: 4n },
  { whole: false, sign: 'positive', scale: 1n },
  { whole: true, sign: 'positive', scale: 12n },
  { whole: false, sign: 'mixed', scale: 1n },
  { whole: true, sign: 'positive', scale: 15n },
  { whole: true, sign: 'mixed', scale: 9n },
  { whole: false, sign: 'positive', scale: 40n },
  ...[1n, 2n, 3n, 5n, 9n, 30n, 300n, 3_000n, 100_000n, 5_000_000n].flatMap((scale) =>
    (['positive', 'negative', 'mixed', 'mixed'] as const).map((sign) => ({ whole: false, sign, scale })),
  ),
];

/** The first points are enough for functions that agree everywhere when they agree anywhere. */
const SMOOTH_POINTS = 10;

const BRANCHING: ReadonlySet<FunctionName> = new Set(['abs', 'max', 'min', 'floor', 'ceil']);

/** Whether an expression may follow one formula here and another there: then it is looked at far out, and at every sign. */
const hasBranches = (node: Node): boolean =>
  someNode(node, (part) => part.kind === 'root' || (part.kind === 'call' && BRANCHING.has(part.name)) || isFractionalPower(part));

const isFractionalPower = (part: Node): boolean =>
  part.kind === 'power' &&
  !(part.exponent.kind === 'number' && part.exponent.value.denominator === 1n) &&
  variablesOf(part.exponent).size === 0 &&
  variablesOf(part.base).size > 0;

/** The same values for the same names, whatever they are compared with. */
export function pointOf(names: readonly string[], index: number): Point {
  const { whole: isWhole, sign, scale } = POINTS[index]!;
  const point = new Map<string, Rational>();
  for (const name of names) {
    const hash = hashOf(`${name} ${index}`);
    const size = BigInt(hash % 1_048_573) + 1n;
    const value = isWhole ? whole((size % scale) + 2n) : rational(size * scale, 1_048_576n);
    const negative = sign === 'negative' || (sign === 'mixed' && hash >= 2 ** 31);
    point.set(name, negative ? { numerator: -value.numerator, denominator: value.denominator } : value);
  }
  return point;
}

/** FNV-1a with a final mix. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}
