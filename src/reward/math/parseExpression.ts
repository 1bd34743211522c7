/**
 * Tokens to a tree, by recursive descent: LaTeX and plain notation in one grammar. Depth is limited, time linear. A text that is not an
 * expression as a whole is none: nothing is skipped, and no number is picked out.
 *
 * Readings: `1/2x` is half of x; `2\frac{1}{2}` and `2 1/2` are two and a half, and no number where the part is improper; `-3^2` is -9;
 * `\sin^{-1}` is the inverse; `\sin x y` takes both, `\sin x(y)` and `\sin x \cos y` take x; letters f, g and h before a bracket are
 * functions.
 */
import { type FunctionName, MINUS_ONE, type Node, negated, number, power, product, quotient, sum } from './node.js';
import { type Rational, whole } from './rational.js';
import type { Token } from './tokens.js';

/** Each bracket counts twice or three times: once for what stands in it, once for itself. */
const MAX_DEPTH = 300;

/** What the parser gives up with; never leaves this file. */
class NoExpression extends Error {}

export interface Parsed {
  readonly node: Node;
  /** Index of the first token that is no part of it. */
  readonly end: number;
}

/** The longest expression from `from` on, before `to`. Undefined where there is none. */
export function parseExpression(tokens: readonly Token[], from: number, to: number): Parsed | undefined {
  const parser = new Parser(tokens, from, to);
  try {
    const node = parser.whole();
    return { node, end: parser.at };
  } catch (error) {
    if (error instanceof NoExpression) return undefined;
    throw error;
  }
}

const INVERSES: ReadonlyMap<string, FunctionName> = new Map([
  ['sin', 'arcsin'],
  ['cos', 'arccos'],
  ['tan', 'arctan'],
]);
const OPENING: ReadonlySet<string> = new Set([
  '(',
  '{',
  '√',
  '∛',
  '\\sqrt',
  '\\frac',
  '\\binom',
  '⌊',
  '⌈',
  '(abs',
  '\\sum',
  '\\prod',
  '\\int',
  '\\begin vmatrix',
]);
const MAX_ROOT = 50;

class Parser {
  readonly #tokens: readonly Token[];
  readonly #to: number;
  at: number;
  #depth = 0;
  #bars = 0;
  #integrals = 0;
  /** Above 0 inside the argument of a function, where degrees are an angle; elsewhere they are a unit. */
  #functions = 0;

  constructor(tokens: readonly Token[], from: number, to: number) {
    this.#tokens = tokens;
    this.at = from;
    this.#to = to;
  }

