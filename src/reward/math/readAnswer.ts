/**
 * A plain form to what it says: a number with its unit, an equation, intervals, a set, a tuple, a list of solutions, a matrix. What it cannot
 * read as a whole is undefined, and remains text. Reads no sentences, times or dates.
 *
 * Readings: `x = 5` is 5 with the name x, where the left side is one name that the right side does not hold; `x = 1, 2` gives both the name;
 * `1 \pm a` is a list of two; a comma, `and`, `or` and `;` join a list; `1,000` is a thousand, never a list: that has a space, or braces.
 */
import { between, intervalsIn, union, withoutPoints } from './intervalValue.js';
import type { Node } from './node.js';
import { MAX_LENGTH } from './plainText.js';
import { bracketedMatrix, readMatrix, rowsOf } from './readMatrix.js';
import { readQuantity } from './readQuantity.js';
import { named, relation } from './relationValue.js';
import { CLOSE, isSign, outside } from './tokenSpans.js';
import { type Token, tokenize } from './tokens.js';
import type { Operator, Value } from './value.js';
import { isShortWord } from './words.js';

const MAX_ITEMS = 400;
const MAX_NESTING = 20;

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
  return /^[A-Z]{2,}$/.test(plain) || isShortWord(plain) || /^\p{L}+(?:[ '’-]\p{L}{2,})+$/u.test(plain);
}

function readTokens(tokens: readonly Token[]): Value | undefined {
  const from = isSign(tokens[0], '=') ? 1 : 0;
  return readList(tokens, from, tokens.length, 0);
}

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
  const both = joiners.size === 1 && joiners.has('and') && items.length === 2 ? between(items) : undefined;
  if (both !== undefined) return both;
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
  const items: Value[] = [];
  let start = from;
  for (const end of [...cups, to]) {
    const item = readTerm(tokens, start, end, nesting + 1);
    if (item === undefined) return undefined;
    items.push(item);
    start = end + 1;
  }
  if (items.every((item) => item.kind === 'set')) return { kind: 'set', items: items.flatMap((set) => set.items) };
  const parts = items.map(intervalsIn);
  return parts.every((part) => part !== undefined) ? union(parts.flat(), undefined) : undefined;
}

/** `\mathbb{R} \setminus \{1, 2\}`. */
function readDifference(tokens: readonly Token[], from: number, to: number, at: number, nesting: number): Value | undefined {
  const [all, taken] = [readTerm(tokens, from, at, nesting + 1), readTerm(tokens, at + 1, to, nesting + 1)];
  if (all?.kind !== 'intervals' || taken?.kind !== 'set') return undefined;
  return withoutPoints(all.parts, taken);
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

/** `x \mid x > 3` inside braces. */
function readCondition(tokens: readonly Token[], from: number, to: number, nesting: number): Value | undefined {
  const bar = outside(tokens, from, to, (token) => isSign(token, '|') || isSign(token, ':'))[0];
  if (bar === undefined) return undefined;
  const first = tokens[from];
  if (first?.type !== 'name' || (bar !== from + 1 && !isSign(tokens[from + 1], '∈'))) return undefined;
  const condition = readList(tokens, bar + 1, to, nesting + 1);
  return condition?.kind === 'intervals' && condition.label === first.name ? { kind: 'intervals', parts: condition.parts } : undefined;
}
