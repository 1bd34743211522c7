/**
 * One optimizer update from one mini-batch: by the engine's own loss where it is exact, else the custom way (forward, gradient in closed
 * form here, `importance_sampling` with the log-probs just returned and advantages -g). The two give the same update.
 * Folds normalisation into the advantages; does not compute advantages and does not sample.
 */
import { miniBatchWeights } from '../algorithm/aggregate.js';
import { clippedLoss } from '../algorithm/clippedLoss.js';
import { importanceWeights } from '../algorithm/importance.js';
import { klLoss } from '../algorithm/kl.js';
import type { PolicyLoss, PolicyLossStats, PolicySequence } from '../algorithm/policyLoss.js';
import { sequenceLoss } from '../algorithm/sequenceLoss.js';
import type { AdamParams, Trainer } from '../engine/trainer.js';
import type { Algorithm } from '../recipe/schema.js';
import { type TokenSequence, toDatum, toResponse } from './datum.js';

/** One rollout, or one branch of it, as an update sees it. Arrays are per response token. */
export interface TrainedSequence {
  readonly sequence: TokenSequence;
  /** Sequences of one rollout have the same name here, and count as one in Eq. 5; absent: it is a rollout by itself. */
  readonly rollout?: string;
  readonly advantage: number;
  /** The policy that the step started from, nats, [tokens]; 0 where the mask is 0. */
  readonly oldLogProbs: ArrayLike<number>;
  /** For truncated importance sampling; absent where the old log-probs are the sampler's own. */
  readonly samplerLogProbs?: ArrayLike<number>;
  /** Policy at the start of the RL stage; only with a KL term. */
  readonly referenceLogProbs?: ArrayLike<number>;
}

export interface UpdateResult {
  /** Value of the loss at the weights before the update, KL and entropy terms included. */
  readonly loss: number;
  readonly kl: number;
  readonly gradNorm: number;
  readonly stats: PolicyLossStats;
  /** Of the weights before the update, per response token, nats; of those that carried a gradient. */
  readonly logProbs: ReadonlyMap<TokenSequence, Float64Array>;
}

export type LossPath = 'auto' | 'native' | 'custom';

/** Whether the engine's `ppo` is exactly this algorithm: everything in it is positively homogeneous in the advantage. */
export function isNative(algorithm: Algorithm, trainer: Pick<Trainer, 'capabilities'>): boolean {
  const keys = trainer.capabilities.losses.ppo;
  return (
    keys !== undefined &&
    algorithm.ratio === 'token' &&
    algorithm.klCoefficient === 0 &&
    algorithm.entropyCoefficient === 0 &&
    (algorithm.dualClip === undefined || keys.includes('dual_clip'))
  );
}

/**
 * Updates the policy once. The loss is Agg{ policy loss + beta KL - entropy bonus } over the mini-batch (paper, Eq. 1 with Eq. 4 or 5);
 * the entropy bonus uses the score-function estimate from sampled tokens.
 *
 * @returns undefined where nothing in the mini-batch carries a gradient: no update is made then
 */
