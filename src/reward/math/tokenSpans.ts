/** Finds signs in a stretch of tokens, outside all brackets. */
import type { Token } from './tokens.js';

const OPEN: ReadonlySet<string> = new Set(['(', '[', '{', '\\{', '⟨', '⌊', '⌈', '(abs']);

export const CLOSE: ReadonlySet<string> = new Set([')', ']', '}', '\\}', '⟩', '⌋', '⌉', ')abs']);

/** Indices from `from` to `to` outside all brackets where `test` holds. */
export function outside(tokens: readonly Token[], from: number, to: number, test: (token: Token) => boolean): number[] {
  const found: number[] = [];
  let depth = 0;
  for (let i = from; i < to; i++) {
    const token = tokens[i]!;
    if (depth === 0 && test(token)) found.push(i);
    if (token.type !== 'sign') continue;
    if (OPEN.has(token.sign) || token.sign.startsWith('\\begin ')) depth++;
    else if (CLOSE.has(token.sign) || token.sign.startsWith('\\end ')) depth--;
  }
  return found;
}

export const isSign = (token: Token | undefined, sign: string): boolean => token?.type === 'sign' && token.sign === sign;
