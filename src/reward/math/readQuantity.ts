/** Numbers and expressions with what belongs to them: a currency mark, a unit, a word that multiplies. */
import { type Node, negated, number, product, someNode } from './node.js';
import { parseExpression } from './parseExpression.js';
import { bothSigns, isInfinity, plainSign } from './relationValue.js';
import { isSign } from './tokenSpans.js';
import { type Token, tokenize } from './tokens.js';
import { readUnit } from './units.js';
import type { Value } from './value.js';

/** An expression with a currency mark before it, or a unit behind it. */
export function readQuantity(tokens: readonly Token[], from: number, to: number): Value | undefined {
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

/** A unit as the product of its letters that plain text would make of it; undefined for words such as `cm`, which it would not. */
export function unitAsLetters(unit: string): Node | undefined {
  const tokens = unit === '' || unit.length > 12 ? undefined : tokenize(unit);
  const parsed = tokens && parseExpression(tokens, 0, tokens.length);
  return parsed !== undefined && parsed.end === tokens?.length ? parsed.node : undefined;
}
