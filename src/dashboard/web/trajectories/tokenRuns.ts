/** A response as runs of tokens from one source, each in chunks that a page can lay out apart. Pure. */
import type { Token } from './tokenScale.js';

export interface TokenRun {
  readonly from: Token['from'];
  /** Number of the model's run, from 1; absent elsewhere. A run is a turn's tokens. */
  readonly turn?: number;
  readonly chunks: readonly (readonly Token[])[];
  readonly length: number;
}

/** Tokens of a chunk at most. */
export const CHUNK = 200;

export function runsOf(tokens: readonly Token[], chunk = CHUNK): TokenRun[] {
  const runs: TokenRun[] = [];
  let turn = 0;
  for (let start = 0; start < tokens.length; ) {
    const { from } = tokens[start]!;
    let end = start + 1;
    while (end < tokens.length && tokens[end]!.from === from) end++;
    const chunks = Array.from({ length: Math.ceil((end - start) / chunk) }, (_, i) =>
      tokens.slice(start + i * chunk, Math.min(end, start + (i + 1) * chunk)),
    );
    runs.push({ from, chunks, length: end - start, ...(from === 'model' ? { turn: ++turn } : {}) });
    start = end;
  }
  return runs;
}
