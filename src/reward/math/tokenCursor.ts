/** A place among tokens, and what stands there: the part of the parser that knows no grammar. */
import type { Token } from './tokens.js';

/** What the parser gives up with; never leaves `parseExpression.ts`. */
export class NoExpression extends Error {}

export class TokenCursor {
  constructor(
    protected readonly tokens: readonly Token[],
    public at: number,
    protected readonly to: number,
  ) {}

  peek(ahead = 0): Token | undefined {
    const at = this.at + ahead;
    return at < this.to ? this.tokens[at] : undefined;
  }

  next(): Token | undefined {
    const token = this.peek();
    this.at++;
    return token;
  }

  isSign(...signs: readonly string[]): boolean {
    const token = this.peek();
    return token?.type === 'sign' && signs.includes(token.sign);
  }

  isName(name: string): boolean {
    const token = this.peek();
    return token?.type === 'name' && token.name === name;
  }

  take(sign: string): void {
    if (!this.isSign(sign)) throw new NoExpression();
    this.at++;
  }

  /** Index of the bracket that closes the one at `open`; -1 where there is none. */
  closing(open: number): number {
    let depth = 0;
    for (let i = open; i < this.to; i++) {
      const token = this.tokens[i]!;
      if (token.type !== 'sign') continue;
      if (token.sign === '(' || token.sign === '{') depth++;
      else if ((token.sign === ')' || token.sign === '}') && --depth === 0) return i;
    }
    return -1;
  }
}