  /** All that stands in braces or alone: `n \choose k` and `a \over b` take it whole. */
  whole(): Node {
    const top = this.sum();
    if (!this.#isSign('\\choose', '\\over')) return top;
    const choose = this.#isSign('\\choose');
    this.at++;
    const bottom = this.sum();
    if (this.#isSign('\\choose', '\\over')) throw new NoExpression();
    return choose ? call('binomial', top, bottom) : quotient(top, bottom);
  }

  sum(): Node {
    if (++this.#depth > MAX_DEPTH) throw new NoExpression();
    const terms: Node[] = [];
    for (;;) {
      const operator = this.#isSign('+', '-', '±', '∓') ? this.#next() : undefined;
      if (operator === undefined && terms.length > 0) break;
      // A sign may follow an operator, as in 3 - -2; two signs in front are none.
      const signed = operator !== undefined && terms.length > 0 && this.#isSign('+', '-') ? this.#next() : undefined;
      if (operator !== undefined && this.#isSign('+', '-', '±', '∓')) throw new NoExpression();
      const term = signed?.type === 'sign' && signed.sign === '-' ? negated(this.#term()) : this.#term();
      const mark = operator?.type === 'sign' ? operator.sign : '+';
      if (mark === '+') terms.push(term);
      else if (mark === '-') terms.push(negated(term));
      else terms.push(product([{ kind: 'plusMinus', turned: mark === '∓' }, term]));
    }
    this.#depth--;
    return sum(terms);
  }

  #term(): Node {
    let factors: Node[] = [this.#factor()];
    for (;;) {
      if (this.#isSign('*')) {
        this.at++;
        factors.push(this.#signed());
      } else if (this.#isSign('/')) {
        this.at++;
        factors = [quotient(product(factors), this.#signed())];
      } else if (this.#startsFactor()) factors.push(this.#factor());
      else return product(factors);
    }
  }

  /** A factor that may carry a sign: after `*`, `/` and `^`. */
  #signed(): Node {
    const minus = this.#isSign('-');
    if (minus || this.#isSign('+')) this.at++;
    return minus ? negated(this.#factor()) : this.#factor();
  }

  /** Whether a product goes on without a sign. A number never follows so. */
  #startsFactor(): boolean {
    const token = this.#peek();
    if (token === undefined) return false;
    if (token.type === 'name' && token.name === 'd' && this.#integrals > 0 && this.#peek(1)?.type === 'name') return false;
    if (token.type === 'name' || token.type === 'constant' || token.type === 'function') return true;
    if (token.type !== 'sign') return false;
    if (token.sign === '\\frac' && this.#peek(2)?.type === 'word') return false;
    return OPENING.has(token.sign) || (token.sign === '|' && this.#bars === 0);
  }

  #factor(): Node {
    const base = this.#postfix(this.#primary());
    const afterDegree = isDegree(this.#tokens, this.at, this.#to);
    if (afterDegree !== undefined) {
      if (this.#functions === 0) return base;
      this.at = afterDegree;
      return product([base, { kind: 'constant', name: 'pi' }, number({ numerator: 1n, denominator: 180n })]);
    }
    if (!this.#isSign('^')) return base;
    this.at++;
    return this.#postfix(power(base, this.#exponent()));
  }

  #exponent(): Node {
    if (++this.#depth > MAX_DEPTH) throw new NoExpression();
    const exponent = this.#isSign('{') ? this.#raisedGroup() : this.#signed();
    this.#depth--;
    return exponent;
  }

  /** x^{2}y is no power of 2y; x^{2}^{3} is none at all. */
  #raisedGroup(): Node {
    const inner = this.#group('{', '}');
    if (this.#isSign('^')) throw new NoExpression();
    return inner;
  }

  #postfix(node: Node): Node {
    let result = node;
    for (;;) {
      if (this.#isSign('!')) {
        this.at++;
        const twice = this.#isSign('!') && this.#peek()?.spaceBefore === false;
        if (twice) this.at++;
        if (this.#isSign('!')) throw new NoExpression();
        result = call(twice ? 'doubleFactorial' : 'factorial', result);
      } else if (this.#isSign('%')) {
        this.at++;
        result = quotient(result, number(whole(100)));
      } else return result;
    }
  }

  #primary(): Node {
    if (++this.#depth > MAX_DEPTH) throw new NoExpression();
    const node = this.#atom();
    this.#depth--;
    return node;
  }

  #atom(): Node {
    const token = this.#peek();
    if (token === undefined) throw new NoExpression();
    if (token.type === 'number') return this.#number();
    if (token.type === 'constant') return this.#unlessIndexed({ kind: 'constant', name: token.name });
    if (token.type === 'name') return this.#name();
    if (token.type === 'function') return this.#call(token.name);
    if (token.type !== 'sign') throw new NoExpression();
    switch (token.sign) {
      case '(':
        return this.#group('(', ')');
      case '[':
        return this.#group('[', ']');
      case '{':
        return this.#group('{', '}');
      case '(abs':
        return call('abs', this.#group('(abs', ')abs'));
      case '⌊':
        return call('floor', this.#group('⌊', '⌋'));
      case '⌈':
        return call('ceil', this.#group('⌈', '⌉'));
      case '|': {
        this.at++;
        this.#bars++;
        const inner = this.sum();
        this.#bars--;
        this.#take('|');
        return call('abs', inner);
      }
      case '\\frac': {
        this.at++;
        const numerator = this.#argument();
        return quotient(numerator, this.#argument());
      }
      case '\\binom': {
        this.at++;
        const top = this.#argument();
        return call('binomial', top, this.#argument());
      }
      case '\\sqrt':
        return this.#root();
      case '√':
      case '∛': {
        this.at++;
        const degree = token.sign === '√' ? 2 : 3;
        return root(degree, this.#primary());
      }
      case '\\sum':
      case '\\prod':
        return this.#series(token.sign === '\\sum' ? 'sum' : 'product');
      case '\\int':
        return this.#integral();
      case '\\begin vmatrix':
        return this.#determinant();
      default:
        throw new NoExpression();
    }
  }

  /** A number, or a mixed one. */
  #number(): Node {
    const token = this.#next();
    if (token?.type !== 'number') throw new NoExpression();
    if (token.exponent !== undefined) {
      return product([number(token.value), power(number(whole(10)), number(whole(token.exponent)))]);
    }
    const plain = number(token.value);
    const next = this.#peek();
    if (next === undefined) return plain;
    if (this.#isSign('_')) throw new NoExpression();
    if (token.digits !== '' && next.type === 'sign' && next.sign === '\\frac') {
      const fraction = this.#plainFraction();
      if (fraction === undefined) return plain;
      return this.#mixed(token.value, fraction);
    }
    if (next.type === 'number') {
      if (token.digits === '' || next.digits === '' || !next.spaceBefore) throw new NoExpression();
      const [slash, denominator] = [this.#peek(1), this.#peek(2)];
      if (slash?.type !== 'sign' || slash.sign !== '/' || denominator?.type !== 'number' || denominator.digits === '')
        throw new NoExpression();
      this.at += 3;
      return this.#mixed(token.value, [next.value.numerator, denominator.value.numerator]);
    }
    return plain;
  }

  #mixed(before: Rational, [numerator, denominator]: readonly [bigint, bigint]): Node {
    if (numerator >= denominator || this.#isSign('/', '^', '!')) throw new NoExpression();
    return number({ numerator: before.numerator * denominator + numerator, denominator });
  }

  /** \frac of two plain whole numbers, taken; undefined and nothing taken for any other. */
  #plainFraction(): readonly [bigint, bigint] | undefined {
    const start = this.at;
    this.at++;
    const [numerator, denominator] = [this.#plainArgument(), this.#plainArgument()];
    if (numerator !== undefined && denominator !== undefined) return [numerator, denominator];
    this.at = start;
    this.#restore = undefined;
    return undefined;
  }

  #plainArgument(): bigint | undefined {
    const braced = this.#isSign('{');
    if (braced) this.at++;
    const token = this.#peek();
    if (token?.type !== 'number' || token.digits === '') return undefined;
    if (!braced) return this.#digit(token.digits);
    this.at++;
    if (!this.#isSign('}')) return undefined;
    this.at++;
    return token.value.numerator;
  }

  /** Digits of a number token that were not yet taken: `\frac12` has two arguments in one token. */
  #restore: { readonly at: number; readonly digits: string } | undefined;

  #digit(digits: string): bigint {
    const rest = this.#restore?.at === this.at ? this.#restore.digits : digits;
    this.#restore = rest.length > 1 ? { at: this.at, digits: rest.slice(1) } : undefined;
    if (rest.length === 1) this.at++;
    return BigInt(rest[0]!);
  }

  /** An argument of a LaTeX command: a group, one digit, one letter or one command. */
  #argument(): Node {
    const token = this.#peek();
    if (token?.type === 'number' && token.digits !== '') return number(whole(this.#digit(token.digits)));
    if (token?.type === 'number') throw new NoExpression();
    if (token?.type === 'sign' && token.sign === '(') throw new NoExpression();
    return this.#primary();
  }

  #root(): Node {
    this.at++;
    let degree = 2;
    if (this.#isSign('[')) {
      const token = this.#peek(1);
      if (token?.type !== 'number' || token.digits === '' || token.digits.length > 2) throw new NoExpression();
      degree = Number(token.digits);
      this.at += 2;
      this.#take(']');
      if (degree < 2 || degree > MAX_ROOT) throw new NoExpression();
    }
    const token = this.#peek();
    if (token?.type === 'number' && token.digits.length !== 1) throw new NoExpression();
    return root(degree, this.#primary());
  }

  #name(): Node {
    const token = this.#next();
    if (token?.type !== 'name') throw new NoExpression();
    let name = token.name;
    if (this.#isSign('_')) name += `_${this.#index()}`;
    while (this.#isSign("'")) {
      name += "'";
      this.at++;
    }
    if (/^[fghFGH](?![a-zA-Z])/.test(name) && this.#isSign('(')) return { kind: 'apply', name, args: this.#arguments() };
    return { kind: 'name', name };
  }

  #unlessIndexed(node: Node): Node {
    this.at++;
    if (!this.#isSign('_') || node.kind !== 'constant') return node;
    return { kind: 'name', name: `${node.name}_${this.#index()}` };
  }

  /** What stands after `_`, in one spelling. */
  #index(): string {
    this.at++;
    const parts: string[] = [];
    let depth = 0;
    do {
      const token = this.#next();
      if (token === undefined) throw new NoExpression();
      if (token.type === 'sign' && token.sign === '{') depth++;
      else if (token.type === 'sign' && token.sign === '}') depth--;
      else if (token.type === 'sign') parts.push(token.sign);
      else if (token.type === 'number') parts.push(token.digits === '' ? 'number' : token.digits);
      else if (token.type === 'word') parts.push(token.text);
      else parts.push(token.name);
      if (parts.length > 20) throw new NoExpression();
    } while (depth > 0);
    return parts.join(' ');
  }

  #arguments(): Node[] {
    this.#take('(');
    const bars = this.#bars;
    this.#bars = 0;
    const args = [this.sum()];
    while (this.#isSign(',')) {
      this.at++;
      args.push(this.sum());
    }
    this.#bars = bars;
    this.#take(')');
    return args;
  }

  #call(name: FunctionName): Node {
    this.at++;
    if (++this.#depth > MAX_DEPTH) throw new NoExpression();
    let base: Node | undefined;
    if (this.#isSign('_')) {
      if (name !== 'log') throw new NoExpression();
      this.at++;
      base = this.#argument();
    }
    let exponent: Node | undefined;
    if (this.#isSign('^')) {
      this.at++;
      exponent = this.#isSign('{') ? this.#group('{', '}') : this.#argument();
    }
    if (this.#isSign('_') && name === 'log' && base === undefined) {
      this.at++;
      base = this.#argument();
    }
    this.#functions++;
    const args = this.#callArguments();
    this.#functions--;
    this.#depth--;
    const inverse = exponent !== undefined && isMinusOne(exponent) ? INVERSES.get(name) : undefined;
    if (inverse !== undefined) return call(inverse, ...args);
    const value = call(name, ...args, ...(base === undefined ? [] : [base]));
    return exponent === undefined ? value : power(value, exponent);
  }

  #callArguments(): readonly Node[] {
    if (this.#isSign('(')) return this.#arguments();
    if (this.#isSign('{')) {
      const inside = this.#peek(1);
      if (inside?.type === 'sign' && inside.sign === '(' && this.#closing(this.at + 1) === this.#closing(this.at) - 1) {
        this.at++;
        const args = this.#arguments();
        this.#take('}');
        return args;
      }
      return [this.#group('{', '}')];
    }
    const factors = [this.#factor()];
    while (this.#startsFactor() && this.#peek()?.type !== 'function' && !this.#isSign('(', '[')) factors.push(this.#factor());
    return [product(factors)];
  }

  /** Index of the bracket that closes the one at `open`; -1 where there is none. */
  #closing(open: number): number {
    let depth = 0;
    for (let i = open; i < this.#to; i++) {
      const token = this.#tokens[i]!;
      if (token.type !== 'sign') continue;
      if (token.sign === '(' || token.sign === '{') depth++;
      else if ((token.sign === ')' || token.sign === '}') && --depth === 0) return i;
    }
    return -1;
  }

  #series(of: 'sum' | 'product'): Node {
    this.at++;
    this.#take('_');
    this.#take('{');
    const index = this.#next();
    if (index?.type !== 'name' && !(index?.type === 'constant' && index.name === 'i')) throw new NoExpression();
    this.#take('=');
    const from = this.sum();
    this.#take('}');
    this.#take('^');
    const to = this.#argument();
    let body = this.#term();
    if (index.name === 'i') body = indexed(body);
    return { kind: 'series', of, index: index.name, from, to, body };
  }

  #integral(): Node {
    this.at++;
    this.#take('_');
    const from = this.#bound();
    this.#take('^');
    const to = this.#bound();
    this.#integrals++;
    const body = this.#isName('d') ? number(whole(1)) : this.sum();
    this.#integrals--;
    if (!this.#isName('d')) throw new NoExpression();
    this.at++;
    const variable = this.#next();
    if (variable?.type !== 'name') throw new NoExpression();
    return { kind: 'integral', variable: variable.name, from, to, body };
  }

  #bound(): Node {
    if (!this.#isSign('-')) return this.#argument();
    this.at++;
    return negated(this.#argument());
  }

  #determinant(): Node {
    const rows = parseRows(this.#tokens, this.at, this.#to);
    // One in another would be written out many times over.
    const nested = this.#tokens.slice(this.at + 1, rows?.end).some((token) => token.type === 'sign' && token.sign.startsWith('\\begin '));
    if (nested || rows === undefined || rows.rows.some((row) => row.length !== rows.rows.length) || rows.rows.length > 4)
      throw new NoExpression();
    this.at = rows.end;
    return determinant(rows.rows);
  }

  #group(open: string, close: string): Node {
    this.#take(open);
    const bars = this.#bars;
    this.#bars = 0;
    const inner = open === '{' ? this.whole() : this.sum();
    this.#bars = bars;
    this.#take(close);
    return inner;
  }

  #peek(ahead = 0): Token | undefined {
    const at = this.at + ahead;
    return at < this.#to ? this.#tokens[at] : undefined;
  }

  #next(): Token | undefined {
    const token = this.#peek();
    this.at++;
    return token;
  }

  #isSign(...signs: readonly string[]): boolean {
    const token = this.#peek();
    return token?.type === 'sign' && signs.includes(token.sign);
  }

  #isName(name: string): boolean {
    const token = this.#peek();
    return token?.type === 'name' && token.name === name;
  }

  #take(sign: string): void {
    if (!this.#isSign(sign)) throw new NoExpression();
    this.at++;
  }
}

const call = (name: FunctionName, ...args: readonly Node[]): Node => ({ kind: 'call', name, args });
const root = (degree: number, radicand: Node): Node => ({ kind: 'root', degree, radicand });

const isMinusOne = (node: Node): boolean =>
  node === MINUS_ONE || (node.kind === 'product' && node.factors.length === 2 && node.factors[0] === MINUS_ONE && isOne(node.factors[1]!));
const isOne = (node: Node): boolean => node.kind === 'number' && node.value.numerator === 1n && node.value.denominator === 1n;

/** An index called i is no imaginary unit. */
function indexed(node: Node): Node {
  if (node.kind === 'constant' && node.name === 'i') return { kind: 'name', name: 'i' };
  if (node.kind === 'sum') return { ...node, terms: node.terms.map(indexed) };
  if (node.kind === 'product') return { ...node, factors: node.factors.map(indexed) };
  if (node.kind === 'quotient') return quotient(indexed(node.numerator), indexed(node.denominator));
  if (node.kind === 'power') return power(indexed(node.base), indexed(node.exponent));
  if (node.kind === 'root') return root(node.degree, indexed(node.radicand));
  if (node.kind === 'call') return { ...node, args: node.args.map(indexed) };
  return node;
}

/** The index after `°`, `^\circ` or `^{\circ}` at `at`; undefined where none stands there. */
export function isDegree(tokens: readonly Token[], at: number, to: number): number | undefined {
  const signAt = (i: number): string | undefined => {
    const token = i < to ? tokens[i] : undefined;
    return token?.type === 'sign' ? token.sign : undefined;
  };
  if (signAt(at) === '°' || signAt(at) === '∘') return at + 1;
  if (signAt(at) !== '^') return undefined;
  if (signAt(at + 1) === '∘') return at + 2;
  return signAt(at + 1) === '{' && signAt(at + 2) === '∘' && signAt(at + 3) === '}' ? at + 4 : undefined;
}

const MAX_CELLS = 400;

/** The cells of a `\begin{…matrix}` at `from`. */
export function parseRows(
  tokens: readonly Token[],
  from: number,
  to: number,
): { readonly rows: Node[][]; readonly end: number } | undefined {
  const begin = tokens[from];
  if (begin?.type !== 'sign' || !begin.sign.startsWith('\\begin ')) return undefined;
  const endSign = begin.sign.replace('begin', 'end');
  const rows: Node[][] = [[]];
  let at = from + 1;
  for (let cells = 0; cells <= MAX_CELLS; cells++) {
    const cell = parseExpression(tokens, at, to);
    if (cell === undefined) return undefined;
    rows[rows.length - 1]!.push(cell.node);
    const after = tokens[cell.end];
    if (cell.end >= to || after?.type !== 'sign') return undefined;
    at = cell.end + 1;
    if (after.sign === '\\\\') {
      const next = tokens[at];
      if (next?.type === 'sign' && next.sign === endSign) return { rows, end: at + 1 };
      rows.push([]);
    } else if (after.sign === endSign) return { rows, end: at };
    else if (after.sign !== '&') return undefined;
  }
  return undefined;
}

function determinant(rows: readonly (readonly Node[])[]): Node {
  if (rows.length === 1) return rows[0]![0]!;
  return sum(
    rows[0]!.map((cell, column) => {
      const minor = determinant(rows.slice(1).map((row) => row.filter((_, i) => i !== column)));
      return column % 2 === 0 ? product([cell, minor]) : product([MINUS_ONE, cell, minor]);
    }),
  );
}
