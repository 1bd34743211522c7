/**
 * Supervised fine-tuning on demonstrations: cross-entropy on what the assistant wrote, the mean over the trained tokens of each batch.
 * A step is one update. Does not make demonstrations and does not evaluate.
 */
import { miniBatchWeights } from '../algorithm/aggregate.js';
import type { Demonstration } from '../domain/demonstration.js';
import type { Metrics } from '../domain/event.js';
import type { AdamParams, Trainer } from '../engine/trainer.js';
import { deriveSeed, Random } from '../random.js';
import type { SftStage } from '../recipe/schema.js';
import { referenceMask, toDatum } from './datum.js';
import { scheduleFactor } from './schedule.js';

/** Updates that a stage makes with so many demonstrations. */
export const sftUpdates = (demonstrations: number, stage: Pick<SftStage, 'batchSize' | 'epochs'>): number =>
  Math.ceil(demonstrations / stage.batchSize) * stage.epochs;

/**
 * The batch of one update: each epoch is the whole set in its own seeded order; the last batch of an epoch may be smaller.
 *
 * @param update 0-based
 */
export function sftBatch(demonstrations: readonly Demonstration[], stage: SftStage, seed: number, update: number): Demonstration[] {
  const perEpoch = Math.ceil(demonstrations.length / stage.batchSize);
  const epoch = Math.floor(update / perEpoch);
  const order = new Random(deriveSeed(seed, 'sft order', epoch)).shuffle(demonstrations);
  const start = (update % perEpoch) * stage.batchSize;
  return order.slice(start, start + stage.batchSize);
}

/** A demonstration with the mask that the stage trains with. */
export const asTrained = (demonstration: Demonstration, { mask }: Pick<SftStage, 'mask'>): Demonstration =>
  mask === undefined ? demonstration : { ...demonstration, mask: referenceMask(demonstration.mask) };

/** One update. Loss: -sum w log p with w = 1 / trained tokens of the batch, nats a token. */
export async function sftStep(
  trainer: Trainer,
  demonstrations: readonly Demonstration[],
  stage: SftStage,
  seed: number,
  update: number,
  signal?: AbortSignal,
): Promise<Metrics> {
  const started = performance.now();
  const batch = sftBatch(demonstrations, stage, seed, update).map((demonstration) => asTrained(demonstration, stage));
  const weights = miniBatchWeights(
    batch.map((demonstration) => demonstration.mask),
    'token-mean',
  );
  const data = batch.map((demonstration, i) => toDatum(demonstration, { weights: weights[i]! }));
  const adam = adamOf(stage, update, sftUpdates(demonstrations.length, stage));
  const [{ logProbs }, { gradNorm }] = await Promise.all([
    trainer.forwardBackward(data, { name: 'cross_entropy' }, signal),
    trainer.optimStep(adam, signal),
  ]);
  let loss = 0;
  for (const [i, { weights: w }] of data.entries()) for (let t = 0; t < w.length; t++) loss -= w[t]! * logProbs[i]![t]!;
  const seconds = (performance.now() - started) / 1000;
  const tokens = batch.reduce((sum, { mask }) => sum + mask.reduce((a, b) => a + b, 0), 0);
  return {
    'train/loss': loss,
    'train/gradNorm': gradNorm,
    'train/learningRate': adam.learningRate,
    'train/tokens': tokens,
    'train/epoch': Math.floor(update / Math.ceil(demonstrations.length / stage.batchSize)),
    'seconds/training': seconds,
  };
}

/** The optimizer's settings at one update of a stage. */
export function adamOf(
  stage: Pick<SftStage, 'learningRate' | 'schedule' | 'betas' | 'epsilon' | 'weightDecay' | 'gradClip'>,
  update: number,
  updates: number,
): AdamParams {
  return {
    learningRate: stage.learningRate * scheduleFactor(stage.schedule, update, updates),
    beta1: stage.betas[0],
    beta2: stage.betas[1],
    epsilon: stage.epsilon,
    weightDecay: stage.weightDecay,
    gradClipNorm: stage.gradClip,
  };
}