export async function updatePolicy(
  trainer: Trainer,
  miniBatch: readonly TrainedSequence[],
  algorithm: Algorithm,
  adam: AdamParams,
  options: { readonly path?: LossPath; readonly signal?: AbortSignal } = {},
): Promise<UpdateResult | undefined> {
  const masks = miniBatch.map(({ sequence }) => sequence.mask);
  const aggregation = algorithm.aggregation === 'token' ? 'token-mean' : 'seq-mean-token-mean';
  const weights = miniBatchWeights(masks, aggregation, { rollouts: miniBatch.map(({ rollout }, i) => rollout ?? `#${i}`) });
  const everyToken = algorithm.klCoefficient > 0 || algorithm.entropyCoefficient > 0;
  const parts = miniBatch
    .map((entry, i) => ({ entry, weights: weights[i]!, advantages: tokenAdvantages(entry, weights[i]!, algorithm) }))
    .filter(({ entry, weights: w }) => (everyToken || entry.advantage !== 0) && w.some((weight) => weight !== 0));
  if (parts.length === 0) return undefined;

  const native = options.path === 'native' || (options.path !== 'custom' && isNative(algorithm, trainer));
  const policyLoss = lossOf(algorithm);
  const signal = options.signal;

  const sequences = (logProbs: readonly Float64Array[]): PolicySequence[] =>
    parts.map(({ entry, advantages }, i) => ({
      logProbs: toResponse(entry.sequence, logProbs[i]!),
      oldLogProbs: Float64Array.from(entry.oldLogProbs),
      advantages,
      mask: Float64Array.from(entry.sequence.mask),
    }));

  if (native) {
    const data = parts.map(({ entry, advantages }) => toDatum(entry.sequence, { logProbs: entry.oldLogProbs, advantages }));
    const config = {
      clip_low_threshold: 1 - algorithm.clipLow,
      clip_high_threshold: 1 + algorithm.clipHigh,
      ...(algorithm.dualClip !== undefined && { dual_clip: algorithm.dualClip }),
    };
    const forward = trainer.forwardBackward(data, { name: 'ppo', config }, signal);
    const step = trainer.optimStep(adam, signal);
    const [{ logProbs }, { gradNorm }] = await Promise.all([forward, step]);
    const batch = sequences(logProbs);
    const { loss, stats } = policyLoss(batch);
    return { loss, kl: 0, gradNorm, stats, logProbs: logProbsOf(parts, batch) };
  }

  const data = parts.map(({ entry }) => toDatum(entry.sequence));
  const logProbs = await trainer.forward(data, signal);
  const batch = sequences(logProbs);
  const { loss, gradient, stats } = policyLoss(batch);
  let total = loss;
  let kl = 0;
  if (algorithm.klCoefficient > 0) {
    const term = klLoss(
      parts.map(({ entry, weights: w }, i) => ({
        logProbs: batch[i]!.logProbs,
        refLogProbs: referenceOf(entry),
        weights: w,
      })),
      algorithm.klEstimator,
    );
    kl = term.loss;
    total += algorithm.klCoefficient * term.loss;
    for (const [i, slope] of term.gradient.entries()) addScaled(gradient[i]!, slope, algorithm.klCoefficient);
  }
  if (algorithm.entropyCoefficient > 0) {
    for (const [i, { weights: w }] of parts.entries()) {
      for (let t = 0; t < w.length; t++) {
        const logProb = batch[i]!.logProbs[t]!;
        total += algorithm.entropyCoefficient * w[t]! * logProb;
        gradient[i]![t]! += algorithm.entropyCoefficient * w[t]! * logProb;
      }
    }
  }
  const again = parts.map(({ entry }, i) =>
    toDatum(entry.sequence, { logProbs: batch[i]!.logProbs, advantages: gradient[i]!.map((slope) => -slope) }),
  );
  const forward = trainer.forwardBackward(again, { name: 'importance_sampling' }, signal);
  const step = trainer.optimStep(adam, signal);
  const [, { gradNorm }] = await Promise.all([forward, step]);
  return { loss: total, kl, gradNorm, stats, logProbs: logProbsOf(parts, batch) };
}

const logProbsOf = (parts: readonly { readonly entry: TrainedSequence }[], batch: readonly PolicySequence[]) =>
  new Map(parts.map(({ entry }, i) => [entry.sequence, batch[i]!.logProbs]));

function lossOf(algorithm: Algorithm): PolicyLoss {
  const bounds = { low: algorithm.clipLow, high: algorithm.clipHigh };
  if (algorithm.ratio === 'sequence') return sequenceLoss(bounds);
  return clippedLoss({ ...bounds, ...(algorithm.dualClip !== undefined && { dual: algorithm.dualClip }) });
}

/** A_t = advantage * weight * min(cap, e^(old - sampler)) where the cap is set. */
function tokenAdvantages(entry: TrainedSequence, weights: Float64Array, algorithm: Algorithm): Float64Array {
  const advantages = weights.map((weight) => (weight === 0 ? 0 : entry.advantage * weight));
  const cap = algorithm.truncatedImportanceSampling;
  if (cap === undefined || entry.samplerLogProbs === undefined) return advantages;
  const correction = importanceWeights(entry.oldLogProbs, entry.samplerLogProbs, cap, entry.sequence.mask);
  return advantages.map((advantage, t) => advantage * correction[t]!);
}

function referenceOf(entry: TrainedSequence): ArrayLike<number> {
  if (!entry.referenceLogProbs) throw new Error('a KL term needs reference log-probs');
  return entry.referenceLogProbs;
}

function addScaled(target: Float64Array, values: Float64Array, factor: number): void {
  for (let t = 0; t < target.length; t++) target[t]! += factor * values[t]!;
}
