/** Polynomials in any number of unknowns with exact coefficients, limited in size. What an unknown stands for, `canonical.ts` knows. */
import type { Budget } from './budget.js';
import { add as addRationals, multiply as multiplyRationals, negate, ONE, type Rational, sizeInBits } from './rational.js';

/** Exponents by unknown, as `id:exponent` joined by commas, ids ascending; empty for the constant. */
type Monomial = string;

interface Term {
  readonly coefficient: Rational;
  readonly exponents: readonly (readonly [unknown: number, exponent: number])[];
}

export type Polynomial = ReadonlyMap<Monomial, Term>;

/** It would have more terms, or larger coefficients, than are worth the work. */
export class TooLarge extends Error {}

const MAX_TERMS = 400;
const MAX_EXPONENT = 1000;
const MAX_COEFFICIENT_BITS = 4000;

export const constant = (value: Rational): Polynomial =>
  value.numerator === 0n ? new Map() : new Map([['', { coefficient: value, exponents: [] }]]);
export const unknown = (id: number): Polynomial => new Map([[`${id}:1`, { coefficient: ONE, exponents: [[id, 1]] }]]);
export const isZero = (p: Polynomial): boolean => p.size === 0;

export function asConstant(p: Polynomial): Rational | undefined {
  if (p.size === 0) return { numerator: 0n, denominator: 1n };
  return p.size === 1 ? p.get('')?.coefficient : undefined;
}

export function addTo(a: Polynomial, b: Polynomial, budget: Budget): Polynomial {
  if (a.size === 0) return b;
  const result = new Map(a);
  for (const [key, term] of b) put(result, key, term, budget);
  return checked(result);
}

export const scaleBy = (p: Polynomial, factor: Rational): Polynomial =>
  factor.numerator === 0n
    ? new Map()
    : new Map([...p].map(([key, term]) => [key, { ...term, coefficient: multiplyRationals(term.coefficient, factor) }]));

export const negated = (p: Polynomial): Polynomial =>
  new Map([...p].map(([key, term]) => [key, { ...term, coefficient: negate(term.coefficient) }]));

/** @param reduce rewrites a power of one unknown, where the unknown is a root or i: gives the rest and a factor */
export function multiplyBy(a: Polynomial, b: Polynomial, budget: Budget, reduce: Reduce): Polynomial {
  let result = new Map<Monomial, Term>();
  for (const left of a.values()) {
    for (const right of b.values()) {
      const exponents = mergeExponents(left.exponents, right.exponents);
      const coefficient = multiplyRationals(left.coefficient, right.coefficient);
      if (sizeInBits(coefficient) > MAX_COEFFICIENT_BITS) throw new TooLarge();
      budget.spend(150 + sizeInBits(coefficient) / 16);
      const reduced = reduce(exponents);
      if (reduced === undefined) put(result, keyOf(exponents), { coefficient, exponents }, budget);
      else {
        const rest: Polynomial = new Map([[keyOf(reduced.exponents), { coefficient, exponents: reduced.exponents }]]);
        result = new Map(addTo(result, multiplyBy(rest, reduced.factor, budget, reduce), budget));
      }
    }
    checked(result);
  }
  return checked(result);
}

export type Exponents = readonly (readonly [unknown: number, exponent: number])[];
export type Reduce = (exponents: Exponents) => { readonly exponents: Exponents; readonly factor: Polynomial } | undefined;

/** The unknowns that occur. */
export function unknownsOf(p: Polynomial): Set<number> {
  return new Set([...p.values()].flatMap(({ exponents }) => exponents.map(([id]) => id)));
}

/** Terms in a fixed order, as one text. */
export const textOf = (p: Polynomial): string =>
  [...p]
    .map(([key, { coefficient }]) => `${coefficient.numerator}/${coefficient.denominator}*${key}`)
    .sort()
    .join('+');

const keyOf = (exponents: Exponents): Monomial => exponents.map(([id, exponent]) => `${id}:${exponent}`).join();

function put(into: Map<Monomial, Term>, key: Monomial, term: Term, budget: Budget): void {
  budget.spend(40);
  const before = into.get(key);
  if (before === undefined) {
    into.set(key, term);
    return;
  }
  const coefficient = addRationals(before.coefficient, term.coefficient);
  if (coefficient.numerator === 0n) into.delete(key);
  else into.set(key, { ...term, coefficient });
}

function checked(p: Map<Monomial, Term>): Map<Monomial, Term> {
  if (p.size > MAX_TERMS) throw new TooLarge();
  return p;
}

function mergeExponents(a: Exponents, b: Exponents): Exponents {
  if (a.length === 0) return b;
  if (b.length === 0) return a;
  const merged: (readonly [number, number])[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const [left, right] = [a[i], b[j]];
    if (right === undefined || (left !== undefined && left[0] < right[0])) {
      merged.push(left!);
      i++;
    } else if (left === undefined || right[0] < left[0]) {
      merged.push(right);
      j++;
    } else {
      const exponent = left[1] + right[1];
      if (exponent > MAX_EXPONENT) throw new TooLarge();
      merged.push([left[0], exponent]);
      i++;
      j++;
    }
  }
  return merged;
}
