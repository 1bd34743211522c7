/** The golden pairs of grading, `test/golden/grading-*.jsonl`, as a clone has them. Reads; grades nothing. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../setup/paths.js';

/** A row of `toolwise grade` with the truth beside it. */
export interface GoldenPair {
  readonly id: string;
  readonly kind: 'math' | 'choice' | 'code';
  readonly gold?: string;
  readonly options?: readonly string[];
  readonly tests?: unknown;
  /** A whole answer of a model; else `answer` is given. */
  readonly response?: string;
  /** What was extracted already. */
  readonly answer?: string;
  readonly equal: boolean;
  /** Why they are equal or not. */
  readonly note: string;
}

/** Written from the rules; written later, from what models and data sets write; rewritten by SymPy. */
export const GOLDEN_FILES = ['rules', 'more', 'sympy'] as const;

export function goldenPairs(name: (typeof GOLDEN_FILES)[number], root = packageRoot()): GoldenPair[] {
  const file = join(root, 'test', 'golden', `grading-${name}.jsonl`);
  return readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as GoldenPair);
}
