/**
 * Compares what two answers say.
 *
 * - A unit, a currency mark and the name before `=` may be left out on one side, but not differ.
 * - An equation equals another up to a factor that is a number other than 0; an inequality up to a positive one.
 * - A unit of single letters may be written as letters: `10m` is `10\text{ m}`.
 * - A degree sign may be left out like a unit, but not where pi occurs: there, degrees equal the radians that they are.
 * - Lists of solutions and sets have no order, and each matches the other; in sets, repeated elements count once. A set inside a collection
 *   equals sets only, one of a single element too. Tuples have an order, and their brackets count where there are two parts: an interval is
 *   no point. A column is the same vector as a tuple.
 * - Intervals equal the inequalities that describe them, and unions the unions of the same numbers.
 */
import type { Budget } from './budget.js';
import { type Decision, equalNodes, factorBetween } from './equalNodes.js';
import { merged, solvedChain } from './intervals.js';
import { asInterval } from './intervalValue.js';
import { type Compared, matched } from './matching.js';
import { difference, type Node, number, product, someNode, variablesOf } from './node.js';
import type { Question } from './question.js';
import { rational } from './rational.js';
import { unitAsLetters } from './readQuantity.js';
import type { Interval, Operator, Value } from './value.js';

export interface Comparison {
  readonly budget: Budget;
  /** What would have to hold: filled where nothing else keeps two answers apart. */
  readonly open: Question[];
  /** Whether something was left open that no question expresses. */
  unclear: boolean;
}

export function sameValue(left: Value, right: Value, comparison: Comparison): Decision {
  const [a, b] = settled(left, right, comparison.budget);
  if (a.kind === 'set' || a.kind === 'list' || b.kind === 'set' || b.kind === 'list') return sameCollection(a, b, comparison);
  if (a.kind === 'intervals' || b.kind === 'intervals') return sameIntervals(a, b, comparison);
  if (a.kind === 'relation' || b.kind === 'relation') return sameRelation(a, b, comparison);
  if (a.kind === 'infinity' && b.kind === 'infinity') return a.negative === b.negative ? 'equal' : 'different';
  if (a.kind === 'quantity' && b.kind === 'quantity') return sameQuantity(a, b, comparison);
  if (a.kind === 'infinity' || b.kind === 'infinity' || a.kind === 'quantity' || b.kind === 'quantity') return 'different';
  if (differ(a.label, b.label)) return 'different';
  if (a.kind === 'matrix' || b.kind === 'matrix') return sameMatrix(a, b, comparison);
  return sameTuple(a, b, comparison);
}

/** Chains of inequalities as intervals, where nothing on either side remains a relation. */
function settled(a: Value, b: Value, budget: Budget): readonly [Value, Value] {
  if (!isChain(a) && !isChain(b)) return [a, b];
  const [x, y] = [a, b].map((value) => (isChain(value) ? solvedChain(value, budget) : value));
  return x === undefined || y === undefined ? [a, b] : [x, y];
}

const isChain = (value: Value): value is Relation => value.kind === 'relation' && value.operators.length > 1;

/** Elements of collections and parts of tuples: a set is never the element in it. */
const sameElement = (a: Value, b: Value, comparison: Comparison): Decision =>
  (a.kind === 'set') === (b.kind === 'set') ? sameValue(a, b, comparison) : 'different';

const differ = (a: string | undefined, b: string | undefined): boolean => a !== undefined && b !== undefined && a !== b;

function sameQuantity(a: Extract<Value, { kind: 'quantity' }>, b: Extract<Value, { kind: 'quantity' }>, comparison: Comparison): Decision {
  if (differ(a.label, b.label)) return sameRelation(equation(a)!, equation(b)!, comparison);
  const [degrees, other] = a.unit === '°' ? [a, b] : [b, a];
  const isAngle = degrees.unit === '°' && (other.unit === 'rad' || (other.unit === '' && (hasPi(a.node) || hasPi(b.node))));
  if (isAngle) return same(product([degrees.node, PI_OVER_180]), other.node, comparison);
  if (a.unit !== '' && b.unit !== '' && a.unit !== b.unit) return 'different';
  const decision = same(a.node, b.node, comparison);
  if (decision !== 'different' || a.unit === b.unit) return decision;
  const [bare, measured] = a.unit === '' ? [a, b] : [b, a];
  const letters = variablesOf(bare.node).size > 0 ? unitAsLetters(measured.unit) : undefined;
  return letters === undefined ? decision : same(product([measured.node, letters]), bare.node, comparison);
}

