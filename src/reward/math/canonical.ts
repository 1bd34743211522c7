/**
 * Trees as quotients of polynomials in unknowns: variables, pi, e, i, roots of numbers, and whatever else the tree holds, each known by its
 * own canonical text. Equal forms prove equality; different forms prove inequality where the unknowns are independent (`proven`). Small by
 * limits: what grows too large is undefined, and is left to `equalNodes.ts`.
 */
import type { Budget } from './budget.js';
import { exactValue } from './exact.js';
import { childrenOf, keyOf as keyOfNode, type Node, number, withChildren } from './node.js';
import {
  addTo,
  asConstant,
  constant,
  type Exponents,
  isZero,
  multiplyBy,
  negated,
  type Polynomial,
  scaleBy,
  TooLarge,
  textOf,
  unknown,
  unknownsOf,
} from './polynomial.js';
import { bitLength, inverse, isWhole, ONE, type Rational, rational, whole } from './rational.js';

export interface Quotient {
  readonly numerator: Polynomial;
  readonly denominator: Polynomial;
}

interface Unknown {
  readonly kind: 'variable' | 'transcendental' | 'imaginary' | 'primeRoot' | 'root' | 'opaque';
  /** Whose root it is. */
  readonly prime?: bigint;
  /** For roots and i: unknown^degree = power. */
  readonly degree?: number;
  readonly power?: Polynomial;
}

const MAX_POWER = 64n;
const UNIT = constant(ONE);

/** One table of unknowns for the trees that are compared. */
export class Canonical {
  readonly #ids = new Map<string, number>();
  readonly #unknowns: Unknown[] = [];
  readonly #known = new Map<Node, Quotient>();
  /** Whether unknowns of algebra (i, roots) occur at all: most products need no look at them. */
  #reducible = false;

  constructor(readonly budget: Budget) {}

  /** Undefined where it grows too large, or divides by what is 0. */
  of(node: Node): Quotient | undefined {
    try {
      return this.#quotient(node);
    } catch (error) {
      if (error instanceof TooLarge) return undefined;
      throw error;
    }
  }

  /** a - b over one denominator, numerator only; undefined where that grows too large. */
  differenceOf(a: Quotient, b: Quotient): Polynomial | undefined {
    try {
      return addTo(this.#times(a.numerator, b.denominator), negated(this.#times(b.numerator, a.denominator)), this.budget);
    } catch (error) {
      if (error instanceof TooLarge) return undefined;
      throw error;
    }
  }

  /**
   * The number c with a = c * b, for quotients that are not 0: `none` where there is no such number, undefined where the unknowns could
   * hide one.
   */
  ratioOf(a: Quotient, b: Quotient): Rational | 'none' | undefined {
    try {
      const left = this.#times(a.numerator, b.denominator);
      const right = this.#times(b.numerator, a.denominator);
      const first = left.keys().next().value;
      if (first === undefined || right.size === 0) return 'none';
      const other = right.get(first);
      if (other !== undefined) {
        const c = rational(
          left.get(first)!.coefficient.numerator * other.coefficient.denominator,
          left.get(first)!.coefficient.denominator * other.coefficient.numerator,
        );
        if (isZero(addTo(left, scaleBy(right, { numerator: -c.numerator, denominator: c.denominator }), this.budget))) return c;
      }
      return this.#onlyVariables(left) && this.#onlyVariables(right) ? 'none' : undefined;
    } catch (error) {
      if (error instanceof TooLarge) return undefined;
      throw error;
    }
  }

  /** One text for one canonical form; the tree's own where there is none. */
  textOf(node: Node): string {
    const quotient = this.of(node);
    return quotient === undefined ? keyOfNode(node) : `${this.#named(quotient.numerator)} over ${this.#named(quotient.denominator)}`;
  }

  #named(p: Polynomial): string {
    const names = [...this.#ids.keys()];
    return [...p.values()]
      .map(({ coefficient, exponents }) =>
        [`${coefficient.numerator}/${coefficient.denominator}`, ...exponents.map(([id, e]) => `${names[id]}^${e}`).sort()].join('*'),
      )
      .sort()
      .join('+');
  }

  /**
   * Whether a form that is not 0 has a value that is none: its unknowns are variables, i, roots of primes (products of such roots below their
   * degrees are linearly independent over the rationals, by Besicovitch) and at most one of pi and e.
   */
  proven(p: Polynomial): boolean {
    let transcendental = 0;
    const degrees = new Map<bigint, number>();
    for (const id of unknownsOf(p)) {
      const { kind, prime, degree } = this.#unknowns[id]!;
      if (kind === 'root' || kind === 'opaque') return false;
      if (kind === 'transcendental') transcendental++;
      if (prime === undefined || degree === undefined) continue;
      if ((degrees.get(prime) ?? degree) !== degree) return false;
      degrees.set(prime, degree);
    }
    return transcendental <= 1;
  }

  #onlyVariables(p: Polynomial): boolean {
    for (const id of unknownsOf(p)) if (this.#unknowns[id]!.kind !== 'variable') return false;
    return true;
  }

  #times(a: Polynomial, b: Polynomial): Polynomial {
    if (a === UNIT) return b;
    if (b === UNIT) return a;
    return multiplyBy(a, b, this.budget, this.#reducible ? this.#reduce : () => undefined);
  }

  #reduce = (exponents: Exponents): { readonly exponents: Exponents; readonly factor: Polynomial } | undefined => {
    for (const [index, [id, exponent]] of exponents.entries()) {
      const { degree, power } = this.#unknowns[id]!;
      if (degree === undefined || power === undefined || exponent < degree) continue;
      const rest: Exponents =
        exponent === degree
          ? exponents.filter((_, i) => i !== index)
          : exponents.map((pair, i) => (i === index ? ([id, exponent - degree] as const) : pair));
      return { exponents: rest, factor: power };
    }
    return undefined;
  };

