/**
 * A plain form to what it says: a number with its unit, an equation, intervals, a set, a tuple, a list of solutions, a matrix. What it cannot
 * read as a whole is undefined, and remains text. Reads no sentences, times or dates.
 *
 * Readings: `x = 5` is 5 with the name x, where the left side is one name that the right side does not hold; `x = 1, 2` gives both the name;
 * `1 \pm a` is a list of two; a comma, `and`, `or` and `;` join a list; `1,000` is a thousand, never a list: that has a space, or braces.
 */
import { Budget } from './budget.js';
import { exactValue } from './exact.js';
import { MINUS_ONE, mapNodes, type Node, negated, number, product, someNode, variablesOf } from './node.js';
import { parseExpression, parseRows } from './parseExpression.js';
import { MAX_LENGTH } from './plainText.js';
import { compare, whole } from './rational.js';
import { type Token, tokenize } from './tokens.js';
import { readUnit } from './units.js';
import type { Interval, Operator, Value } from './value.js';

const MAX_ITEMS = 400;
const MAX_NESTING = 20;
/** For the few numbers whose order has to be known to read a text at all. */
const READ_BUDGET = 100_000;

/** What a plain form says; undefined where it is text. */
export function readAnswer(plain: string): Value | undefined {
  if (plain.length > MAX_LENGTH || isJustWords(plain) || isNoArithmetic(plain)) return undefined;
  const tokens = tokenize(plain);
  return tokens && readTokens(tokens);
}

/** A day with its year is no subtraction and no quotient. */
const DATE = /^(?:\d{4}([-/])\d{1,2}\1\d{1,2}|\d{1,2}([-/])\d{1,2}\2\d{4})$/;
/** Nor are whole numbers with hyphens and no spaces: more than two, one that begins with a zero, or three digits and four. */
const HYPHENATED = /^\+?\d+(?:-\d+)+$/;

function isNoArithmetic(plain: string): boolean {
  if (DATE.test(plain)) return true;
  if (!HYPHENATED.test(plain)) return false;
  const groups = plain.split('-');
  return groups.length > 2 || groups.some((group) => /^0\d/.test(group)) || /^\d{3}-\d{4}$/.test(plain);
}