const hasPi = (node: Node): boolean => someNode(node, (part) => part.kind === 'constant' && part.name === 'pi');

const PI_OVER_180: Node = product([number(rational(1n, 180n)), { kind: 'constant', name: 'pi' }]);

function same(a: Node, b: Node, comparison: Comparison): Decision {
  const decision = equalNodes(a, b, comparison.budget);
  if (decision === 'undecided') comparison.open.push({ kind: 'same', a, b });
  return decision;
}

/** Different as soon as one part is; else undecided if one part is. */
function all(count: number, decide: (index: number) => Decision): Decision {
  let undecided = false;
  for (let i = 0; i < count; i++) {
    const decision = decide(i);
    if (decision === 'different') return decision;
    if (decision === 'undecided') undecided = true;
  }
  return undecided ? 'undecided' : 'equal';
}

function sameTuple(a: Extract<Value, { kind: 'tuple' }>, b: Extract<Value, { kind: 'tuple' }>, comparison: Comparison): Decision {
  if (a.items.length !== b.items.length) return 'different';
  const plain = (bracket: string): string =>
    bracket === '⟨' ? '(' : bracket === '⟩' ? ')' : a.items.length > 2 ? bracket.replace('[', '(').replace(']', ')') : bracket;
  if (plain(a.open) !== plain(b.open) || plain(a.close) !== plain(b.close)) return 'different';
  return all(a.items.length, (i) => sameElement(a.items[i]!, b.items[i]!, comparison));
}

function sameMatrix(
  a: Extract<Value, { kind: 'matrix' | 'tuple' }>,
  b: Extract<Value, { kind: 'matrix' | 'tuple' }>,
  comparison: Comparison,
): Decision {
  const [x, y] = [rowsOf(a), rowsOf(b)];
  if (x === undefined || y === undefined || x.length !== y.length || x[0]!.length !== y[0]!.length) return 'different';
  const columns = x[0]!.length;
  return all(x.length * columns, (i) => {
    const [row, column] = [Math.floor(i / columns), i % columns];
    return same(x[row]![column]!, y[row]![column]!, comparison);
  });
}

/** A tuple as a column. */
function rowsOf(value: Extract<Value, { kind: 'matrix' | 'tuple' }>): readonly (readonly Node[])[] | undefined {
  if (value.kind === 'matrix') return value.rows;
  if (value.items.length < 3 && (!'(⟨'.includes(value.open) || !')⟩'.includes(value.close))) return undefined;
  const cells = value.items.map((item) =>
    item.kind === 'quantity' && item.unit === '' && item.label === undefined ? item.node : undefined,
  );
  return cells.every((cell) => cell !== undefined) ? cells.map((cell) => [cell]) : undefined;
}

/** Lists and sets: each element on one side has its own on the other. */
function sameCollection(a: Value, b: Value, comparison: Comparison): Decision {
  const [x, y] = [elementsOf(a), elementsOf(b)];
  if (x === undefined || y === undefined) return 'different';
  if (a.kind === 'list' && b.kind === 'list' && a.either !== b.either) return 'different';
  const sets = a.kind === 'set' && b.kind === 'set';
  if (haveOwnNames(x) !== haveOwnNames(y)) {
    return x.length === y.length ? all(x.length, (i) => sameElement(x[i]!, y[i]!, comparison)) : 'different';
  }
  const { budget } = comparison;
  return left(
    matched(x.length, y.length, (i, j) => apart(budget, (own) => sameElement(x[i]!, y[j]!, own)), sets),
    comparison,
  );
}

/** Whether elements belong to different names, as in `x = 1, y = 2`: then without names, the order says which is which. */
const haveOwnNames = (items: readonly Value[]): boolean =>
  new Set(items.map((item) => (item.kind === 'quantity' ? item.label : undefined))).size > 1;

/** A comparison of its own: which elements would have to be equal is not known yet. */
function apart(budget: Budget, compare: (own: Comparison) => Decision): Compared {
  if (budget.left <= 0) return { decision: 'undecided' };
  const own: Comparison = { budget, open: [], unclear: false };
  const decision = compare(own);
  return decision === 'undecided' && !own.unclear && own.open.length > 0 ? { decision, open: own.open } : { decision };
}

/** What a comparison of elements leaves open, taken over. */
function left({ decision, open }: Compared, comparison: Comparison): Decision {
  if (decision === 'undecided' && open === undefined) comparison.unclear = true;
  if (decision === 'undecided' && open !== undefined) comparison.open.push(...open);
  return decision;
}