  /** Each tree once: what stands in several places, or is looked at twice, costs nothing more. */
  #quotient(node: Node): Quotient {
    let known = this.#known.get(node);
    if (known === undefined) {
      this.budget.spend(100);
      known = this.#read(node);
      this.#known.set(node, known);
    }
    return known;
  }

  #read(node: Node): Quotient {
    switch (node.kind) {
      case 'number':
        return fraction(node.value);
      case 'name':
        return this.#unknown(`'${node.name}'`, { kind: 'variable' });
      case 'constant':
        if (node.name === 'i') return this.#unknown('i', { kind: 'imaginary', degree: 2, power: constant(whole(-1)) });
        return this.#unknown(node.name, { kind: node.name === 'infinity' ? 'opaque' : 'transcendental' });
      case 'sum':
        return node.terms.map((term) => this.#quotient(term)).reduce((a, b) => this.#add(a, b));
      case 'product':
        return node.factors.map((factor) => this.#quotient(factor)).reduce((a, b) => this.#multiply(a, b));
      case 'quotient':
        return this.#multiply(this.#quotient(node.numerator), turned(this.#quotient(node.denominator)));
      case 'power':
        return this.#power(node.base, node.exponent);
      case 'root':
        return this.#root(node.radicand, node.degree);
      case 'call':
        if (node.name === 'exp' && node.args.length === 1) return this.#power({ kind: 'constant', name: 'e' }, node.args[0]!);
        return this.#opaque(node);
      default:
        return this.#opaque(node);
    }
  }

  #unknown(key: string, about: Unknown): Quotient {
    let id = this.#ids.get(key);
    if (id === undefined) {
      id = this.#unknowns.length;
      this.#ids.set(key, id);
      this.#unknowns.push(about);
      if (about.degree !== undefined) this.#reducible = true;
    }
    return { numerator: unknown(id), denominator: UNIT };
  }

  /** An unknown of its own, with its arguments in canonical spelling. */
  #opaque(node: Node): Quotient {
    const exact = exactValue(node, this.budget);
    if (exact === 'noValue') throw new TooLarge();
    if (exact !== 'unknown') return fraction(exact);
    const children = childrenOf(node).map((child): Node => {
      const { numerator, denominator } = this.#quotient(child);
      return { kind: 'name', name: `${textOf(numerator)} over ${textOf(denominator)}` };
    });
    return this.#unknown(keyOfNode(withChildren(node, children)), { kind: 'opaque' });
  }

  #add(a: Quotient, b: Quotient): Quotient {
    if (a.denominator === b.denominator) return { numerator: addTo(a.numerator, b.numerator, this.budget), denominator: a.denominator };
    return {
      numerator: addTo(this.#times(a.numerator, b.denominator), this.#times(b.numerator, a.denominator), this.budget),
      denominator: this.#times(a.denominator, b.denominator),
    };
  }

  #multiply(a: Quotient, b: Quotient): Quotient {
    return { numerator: this.#times(a.numerator, b.numerator), denominator: this.#times(a.denominator, b.denominator) };
  }

  #power(base: Node, exponentNode: Node): Quotient {
    const exponent = exactValue(exponentNode, this.budget);
    if (exponent === 'noValue') throw new TooLarge();
    if (exponent === 'unknown') return this.#opaque({ kind: 'power', base, exponent: exponentNode });
    if (!isWhole(exponent)) {
      if (exponent.denominator > 24n) return this.#opaque({ kind: 'power', base, exponent: exponentNode });
      return this.#wholePower(this.#root(base, Number(exponent.denominator)), exponent.numerator);
    }
    const exact = exactValue({ kind: 'power', base, exponent: number(exponent) }, this.budget);
    if (exact === 'noValue') throw new TooLarge();
    if (exact !== 'unknown') return fraction(exact);
    return this.#wholePower(this.#quotient(base), exponent.numerator);
  }

  #wholePower(base: Quotient, exponent: bigint): Quotient {
    const size = exponent < 0n ? -exponent : exponent;
    if (size > MAX_POWER) throw new TooLarge();
    let result: Quotient = { numerator: UNIT, denominator: UNIT };
    for (let i = 0n; i < size; i++) result = this.#multiply(result, base);
    return exponent < 0n ? turned(result) : result;
  }

  #root(radicand: Node, degree: number): Quotient {
    const exact = exactValue({ kind: 'root', degree, radicand }, this.budget);
    if (typeof exact !== 'string') return fraction(exact);
    const inner = this.#quotient(radicand);
    const [top, bottom] = [asConstant(inner.numerator), asConstant(inner.denominator)];
    if (top === undefined || bottom === undefined) return this.#opaque({ kind: 'root', degree, radicand });
    const divided = inverse(bottom);
    if (divided === undefined) throw new TooLarge();
    const value = rational(top.numerator * divided.numerator, top.denominator * divided.denominator);
    if (value.numerator < 0n && degree === 2) {
      return this.#multiply(
        this.#quotient({ kind: 'constant', name: 'i' }),
        this.#rootOfNumber(whole(-value.numerator), value.denominator, 2),
      );
    }
    if (value.numerator < 0n && degree % 2 === 0) return this.#opaque({ kind: 'root', degree, radicand });
    const sign = value.numerator < 0n ? -1n : 1n;
    const size = this.#rootOfNumber(whole(sign * value.numerator), value.denominator, degree);
    return { numerator: sign < 0n ? negated(size.numerator) : size.numerator, denominator: size.denominator };
  }

  /** The root of n/d as the root of n * d^(degree - 1), over d, with whole powers taken out. */
  #rootOfNumber(n: Rational, d: bigint, degree: number): Quotient {
    if (bitLength(n.numerator) + bitLength(d) * degree > MAX_RADICAND_BITS) throw new TooLarge();
    const { outside, primes, rest } = takeOut(n.numerator * d ** BigInt(degree - 1), degree);
    let result = fraction(rational(outside, d));
    for (const [prime, count] of primes) {
      const root = this.#unknown(`root ${degree} ${prime}`, { kind: 'primeRoot', prime, degree, power: constant(whole(prime)) });
      for (let i = 0; i < count; i++) result = this.#multiply(result, root);
    }
    if (rest === 1n) return result;
    return this.#multiply(result, this.#unknown(`root ${degree} ${rest}`, { kind: 'root', degree, power: constant(whole(rest)) }));
  }
}

