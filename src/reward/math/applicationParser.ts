/**
 * What is applied to something: functions by name and by letter, sums, products and integrals; and names with their indices. The rest of the
 * grammar is `parseExpression.ts`.
 */
import { type FunctionName, MINUS_ONE, mapNodes, type Node, negated, number, power, product } from './node.js';
import { NumberParser } from './numberParser.js';
import { whole } from './rational.js';
import { NoExpression } from './tokenCursor.js';

/** Each bracket counts twice or three times: once for what stands in it, once for itself. */
export const MAX_DEPTH = 300;

const INVERSES: ReadonlyMap<string, FunctionName> = new Map([
  ['sin', 'arcsin'],
  ['cos', 'arccos'],
  ['tan', 'arctan'],
]);

export abstract class ApplicationParser extends NumberParser {
  protected depth = 0;
  protected bars = 0;
  protected integrals = 0;
  /** Above 0 inside the argument of a function, where degrees are an angle; elsewhere they are a unit. */
  protected functions = 0;

  abstract sum(): Node;
  protected abstract term(): Node;
  protected abstract factor(): Node;
  protected abstract startsFactor(): boolean;
  protected abstract argument(): Node;
  protected abstract group(open: string, close: string): Node;

  protected name(): Node {
    const token = this.next();
    if (token?.type !== 'name') throw new NoExpression();
    let name = token.name;
    if (this.isSign('_')) name += `_${this.#index()}`;
    while (this.isSign("'")) {
      name += "'";
      this.at++;
    }
    if (/^[fghFGH](?![a-zA-Z])/.test(name) && this.isSign('(')) return { kind: 'apply', name, args: this.#arguments() };
    return { kind: 'name', name };
  }

  protected unlessIndexed(node: Node): Node {
    this.at++;
    if (!this.isSign('_') || node.kind !== 'constant') return node;
    return { kind: 'name', name: `${node.name}_${this.#index()}` };
  }

  /** What stands after `_`, in one spelling. */
  #index(): string {
    this.at++;
    const parts: string[] = [];
    let depth = 0;
    do {
      const token = this.next();
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
    this.take('(');
    const bars = this.bars;
    this.bars = 0;
    const args = [this.sum()];
    while (this.isSign(',')) {
      this.at++;
      args.push(this.sum());
    }
    this.bars = bars;
    this.take(')');
    return args;
  }

  protected call(name: FunctionName): Node {
    this.at++;
    if (++this.depth > MAX_DEPTH) throw new NoExpression();
    let base: Node | undefined;
    if (this.isSign('_')) {
      if (name !== 'log') throw new NoExpression();
      this.at++;
      base = this.argument();
    }
    let exponent: Node | undefined;
    if (this.isSign('^')) {
      this.at++;
      exponent = this.isSign('{') ? this.group('{', '}') : this.argument();
    }
    if (this.isSign('_') && name === 'log' && base === undefined) {
      this.at++;
      base = this.argument();
    }
    this.functions++;
    const args = this.#callArguments();
    this.functions--;
    this.depth--;
    const inverse = exponent !== undefined && isMinusOne(exponent) ? INVERSES.get(name) : undefined;
    if (inverse !== undefined) return call(inverse, ...args);
    const value = call(name, ...args, ...(base === undefined ? [] : [base]));
    return exponent === undefined ? value : power(value, exponent);
  }

  #callArguments(): readonly Node[] {
    if (this.isSign('(')) return this.#arguments();
    if (this.isSign('{')) {
      const inside = this.peek(1);
      if (inside?.type === 'sign' && inside.sign === '(' && this.closing(this.at + 1) === this.closing(this.at) - 1) {
        this.at++;
        const args = this.#arguments();
        this.take('}');
        return args;
      }
      return [this.group('{', '}')];
    }
    const factors = [this.factor()];
    while (this.startsFactor() && this.peek()?.type !== 'function' && !this.isSign('(', '[')) factors.push(this.factor());
    return [product(factors)];
  }

  protected series(of: 'sum' | 'product'): Node {
    this.at++;
    this.take('_');
    this.take('{');
    const index = this.next();
    if (index?.type !== 'name' && !(index?.type === 'constant' && index.name === 'i')) throw new NoExpression();
    this.take('=');
    const from = this.sum();
    this.take('}');
    this.take('^');
    const to = this.argument();
    let body = this.term();
    // An index called i is no imaginary unit.
    if (index.name === 'i')
      body = mapNodes(body, (part) => (part.kind === 'constant' && part.name === 'i' ? { kind: 'name', name: 'i' } : undefined));
    return { kind: 'series', of, index: index.name, from, to, body };
  }

  protected integral(): Node {
    this.at++;
    this.take('_');
    const from = this.#bound();
    this.take('^');
    const to = this.#bound();
    this.integrals++;
    const body = this.isName('d') ? number(whole(1)) : this.sum();
    this.integrals--;
    if (!this.isName('d')) throw new NoExpression();
    this.at++;
    const variable = this.next();
    if (variable?.type !== 'name') throw new NoExpression();
    return { kind: 'integral', variable: variable.name, from, to, body };
  }

  #bound(): Node {
    if (!this.isSign('-')) return this.argument();
    this.at++;
    return negated(this.argument());
  }
}

export const call = (name: FunctionName, ...args: readonly Node[]): Node => ({ kind: 'call', name, args });
const isMinusOne = (node: Node): boolean =>
  node === MINUS_ONE || (node.kind === 'product' && node.factors.length === 2 && node.factors[0] === MINUS_ONE && isOne(node.factors[1]!));
const isOne = (node: Node): boolean => node.kind === 'number' && node.value.numerator === 1n && node.value.denominator === 1n;
