/**
 * Tokens to a tree, by recursive descent: LaTeX and plain notation in one grammar. Depth is limited, time linear. A text that is not an
 * expression as a whole is none: nothing is skipped, and no number is picked out.
 *
 * Readings: `1/2x` is half of x; `2\frac{1}{2}` and `2 1/2` are two and a half, and no number where the part is improper; `-3^2` is -9;
 * `\sin^{-1}` is the inverse; `\sin x y` takes both, `\sin x(y)` and `\sin x \cos y` take x; letters f, g and h before a bracket are
 * functions.
 */
import { ApplicationParser, call, MAX_DEPTH } from './applicationParser.js';
import { isDegree } from './degrees.js';
import { determinant } from './determinant.js';
import { type Node, negated, number, power, product, quotient, sum } from './node.js';
import { whole } from './rational.js';
import { NoExpression } from './tokenCursor.js';
import type { Token } from './tokens.js';

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

class Parser extends ApplicationParser {
  /** All that stands in braces or alone: `n \choose k` and `a \over b` take it whole. */
  whole(): Node {
    const top = this.sum();
    if (!this.isSign('\\choose', '\\over')) return top;
    const choose = this.isSign('\\choose');
    this.at++;
    const bottom = this.sum();
    if (this.isSign('\\choose', '\\over')) throw new NoExpression();
    return choose ? call('binomial', top, bottom) : quotient(top, bottom);
  }

  sum(): Node {
    if (++this.depth > MAX_DEPTH) throw new NoExpression();
    const terms: Node[] = [];
    for (;;) {
      const operator = this.isSign('+', '-', '±', '∓') ? this.next() : undefined;
      if (operator === undefined && terms.length > 0) break;
      // A sign may follow an operator, as in 3 - -2; two signs in front are none.
      const signed = operator !== undefined && terms.length > 0 && this.isSign('+', '-') ? this.next() : undefined;
      if (operator !== undefined && this.isSign('+', '-', '±', '∓')) throw new NoExpression();
      const term = signed?.type === 'sign' && signed.sign === '-' ? negated(this.term()) : this.term();
      const mark = operator?.type === 'sign' ? operator.sign : '+';
      if (mark === '+') terms.push(term);
      else if (mark === '-') terms.push(negated(term));
      else terms.push(product([{ kind: 'plusMinus', turned: mark === '∓' }, term]));
    }
    this.depth--;
    return sum(terms);
  }

  protected term(): Node {
    let factors: Node[] = [this.factor()];
    for (;;) {
      if (this.isSign('*')) {
        this.at++;
        factors.push(this.#signed());
      } else if (this.isSign('/')) {
        this.at++;
        factors = [quotient(product(factors), this.#signed())];
      } else if (this.startsFactor()) factors.push(this.factor());
      else return product(factors);
    }
  }

  /** A factor that may carry a sign: after `*`, `/` and `^`. */
  #signed(): Node {
    const minus = this.isSign('-');
    if (minus || this.isSign('+')) this.at++;
    return minus ? negated(this.factor()) : this.factor();
  }

  /** Whether a product goes on without a sign. A number never follows so. */
  protected startsFactor(): boolean {
    const token = this.peek();
    if (token === undefined) return false;
    if (token.type === 'name' && token.name === 'd' && this.integrals > 0 && this.peek(1)?.type === 'name') return false;
    if (token.type === 'name' || token.type === 'constant' || token.type === 'function') return true;
    if (token.type !== 'sign') return false;
    if (token.sign === '\\frac' && this.peek(2)?.type === 'word') return false;
    return OPENING.has(token.sign) || (token.sign === '|' && this.bars === 0);
  }

  protected factor(): Node {
    const base = this.#postfix(this.#primary());
    const afterDegree = isDegree(this.tokens, this.at, this.to);
    if (afterDegree !== undefined) {
      if (this.functions === 0) return base;
      this.at = afterDegree;
      return product([base, { kind: 'constant', name: 'pi' }, number({ numerator: 1n, denominator: 180n })]);
    }
    if (!this.isSign('^')) return base;
    this.at++;
    return this.#postfix(power(base, this.#exponent()));
  }

  #exponent(): Node {
    if (++this.depth > MAX_DEPTH) throw new NoExpression();
    const exponent = this.isSign('{') ? this.#raisedGroup() : this.#signed();
    this.depth--;
    return exponent;
  }

  /** x^{2}y is no power of 2y; x^{2}^{3} is none at all. */
  #raisedGroup(): Node {
    const inner = this.group('{', '}');
    if (this.isSign('^')) throw new NoExpression();
    return inner;
  }