/** A single value is a list of one, and the set of it. */
function elementsOf(value: Value): readonly Value[] | undefined {
  if (value.kind === 'set' || value.kind === 'list') {
    return value.label === undefined
      ? value.items
      : value.items.map((item) => (item.kind === 'quantity' ? { ...item, label: value.label! } : item));
  }
  return value.kind === 'intervals' ? undefined : [value];
}

function sameIntervals(a: Value, b: Value, comparison: Comparison): Decision {
  if (a.kind === 'relation' || b.kind === 'relation') {
    const [x, y] = [halfLine(a, b), halfLine(b, a)];
    return x === undefined || y === undefined ? 'different' : sameRelation(x, y, comparison);
  }
  const { budget } = comparison;
  const [x, y] = [intervalsOf(a), intervalsOf(b)].map((parts) => parts && merged(parts, budget));
  if (x === undefined || y === undefined || differ(labelOf(a), labelOf(b))) return 'different';
  return left(
    matched(x.length, y.length, (i, j) => apart(budget, (own) => sameInterval(x[i]!, y[j]!, own)), false),
    comparison,
  );
}

const labelOf = (value: Value): string | undefined => ('label' in value ? value.label : undefined);

function intervalsOf(value: Value): readonly Interval[] | undefined {
  if (value.kind === 'intervals') return value.parts;
  const interval = value.kind === 'tuple' ? asInterval(value) : undefined;
  return interval && [interval];
}

function sameInterval(a: Interval, b: Interval, comparison: Comparison): Decision {
  if (a.lowClosed !== b.lowClosed || a.highClosed !== b.highClosed) return 'different';
  const ends = [
    [a.low, b.low],
    [a.high, b.high],
  ] as const;
  return all(2, (i) => {
    const [x, y] = ends[i]!;
    return x === undefined || y === undefined ? (x === y ? 'equal' : 'different') : same(x, y, comparison);
  });
}

type Relation = Extract<Value, { kind: 'relation' }>;

/** A relation, or the half-line of an interval as one; its variable comes from `other` where it has none. */
function halfLine(value: Value, other: Value): Relation | undefined {
  if (value.kind === 'relation') return value;
  const [part, ...more] = intervalsOf(value) ?? [];
  if (part === undefined || more.length > 0 || (part.low === undefined) === (part.high === undefined)) return undefined;
  const names = other.kind === 'relation' ? [...new Set(other.sides.flatMap((side) => [...variablesOf(side)]))] : [];
  const name = labelOf(value) ?? (names.length === 1 ? names[0] : undefined);
  if (name === undefined) return undefined;
  const operator = (closed: boolean): Operator => (closed ? '≤' : '<');
  const variable: Node = { kind: 'name', name };
  return part.low === undefined
    ? { kind: 'relation', sides: [variable, part.high!], operators: [operator(part.highClosed)] }
    : { kind: 'relation', sides: [part.low, variable], operators: [operator(part.lowClosed)] };
}

/** `x = 5` as an equation. */
function equation(value: Value): Relation | undefined {
  if (value.kind === 'relation') return value;
  if (value.kind !== 'quantity' || value.label === undefined) return undefined;
  return { kind: 'relation', sides: [{ kind: 'name', name: value.label }, value.node], operators: ['='] };
}

function sameRelation(a: Value, b: Value, comparison: Comparison): Decision {
  const [x, y] = [equation(a), equation(b)];
  if (x === undefined || y === undefined) return 'different';
  if (x.operators.length !== y.operators.length || x.operators.some((operator, i) => operator !== y.operators[i])) return 'different';
  const { budget } = comparison;
  const [first] = x.operators;
  const bySides = all(x.sides.length, (i) => equalNodes(x.sides[i]!, y.sides[i]!, budget));
  if (bySides === 'equal' || first === '∈') {
    if (bySides === 'undecided') for (const [i, side] of x.sides.entries()) same(side, y.sides[i]!, comparison);
    return bySides;
  }
  return all(x.operators.length, (i) => {
    const differences = [x, y].map(({ sides }) => difference(sides[i + 1]!, sides[i]!)) as [Node, Node];
    const positive = x.operators[i] !== '=' && x.operators[i] !== '≠';
    const factor = factorBetween(...differences, budget);
    if (factor === 'undecided') comparison.open.push({ kind: 'proportional', a: differences[0], b: differences[1], positive });
    if (factor === 'undecided' || factor === 'none') return factor === 'none' ? 'different' : 'undecided';
    return !positive || factor === 'positive' ? 'equal' : 'different';
  });
}
