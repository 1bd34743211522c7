/**
 * A conversation as token ids that only grows: what was sampled is appended as it is, what we add is tokenised once. Does not render: the
 * ids of replies come from `ChatFormat.continuation`. Keeps what it is given and joins it when asked, since thousands are held at once:
 * arrays that are handed over must not change afterwards.
 */
import type { Sample } from '../engine/sampler.js';

interface Piece {
  readonly tokens: readonly number[];
  /** Absent: ours. */
  readonly logProbs?: readonly number[];
}

export class Transcript {
  readonly #pieces: Piece[] = [];
  #length = 0;

  constructor(readonly promptTokens: readonly number[]) {}

  /** Tokens of the response so far. */
  get length(): number {
    return this.#length;
  }

  /** The response so far: the model's tokens and ours, [length]. */
  get tokens(): readonly number[] {
    return this.#joined(({ tokens }, i) => tokens[i]!);
  }

  /** 1 for the model's tokens, [length]. */
  get mask(): readonly number[] {
    return this.#joined(({ logProbs }) => (logProbs === undefined ? 0 : 1));
  }

  /** The sampler's log-probs, nats; 0 for our tokens, [length]. */
  get logProbs(): readonly number[] {
    return this.#joined(({ logProbs }, i) => (logProbs === undefined ? 0 : logProbs[i]!));
  }

  /** @throws RangeError when tokens and log-probs differ in length; nothing is appended then. */
  appendSampled(sample: Pick<Sample, 'tokens' | 'logProbs'>): void {
    const { tokens, logProbs } = sample;
    if (tokens.length !== logProbs.length) {
      throw new RangeError(`a sample has ${tokens.length} tokens and ${logProbs.length} log-probs`);
    }
    this.#append({ tokens, logProbs });
  }

  /** Tokens that we wrote: tool results, headers. */
  appendReplies(tokens: readonly number[]): void {
    this.#append({ tokens });
  }

  /** The next request's prompt. */
  context(): number[] {
    const joined = new Array<number>(this.promptTokens.length + this.#length);
    let at = 0;
    for (const part of [this.promptTokens, ...this.#pieces.map(({ tokens }) => tokens)])
      for (let i = 0; i < part.length; i++) joined[at++] = part[i]!;
    return joined;
  }

  #append(piece: Piece): void {
    this.#pieces.push(piece);
    this.#length += piece.tokens.length;
  }

  #joined(read: (piece: Piece, i: number) => number): number[] {
    const joined = new Array<number>(this.#length);
    let at = 0;
    for (const piece of this.#pieces) for (let i = 0; i < piece.tokens.length; i++) joined[at++] = read(piece, i);
    return joined;
  }
}
