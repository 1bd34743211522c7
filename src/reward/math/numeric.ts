/** The value of a tree at a point, as a complex number with a certain error. */
import type { Budget } from './budget.js';
import { type Complex, ComplexArithmetic, IMAGINARY_UNIT, isReal, NoValue, real } from './complex.js';
import { exactValue } from './exact.js';
import type { Node } from './node.js';
import { floor, ONE, type Rational, rational, whole } from './rational.js';
import { RealArithmetic, signOf, Uncertain } from './real.js';

/** Exact values of the variables. */
export type Point = ReadonlyMap<string, Rational>;

const MAX_TERMS = 300;
/** Exponents with a larger denominator go through the logarithm. */
const LARGEST_ROOT = 60n;

export class Evaluator {
  readonly arithmetic: ComplexArithmetic;
  readonly #budget: Budget;

  constructor(bits: number, budget: Budget) {
    this.arithmetic = new ComplexArithmetic(new RealArithmetic(bits, budget));
    this.#budget = budget;
  }

  /** @throws NoValue, Uncertain, OutOfBudget */
  value(node: Node, point: Point): Complex {
    const A = this.arithmetic;
    this.#budget.spend(30);
    switch (node.kind) {
      case 'number':
        return A.fromRational(node.value);
      case 'name': {
        const value = point.get(node.name);
        if (value === undefined) throw new Uncertain();
        return A.fromRational(value);
      }
      case 'constant':
        if (node.name === 'pi') return real(A.real.pi());
        if (node.name === 'e') return real(A.real.exp({ m: 1n, e: 0, r: -Infinity }));
        if (node.name === 'i') return IMAGINARY_UNIT;
        throw new Uncertain();
      case 'sum':
        return node.terms.map((term) => this.value(term, point)).reduce((a, b) => A.add(a, b));
      case 'product':
        return node.factors.map((factor) => this.value(factor, point)).reduce((a, b) => A.multiply(a, b));
      case 'quotient':
        return A.divide(this.value(node.numerator, point), this.value(node.denominator, point));
      case 'power': {
        const exact = exactValue(node.exponent, this.#budget, point);
        if (exact === 'noValue') throw new NoValue();
        if (node.base.kind === 'constant' && node.base.name === 'e') return A.exp(this.value(node.exponent, point));
        const base = this.value(node.base, point);
        const small = exact !== 'unknown' && exact.denominator <= LARGEST_ROOT;
        return small ? A.rationalPower(base, exact) : A.power(base, this.value(node.exponent, point));
      }
      case 'root':
        return A.root(this.value(node.radicand, point), node.degree);
      case 'call':
        return this.#call(node, point);
      case 'series':
        return this.#series(node, point);
      default:
        throw new Uncertain();
    }
  }

  #call(node: Extract<Node, { kind: 'call' }>, point: Point): Complex {
    const A = this.arithmetic;
    const exact = exactValue(node, this.#budget, point);
    if (exact === 'noValue') throw new NoValue();
    if (exact !== 'unknown') return A.fromRational(exact);
    const args = node.args.map((arg) => this.value(arg, point));
    const [x, y] = args as [Complex, Complex | undefined];
    if (x === undefined) throw new Uncertain();
    const one = A.fromRational(ONE);
    switch (node.name) {
      case 'sin':
        return A.sin(x);
      case 'cos':
        return A.cos(x);
      case 'tan':
        return A.divide(A.sin(x), A.cos(x));
      case 'cot':
        return A.divide(A.cos(x), A.sin(x));
      case 'sec':
        return A.divide(one, A.cos(x));
      case 'csc':
        return A.divide(one, A.sin(x));
      case 'arcsin':
        return A.arcsin(x);
      case 'arccos':
        return A.arccos(x);
      case 'arctan':
        return A.arctan(x);
      case 'sinh':
        return A.sinh(x);
      case 'cosh':
        return A.cosh(x);
      case 'tanh':
        return A.divide(A.sinh(x), A.cosh(x));
      case 'exp':
        return A.exp(x);
      case 'ln':
        return A.ln(x);
      case 'log':
        if (y === undefined) throw new Uncertain();
        return A.divide(A.ln(x), A.ln(y));
      case 'abs':
        return real(A.abs(x));
      case 'floor':
      case 'ceil':
        return this.#rounded(x, node.name);
      case 'binomial':
        return this.#binomial(node, x, point);
      case 'max':
      case 'min':
        return this.#extreme(args, node.name);
      default:
        throw new Uncertain();
    }
  }

  /** Certain only where no whole number lies within the error. */
  #rounded(x: Complex, way: 'floor' | 'ceil'): Complex {
    if (!isReal(x)) throw new Uncertain();
    const { m, e, r } = x.re;
    if (r > -20 || e > 4000 || e < -20_000) throw new Uncertain();
    const middle = e >= 0 ? whole(m << BigInt(e)) : rational(m, 1n << BigInt(-e));
    const error = r === -Infinity ? whole(0n) : rational(1n, 1n << BigInt(Math.max(1, Math.floor(-r))));
    const [low, high] = [-1n, 1n].map((side) => {
      const end = rational(
        middle.numerator * error.denominator + side * error.numerator * middle.denominator,
        middle.denominator * error.denominator,
      );
      return way === 'floor' ? floor(end) : -floor({ numerator: -end.numerator, denominator: end.denominator });
    });
    if (low !== high) throw new Uncertain();
    return this.arithmetic.fromRational(whole(low!));
  }

  /** n over a small whole number, for any n. */
  #binomial(node: Extract<Node, { kind: 'call' }>, n: Complex, point: Point): Complex {
    const A = this.arithmetic;
    const k = exactValue(node.args[1]!, this.#budget, point);
    if (typeof k === 'string' || k.denominator !== 1n || k.numerator < 0n || k.numerator > 50n) throw new Uncertain();
    let result = A.fromRational(ONE);
    for (let i = 0n; i < k.numerator; i++) {
      result = A.multiply(result, A.divide(A.subtract(n, A.fromRational(whole(i))), A.fromRational(whole(i + 1n))));
    }
    return result;
  }

  #extreme(args: readonly Complex[], which: 'max' | 'min'): Complex {
    return args.reduce((a, b) => {
      if (!isReal(a) || !isReal(b)) throw new Uncertain();
      const sign = signOf(this.arithmetic.real.subtract(a.re, b.re));
      if (sign === undefined) throw new Uncertain();
      return sign >= 0 === (which === 'max') ? a : b;
    });
  }

  #series(node: Extract<Node, { kind: 'series' }>, point: Point): Complex {
    const [from, to] = [exactValue(node.from, this.#budget, point), exactValue(node.to, this.#budget, point)];
    if (typeof from === 'string' || typeof to === 'string' || from.denominator !== 1n || to.denominator !== 1n) throw new Uncertain();
    if (to.numerator - from.numerator > BigInt(MAX_TERMS)) throw new Uncertain();
    const A = this.arithmetic;
    let result = A.fromRational(whole(node.of === 'sum' ? 0 : 1));
    for (let k = from.numerator; k <= to.numerator; k++) {
      const term = this.value(node.body, new Map([...point, [node.index, whole(k)]]));
      result = node.of === 'sum' ? A.add(result, term) : A.multiply(result, term);
    }
    return result;
  }
}