  #postfix(node: Node): Node {
    let result = node;
    for (;;) {
      if (this.isSign('!')) {
        this.at++;
        const twice = this.isSign('!') && this.peek()?.spaceBefore === false;
        if (twice) this.at++;
        if (this.isSign('!')) throw new NoExpression();
        result = call(twice ? 'doubleFactorial' : 'factorial', result);
      } else if (this.isSign('%')) {
        this.at++;
        result = quotient(result, number(whole(100)));
      } else return result;
    }
  }

  #primary(): Node {
    if (++this.depth > MAX_DEPTH) throw new NoExpression();
    const node = this.#atom();
    this.depth--;
    return node;
  }

  #atom(): Node {
    const token = this.peek();
    if (token === undefined) throw new NoExpression();
    if (token.type === 'number') return this.number();
    if (token.type === 'constant') return this.unlessIndexed({ kind: 'constant', name: token.name });
    if (token.type === 'name') return this.name();
    if (token.type === 'function') return this.call(token.name);
    if (token.type !== 'sign') throw new NoExpression();
    switch (token.sign) {
      case '(':
        return this.group('(', ')');
      case '[':
        return this.group('[', ']');
      case '{':
        return this.group('{', '}');
      case '(abs':
        return call('abs', this.group('(abs', ')abs'));
      case '⌊':
        return call('floor', this.group('⌊', '⌋'));
      case '⌈':
        return call('ceil', this.group('⌈', '⌉'));
      case '|': {
        this.at++;
        this.bars++;
        const inner = this.sum();
        this.bars--;
        this.take('|');
        return call('abs', inner);
      }
      case '\\frac': {
        this.at++;
        const numerator = this.argument();
        return quotient(numerator, this.argument());
      }
      case '\\binom': {
        this.at++;
        const top = this.argument();
        return call('binomial', top, this.argument());
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
        return this.series(token.sign === '\\sum' ? 'sum' : 'product');
      case '\\int':
        return this.integral();
      case '\\begin vmatrix':
        return this.#determinant();
      default:
        throw new NoExpression();
    }
  }

  /** An argument of a LaTeX command: a group, one digit, one letter or one command. */
  protected argument(): Node {
    const token = this.peek();
    if (token?.type === 'number' && token.digits !== '') return number(whole(this.digit(token.digits)));
    if (token?.type === 'number') throw new NoExpression();
    if (token?.type === 'sign' && token.sign === '(') throw new NoExpression();
    return this.#primary();
  }

  #root(): Node {
    this.at++;
    let degree = 2;
    if (this.isSign('[')) {
      const token = this.peek(1);
      if (token?.type !== 'number' || token.digits === '' || token.digits.length > 2) throw new NoExpression();
      degree = Number(token.digits);
      this.at += 2;
      this.take(']');
      if (degree < 2 || degree > MAX_ROOT) throw new NoExpression();
    }
    const token = this.peek();
    if (token?.type === 'number' && token.digits.length !== 1) throw new NoExpression();
    return root(degree, this.#primary());
  }

  #determinant(): Node {
    const rows = parseRows(this.tokens, this.at, this.to);
    // One in another would be written out many times over.
    const nested = this.tokens.slice(this.at + 1, rows?.end).some((token) => token.type === 'sign' && token.sign.startsWith('\\begin '));
    if (nested || rows === undefined || rows.rows.some((row) => row.length !== rows.rows.length) || rows.rows.length > 4)
      throw new NoExpression();
    this.at = rows.end;
    return determinant(rows.rows);
  }

  protected group(open: string, close: string): Node {
    this.take(open);
    const bars = this.bars;
    this.bars = 0;
    const inner = open === '{' ? this.whole() : this.sum();
    this.bars = bars;
    this.take(close);
    return inner;
  }
}

const root = (degree: number, radicand: Node): Node => ({ kind: 'root', degree, radicand });

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
