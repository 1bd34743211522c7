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
    return joined(this.#pieces.map(({ tokens }) => tokens));
  }

  /** 1 for the model's tokens, [length]. */
  get mask(): readonly number[] {
    return joined(this.#pieces.map(({ tokens, logProbs }) => new Array<number>(tokens.length).fill(logProbs ? 1 : 0)));
  }

  /** The sampler's log-probs, nats; 0 for our tokens, [length]. */
  get logProbs(): readonly number[] {
    return joined(this.#pieces.map(({ tokens, logProbs }) => logProbs ?? new Array<number>(tokens.length).fill(0)));
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
    return joined([this.promptTokens, ...this.#pieces.map(({ tokens }) => tokens)]);
  }

  #append(piece: Piece): void {
    this.#pieces.push(piece);
    this.#length += piece.tokens.length;
  }
}

/** An array of just the length that is needed, and of numbers as they are in the parts: filling one bit by bit would copy it when the first fraction comes. */
const joined = (parts: readonly (readonly number[])[]): number[] => ([] as number[]).concat(...parts);
