/**
 * A conversation as token ids that only grows: what was sampled is appended as it is, what we add is tokenised once. Does not render: the
 * ids of replies come from `ChatFormat.continuation`.
 */
import type { Sample } from '../engine/sampler.js';

export class Transcript {
  readonly #tokens: number[] = [];
  readonly #mask: number[] = [];
  readonly #logProbs: number[] = [];

  constructor(readonly promptTokens: readonly number[]) {}

  /** The response so far: the model's tokens and ours, [length]. */
  get tokens(): readonly number[] {
    return this.#tokens;
  }

  /** 1 for the model's tokens, [length]. */
  get mask(): readonly number[] {
    return this.#mask;
  }

  /** The sampler's log-probs, nats; 0 for our tokens, [length]. */
  get logProbs(): readonly number[] {
    return this.#logProbs;
  }

  /** @throws RangeError when tokens and log-probs differ in length; nothing is appended then. */
  appendSampled(sample: Pick<Sample, 'tokens' | 'logProbs'>): void {
    const { tokens, logProbs } = sample;
    if (tokens.length !== logProbs.length) {
      throw new RangeError(`a sample has ${tokens.length} tokens and ${logProbs.length} log-probs`);
    }
    for (let i = 0; i < tokens.length; i++) this.#push(tokens[i]!, 1, logProbs[i]!);
  }

  /** Tokens that we wrote: tool results, headers. */
  appendReplies(tokens: readonly number[]): void {
    for (const token of tokens) this.#push(token, 0, 0);
  }

  /** The next request's prompt. */
  context(): number[] {
    return [...this.promptTokens, ...this.#tokens];
  }

  #push(token: number, mask: 0 | 1, logProb: number): void {
    this.#tokens.push(token);
    this.#mask.push(mask);
    this.#logProbs.push(logProb);
  }
}
