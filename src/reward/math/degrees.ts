/** The degree sign in its spellings. */
import type { Token } from './tokens.js';

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
