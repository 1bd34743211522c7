/** The shape that every policy loss shares, so that a trainer can call any of them. Holds no loss itself. */

/** One sequence of a mini-batch. All four arrays have equal length, [tokens]. */
export interface PolicySequence {
  /** Current policy, nats. */
  readonly logProbs: Float64Array;
  /** Policy that the step started from, nats. */
  readonly oldLogProbs: Float64Array;
  /** Advantages times the token's weight in the mini-batch (`aggregate.ts`), so that a plain sum over tokens is the loss. */
  readonly advantages: Float64Array;
  /** 1 where the token is trained. Where it is 0 nothing else of the token is looked at, so NaN there does no harm. */
  readonly mask: Float64Array;
}

/** Loss of a batch as a plain sum over its tokens: the results of micro-batches add up to that of their mini-batch. */
export type PolicyLoss = (batch: readonly PolicySequence[]) => PolicyLossResult;

export interface PolicyLossResult {
  /** Sum over trained tokens. */
  readonly loss: number;
  /** d loss / d logProbs, [tokens] a sequence; 0 where the mask is 0. */
  readonly gradient: Float64Array[];
  readonly stats: PolicyLossStats;
}

/** Shares and means over the trained tokens of the batch; all 0 where there are none. */
export interface PolicyLossStats {
  readonly trainedTokens: number;
  /** Share of tokens where either bound of the ratio bit: `clipHighFraction + clipLowFraction`. */
  readonly clipFraction: number;
  /** Share of tokens with A > 0 whose ratio is above 1 + high. */
  readonly clipHighFraction: number;
  /** Share of tokens with A < 0 whose ratio is below 1 - low. */
  readonly clipLowFraction: number;
  /** Share of tokens with A < 0 whose loss the dual clip capped. */
  readonly clipFractionLower: number;
  /** Mean of oldLogProb - logProb, nats: how far the policy moved within the step. */
  readonly ppoKl: number;
}

/** Bounds of the probability ratio: it is kept within [1 - low, 1 + high]. */
export interface ClipBounds {
  readonly low: number;
  readonly high: number;
}

/** @throws RangeError when the arrays of a sequence differ in length. */
function checkSequence(sequence: PolicySequence): void {
  const { logProbs, oldLogProbs, advantages, mask } = sequence;
  const tokens = logProbs.length;
  if (oldLogProbs.length !== tokens || advantages.length !== tokens || mask.length !== tokens) {
    throw new RangeError(
      `log-probs, old log-probs, advantages and mask differ in length: ${tokens}, ${oldLogProbs.length}, ${advantages.length}, ${mask.length}`,
    );
  }
}

/** What the bounds do to a token's ratio. */
export interface RatioClip {
  /** 1 - low and 1 + high. */
  readonly floor: number;
  readonly ceiling: number;
  /** The bound that bites, where one does: the upper one for positive advantages, the lower one for the others. */
  side(advantage: number, ratio: number): 'high' | 'low' | undefined;
}

/** @throws RangeError when a bound is negative or not a number. */
export function ratioClip({ low, high }: ClipBounds): RatioClip {
  if (!(low >= 0) || !(high >= 0)) throw new RangeError(`clip bounds must be 0 or more: low ${low}, high ${high}`);
  const floor = 1 - low;
  const ceiling = 1 + high;
  return {
    floor,
    ceiling,
    side: (advantage, ratio) => (advantage > 0 ? (ratio > ceiling ? 'high' : undefined) : ratio < floor ? 'low' : undefined),
  };
}

/**
 * A loss over a batch from what one sequence adds to it.
 *
 * @param add gives the sum with the sequence's loss in it; writes the gradient into `slope` ([tokens], zeros before) and counts its tokens
 * @throws RangeError from the loss, when the arrays of a sequence differ in length
 */
export function sumOverSequences(
  add: (sum: number, sequence: PolicySequence, slope: Float64Array, counter: StatsCounter) => number,
): PolicyLoss {
  return (batch) => {
    const counter = new StatsCounter();
    let loss = 0;
    const gradient = batch.map((sequence) => {
      checkSequence(sequence);
      const slope = new Float64Array(sequence.logProbs.length);
      loss = add(loss, sequence, slope, counter);
      return slope;
    });
    return { loss, gradient, stats: counter.stats() };
  };
}

/** Counts what the statistics are made of, over the tokens of a batch. */
export class StatsCounter {
  #trained = 0;
  #high = 0;
  #low = 0;
  #dual = 0;
  #kl = 0;

  add(tokens: number, logRatioSum: number): void {
    this.#trained += tokens;
    this.#kl -= logRatioSum;
  }

  clipped(side: 'high' | 'low' | 'dual', tokens = 1): void {
    if (side === 'high') this.#high += tokens;
    else if (side === 'low') this.#low += tokens;
    else this.#dual += tokens;
  }

  stats(): PolicyLossStats {
    const share = (count: number): number => (this.#trained === 0 ? 0 : count / this.#trained);
    return {
      trainedTokens: this.#trained,
      clipFraction: share(this.#high + this.#low),
      clipHighFraction: share(this.#high),
      clipLowFraction: share(this.#low),
      clipFractionLower: share(this.#dual),
      ppoKl: share(this.#kl),
    };
  }
}