/** Words are text, even where their letters could be multiplied. */
function isJustWords(plain: string): boolean {
  return /^[A-Z]{2,}$/.test(plain) || /^\p{L}+(?:[ '’-]\p{L}{2,})+$/u.test(plain);
}

function readTokens(tokens: readonly Token[]): Value | undefined {
  const from = isSign(tokens[0], '=') ? 1 : 0;
  return readList(tokens, from, tokens.length, 0);
}

const OPEN: ReadonlySet<string> = new Set(['(', '[', '{', '\\{', '⟨', '⌊', '⌈', '(abs']);
const CLOSE: ReadonlySet<string> = new Set([')', ']', '}', '\\}', '⟩', '⌋', '⌉', ')abs']);

/** Indices from `from` to `to` outside all brackets where `test` holds. */
function outside(tokens: readonly Token[], from: number, to: number, test: (token: Token) => boolean): number[] {
  const found: number[] = [];
  let depth = 0;
  for (let i = from; i < to; i++) {
    const token = tokens[i]!;
    if (depth === 0 && test(token)) found.push(i);
    if (token.type !== 'sign') continue;
    if (OPEN.has(token.sign) || token.sign.startsWith('\\begin ')) depth++;
    else if (CLOSE.has(token.sign) || token.sign.startsWith('\\end ')) depth--;
  }
  return found;
}

const isSign = (token: Token | undefined, sign: string): boolean => token?.type === 'sign' && token.sign === sign;
const isWord = (token: Token, word: string): boolean => token.type === 'word' && token.text.toLowerCase() === word;
const joinerOf = (token: Token): ',' | 'or' | '∨' | 'and' | undefined => {
  if (isSign(token, ',') || isSign(token, ';')) return ',';
  if (isSign(token, '∨')) return '∨';
  if (isWord(token, 'or')) return 'or';
  return isWord(token, 'and') ? 'and' : undefined;
};

function readList(tokens: readonly Token[], from: number, to: number, nesting: number): Value | undefined {
  if (nesting > MAX_NESTING || from >= to) return undefined;
  const separators = outside(tokens, from, to, (token) => joinerOf(token) !== undefined);
  if (separators.length === 0) return readItem(tokens, from, to, nesting);
  if (separators.length > MAX_ITEMS) return undefined;
  const items: Value[] = [];
  const joiners = new Set<string>();
  let start = from;
  for (const [i, end] of [...separators, to].entries()) {
    // "1, 2, and 3": a comma and a word are one separator.
    if (start === end && i > 0 && end < to && joinerOf(tokens[end]!) !== ',') {
      start = end + 1;
      continue;
    }
    const item = readItem(tokens, start, end, nesting);
    if (item === undefined) return undefined;
    items.push(...(item.kind === 'list' ? item.items : [item]));
    if (end < to) joiners.add(joinerOf(tokens[end]!)!);
    start = end + 1;
  }
  return joined(items, joiners);
}

/** Undefined for statements of logic that are no conditions on numbers. */
function joined(items: readonly Value[], joiners: ReadonlySet<string>): Value | undefined {
  if (items.length === 1) return items[0]!;
  const isCondition = (item: Value): boolean => item.kind === 'intervals' || item.kind === 'relation';
  if (joiners.has('∨') && !items.every((item) => isCondition(item) || ('label' in item && item.label !== undefined))) return undefined;
  const either = joiners.has('or') || joiners.has('∨');
  if (either && joiners.has('and') && items.some(isCondition)) return undefined;
  if (either && items.every((item) => item.kind === 'intervals')) {
    const labels = new Set(items.map((item) => item.label));
    if (labels.size === 1)
      return union(
        items.flatMap(({ parts }) => parts),
        items[0]!.label,
      );
  }
  const [first, ...rest] = items;
  const label = first?.kind === 'quantity' ? first.label : undefined;
  if (label !== undefined && rest.every((item) => item.kind === 'quantity' && item.label === undefined)) {
    return { kind: 'list', items: items.map((item) => (item.kind === 'quantity' ? { ...item, label } : item)) };
  }
  return { kind: 'list', items, ...(either && items.some(isCondition) && { either: true }) };
}

const RELATIONS: ReadonlyMap<string, readonly [operator: Operator, turned: boolean]> = new Map([
  ['=', ['=', false]],
  ['<', ['<', false]],
  ['≤', ['≤', false]],
  ['>', ['<', true]],
  ['≥', ['≤', true]],
  ['≠', ['≠', false]],
  ['∈', ['∈', false]],
]);

function readItem(tokens: readonly Token[], from: number, to: number, nesting: number): Value | undefined {
  if (nesting > MAX_NESTING || from >= to) return undefined;
  const at = outside(tokens, from, to, (token) => token.type === 'sign' && RELATIONS.has(token.sign));
  return at.length === 0 ? readTerm(tokens, from, to, nesting) : readRelation(tokens, from, to, at, nesting);
}

function readRelation(tokens: readonly Token[], from: number, to: number, at: readonly number[], nesting: number): Value | undefined {
  const marks = at.map((i) => RELATIONS.get((tokens[i] as { sign: string }).sign)!);
  const ends = [from - 1, ...at, to];
  const parts = ends.slice(1).map((end, i) => readTerm(tokens, ends[i]! + 1, end, nesting + 1));
  const [left, right] = [parts[0], parts[parts.length - 1]];
  if (left === undefined || right === undefined) return undefined;
  if (parts.length === 2 && (marks[0]![0] === '=' || marks[0]![0] === '∈') && right.kind !== 'quantity' && right.kind !== 'infinity') {
    return named(left, right, marks[0]![0] === '∈');
  }
  const sides: Node[] = [];
  let unit = '';
  for (const [i, part] of parts.entries()) {
    if (part?.kind === 'infinity') sides.push({ kind: 'constant', name: 'infinity' });
    else if (part?.kind === 'quantity' && (part.unit === '' || i > 0)) {
      sides.push(part.node);
      if (part.unit !== '') unit = part.unit;
    } else return undefined;
  }
  const turned = marks.filter(([, isTurned]) => isTurned).length;
  if (turned > 0 && marks.some(([operator, isTurned]) => !isTurned && operator !== '=')) return undefined;
  if (turned > 0) {
    sides.reverse();
    marks.reverse();
  }
  return relation(
    sides,
    marks.map(([operator]) => operator),
    unit,
  );
}

/** `x \in [0, 1]`, `(x, y) = (1, 2)`, `A = \{1, 2\}`: the right side, with the left as its name. */
function named(left: Value, right: Value, membership: boolean): Value | undefined {
  const name = left.kind === 'quantity' ? nameOf(left.node) : undefined;
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

function relation(sides: readonly Node[], operators: readonly Operator[], unit: string): Value | undefined {
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
      return { kind: 'quantity', node: right, unit, label: leftName };
    }
    if (leftName !== undefined && right.kind === 'constant' && right.name !== 'infinity')
      return { kind: 'quantity', node: right, unit, label: leftName };
    const rightName = nameOf(right);
    if (rightName !== undefined && !variablesOf(left).has(rightName)) return { kind: 'quantity', node: left, unit, label: rightName };
  }
  if (someNodes(sides, ({ kind }) => kind === 'plusMinus')) return undefined;
  return intervalsOf(sides, operators) ?? (someNodes(sides, isInfinity) ? undefined : { kind: 'relation', sides, operators });
}

const isInfinity = (node: Node): boolean => node.kind === 'constant' && node.name === 'infinity';
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
const plainSign = (node: Node): Node =>
  node.kind === 'product' && node.factors[0] === MINUS_ONE && node.factors.length === 2 ? node.factors[1]! : node;

const MATRICES = /^\\begin (?:[pbB]?matrix|smallmatrix|array)$/;

/** What holds no relation at its outermost level. */
function readTerm(tokens: readonly Token[], from: number, to: number, nesting: number): Value | undefined {
  if (nesting > MAX_NESTING || from >= to) return undefined;
  const cups = outside(tokens, from, to, (token) => isSign(token, '∪'));
  if (cups.length > 0) return cups.length > MAX_ITEMS ? undefined : readUnion(tokens, from, to, cups, nesting);
  const without = outside(tokens, from, to, (token) => isSign(token, '∖'));
  if (without.length > 0) return without.length > 1 ? undefined : readDifference(tokens, from, to, without[0]!, nesting);
  const first = tokens[from]!;
  if (to - from === 1 && isSign(first, '∅')) return { kind: 'set', items: [] };
  if (to - from === 1 && first.type === 'name' && first.name === 'ℝ') {
    return { kind: 'intervals', parts: [{ low: undefined, high: undefined, lowClosed: false, highClosed: false }] };
  }
  const bracketed = readBracketed(tokens, from, to, nesting);
  if (bracketed !== undefined) return bracketed;
  const matrix = readMatrix(tokens, from, to);
  return matrix ?? readQuantity(tokens, from, to);
}

function readUnion(tokens: readonly Token[], from: number, to: number, cups: readonly number[], nesting: number): Value | undefined {
  const parts: Interval[] = [];
  let start = from;
  for (const end of [...cups, to]) {
    const item = readTerm(tokens, start, end, nesting + 1);
    const read = item && intervalsIn(item);
    if (read === undefined) return undefined;
    parts.push(...read);
    start = end + 1;
  }
  return union(parts, undefined);
}

/** An interval, a union of them, or a set of numbers as points. */
function intervalsIn(value: Value): readonly Interval[] | undefined {
  if (value.kind === 'intervals') return value.label === undefined ? value.parts : undefined;
  if (value.kind === 'set') {
    const points = pointsIn(value);
    return points?.map((node) => ({ low: node, high: node, lowClosed: true, highClosed: true }));
  }
  const interval = value.kind === 'tuple' ? asInterval(value) : undefined;
  return interval && [interval];
}

function pointsIn(set: Extract<Value, { kind: 'set' }>): readonly Node[] | undefined {
  const points = set.items.map((item) =>
    item.kind === 'quantity' && item.unit === '' && item.label === undefined && variablesOf(item.node).size === 0 ? item.node : undefined,
  );
  return points.every((point) => point !== undefined) ? points : undefined;
}

/** `\mathbb{R} \setminus \{1, 2\}`: what is left, where the points are plain numbers. */
function readDifference(tokens: readonly Token[], from: number, to: number, at: number, nesting: number): Value | undefined {
  const [all, taken] = [readTerm(tokens, from, at, nesting + 1), readTerm(tokens, at + 1, to, nesting + 1)];
  if (all?.kind !== 'intervals' || all.parts.length !== 1 || all.parts[0]!.low !== undefined || all.parts[0]!.high !== undefined)
    return undefined;
  const points = taken?.kind === 'set' ? pointsIn(taken) : undefined;
  if (points?.length === 1) return union(around(points), undefined);
  const numbers = points?.map((node) => {
    const value = exactValue(node, new Budget(READ_BUDGET));
    return typeof value === 'string' ? undefined : value;
  });
  if (numbers === undefined || !numbers.every((value) => value !== undefined) || numbers.length === 0) return undefined;
  const ends = numbers.sort(compare).filter((value, i) => i === 0 || compare(value, numbers[i - 1]!) !== 0);
  return union(around(ends.map(number)), undefined);
}

/** Everything but the points, which are in order. */
const around = (points: readonly Node[]): readonly Interval[] =>
  [undefined, ...points].map((low, i) => ({ low, high: points[i], lowClosed: false, highClosed: false }));

const union = (parts: readonly Interval[], label: string | undefined): Value => ({
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

const TUPLES: ReadonlyMap<string, string> = new Map([
  ['(', ')]'],
  ['[', ')]'],
  ['⟨', '⟩'],
  ['\\{', '\\}'],
]);

/** Brackets over the whole, with commas in them; sets of one element and none too. */
function readBracketed(tokens: readonly Token[], from: number, to: number, nesting: number): Value | undefined {
  const [open, close] = [tokens[from]!, tokens[to - 1]!];
  if (open.type !== 'sign' || close.type !== 'sign' || to - from < 2) return undefined;
  const isSet = open.sign === '\\{';
  if (!TUPLES.has(open.sign) || (isSet ? close.sign !== '\\}' : !TUPLES.get(open.sign)!.includes(close.sign))) return undefined;
  if (outside(tokens, from + 1, to - 1, (token) => token.type === 'sign' && CLOSE.has(token.sign)).length > 0) return undefined;
  if (isSet && to - from === 2) return { kind: 'set', items: [] };
  const commas = outside(tokens, from + 1, to - 1, (token) => isSign(token, ',') || isSign(token, ';'));
  if (commas.length > MAX_ITEMS) return undefined;
  if (isSet) {
    const condition = readCondition(tokens, from + 1, to - 1, nesting);
    if (condition !== undefined) return condition;
  } else if (commas.length === 0) {
    const inner = open.sign === '(' && close.sign === ')' ? readTerm(tokens, from + 1, to - 1, nesting + 1) : undefined;
    return inner?.kind === 'matrix' ? inner : open.sign === '[' && inner === undefined ? bracketedMatrix(tokens, from, to) : undefined;
  }
  const items: Value[] = [];
  let start = from + 1;
  for (const end of [...commas, to - 1]) {
    const item = readItem(tokens, start, end, nesting + 1);
    if (item === undefined) return undefined;
    if (item.kind === 'list' && !isSet) return undefined;
    items.push(...(item.kind === 'list' ? item.items : [item]));
    start = end + 1;
  }
  return isSet ? { kind: 'set', items } : (rowsOf(items) ?? { kind: 'tuple', open: open.sign, close: close.sign, items });
}

const bracketedMatrix = (tokens: readonly Token[], from: number, to: number): Value | undefined => {
  const matrix = readMatrix(tokens, from + 1, to - 1);
  return matrix?.kind === 'matrix' ? matrix : undefined;
};

/** `[[1, 2], [3, 4]]` as a matrix. */
function rowsOf(items: readonly Value[]): Value | undefined {
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

/** `x \mid x > 3` inside braces. */
function readCondition(tokens: readonly Token[], from: number, to: number, nesting: number): Value | undefined {
  const bar = outside(tokens, from, to, (token) => isSign(token, '|') || isSign(token, ':'))[0];
  if (bar === undefined) return undefined;
  const first = tokens[from];
  if (first?.type !== 'name' || (bar !== from + 1 && !isSign(tokens[from + 1], '∈'))) return undefined;
  const condition = readList(tokens, bar + 1, to, nesting + 1);
  return condition?.kind === 'intervals' && condition.label === first.name ? { kind: 'intervals', parts: condition.parts } : undefined;
}

function readMatrix(tokens: readonly Token[], from: number, to: number): Value | undefined {
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

/** An expression with a currency mark before it, or a unit behind it. */
function readQuantity(tokens: readonly Token[], from: number, to: number): Value | undefined {
  let start = from;
  let negative = false;
  let currency = '';
  if (isSign(tokens[start], '-') && tokens[start + 1]?.type === 'currency') {
    negative = true;
    start++;
  }
  const mark = tokens[start];
  if (mark?.type === 'currency') {
    currency = mark.name;
    start++;
  }
  const parsed = parseExpression(tokens, start, to);
  if (parsed === undefined) return undefined;
  let node = parsed.node;
  let unit = currency;
  if (parsed.end < to) {
    const read = readUnit(tokens, parsed.end, to, currency);
    if (read === undefined) return undefined;
    if (read.name !== '') unit = currency === '' || currency === read.name ? read.name : `${currency} ${read.name}`;
    if (read.factor.numerator !== 1n || read.factor.denominator !== 1n) node = product([node, number(read.factor)]);
  }
  if (negative) node = negated(node);
  if (isInfinity(node)) return { kind: 'infinity', negative: false };
  if (isInfinity(plainSign(node))) return { kind: 'infinity', negative: true };
  if (someNode(node, isInfinity) && !someNode(node, ({ kind }) => kind === 'integral' || kind === 'series')) return undefined;
  const expanded = bothSigns([node]);
  if (expanded !== undefined) return { kind: 'list', items: expanded.map(([one]) => ({ kind: 'quantity', node: one!, unit })) };
  return { kind: 'quantity', node, unit };
}

/** The two readings of `±`, all upper signs and all lower; undefined where there is none. */
function bothSigns(nodes: readonly Node[]): readonly [readonly Node[], readonly Node[]] | undefined {
  if (!someNodes(nodes, ({ kind }) => kind === 'plusMinus')) return undefined;
  const read = (lower: boolean): readonly Node[] =>
    nodes.map((node) => mapNodes(node, (part) => (part.kind === 'plusMinus' ? number(whole(part.turned === lower ? 1 : -1)) : undefined)));
  return [read(false), read(true)];
}