const fraction = (value: Rational): Quotient => ({ numerator: constant(value), denominator: UNIT });

function turned(a: Quotient): Quotient {
  if (isZero(a.numerator)) throw new TooLarge();
  const value = asConstant(a.numerator);
  if (value !== undefined) return { numerator: scaleBy(a.denominator, inverse(value)!), denominator: UNIT };
  return { numerator: a.denominator, denominator: a.numerator };
}

const LARGEST_PRIME = 1000n;
const MAX_RADICAND_BITS = 2000;

/** n as outside^degree * primes * rest, as far as small primes show; the rest is 1 or has no small factor. */
function takeOut(
  n: bigint,
  degree: number,
): { readonly outside: bigint; readonly primes: readonly (readonly [prime: bigint, count: number])[]; readonly rest: bigint } {
  let [outside, rest] = [1n, n];
  const primes: [bigint, number][] = [];
  for (let p = 2n; p < LARGEST_PRIME && rest > 1n; p += p === 2n ? 1n : 2n) {
    if (p * p > rest) {
      // No factor up to its root: a prime.
      primes.push([rest, 1]);
      return { outside, primes, rest: 1n };
    }
    let count = 0;
    while (rest % p === 0n) {
      rest /= p;
      count++;
    }
    outside *= p ** BigInt(Math.floor(count / degree));
    if (count % degree > 0) primes.push([p, count % degree]);
  }
  return { outside, primes, rest };
}
