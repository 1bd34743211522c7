/** Numbers in an expression: plain ones, mixed ones, and the digits of a number that LaTeX hands out one by one (`\frac12`). */
import { type Node, number, power, product } from './node.js';
import { type Rational, whole } from './rational.js';
import { NoExpression, TokenCursor } from './tokenCursor.js';

export class NumberParser extends TokenCursor {
  /** A number, or a mixed one. */
  protected number(): Node {
    const token = this.next();
    if (token?.type !== 'number') throw new NoExpression();
    if (token.exponent !== undefined) {
      return product([number(token.value), power(number(whole(10)), number(whole(token.exponent)))]);
    }
    const plain = number(token.value);
    const next = this.peek();
    if (next === undefined) return plain;
    if (this.isSign('_')) throw new NoExpression();
    if (token.digits !== '' && next.type === 'sign' && next.sign === '\\frac') {
      const fraction = this.#plainFraction();
      if (fraction === undefined) return plain;
      return this.#mixed(token.value, fraction);
    }
    if (next.type === 'number') {
      if (token.digits === '' || next.digits === '' || !next.spaceBefore) throw new NoExpression();
      const [slash, denominator] = [this.peek(1), this.peek(2)];
      if (slash?.type !== 'sign' || slash.sign !== '/' || denominator?.type !== 'number' || denominator.digits === '')
        throw new NoExpression();
      this.at += 3;
      return this.#mixed(token.value, [next.value.numerator, denominator.value.numerator]);
    }
    return plain;
  }

  #mixed(before: Rational, [numerator, denominator]: readonly [bigint, bigint]): Node {
    if (numerator >= denominator || this.isSign('/', '^', '!')) throw new NoExpression();
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
    const braced = this.isSign('{');
    if (braced) this.at++;
    const token = this.peek();
    if (token?.type !== 'number' || token.digits === '') return undefined;
    if (!braced) return this.digit(token.digits);
    this.at++;
    if (!this.isSign('}')) return undefined;
    this.at++;
    return token.value.numerator;
  }

  /** Digits of a number token that were not yet taken: `\frac12` has two arguments in one token. */
  #restore: { readonly at: number; readonly digits: string } | undefined;

  protected digit(digits: string): bigint {
    const rest = this.#restore?.at === this.at ? this.#restore.digits : digits;
    this.#restore = rest.length > 1 ? { at: this.at, digits: rest.slice(1) } : undefined;
    if (rest.length === 1) this.at++;
    return BigInt(rest[0]!);
  }
}
