/**
 * What has to be done to data before a server sees it: cut into requests of the size it takes, and scaled where it takes means instead of
 * sums. Pure functions; what they promise is proven in the tests.
 */
import type { Datum } from '../domain/datum.js';
import type { LossName } from './capabilities.js';
import { encodeData } from './datumCodec.js';
import type { ServerProfile } from './profiles.js';
import type { WireDatum } from './protoCodec.js';
import type { LossRequest } from './trainer.js';

export interface TrainingPart {
  readonly data: readonly Datum[];
  readonly encoded: readonly WireDatum[];
}

/** Bytes of one token of a datum on the wire: id, target, and three numbers, as JSON writes them. */
const BYTES_A_TOKEN = 60;

/** Consecutive data whose requests stay within the limits; one datum at least in each. @throws RangeError as `encodeData` */
export function inParts(data: readonly Datum[], loss: LossName, limit: ServerProfile['chunk']): TrainingPart[] {
  const encoded = encodeData(data, loss);
  const parts: TrainingPart[] = [];
  let begin = 0;
  let bytes = 0;
  for (const [i, { inputTokens }] of data.entries()) {
    const own = inputTokens.length * BYTES_A_TOKEN;
    if (i > begin && (i - begin >= limit.datums || bytes + own > limit.bytes)) {
      parts.push({ data: data.slice(begin, i), encoded: encoded.slice(begin, i) });
      begin = i;
      bytes = 0;
    }
    bytes += own;
  }
  parts.push({ data: data.slice(begin), encoded: encoded.slice(begin) });
  return parts;
}

/** Metrics of several requests as one: a name ends in how it is put together (`:sum`, `:mean`, `:min`, `:max`). */
export function mergeMetrics(all: readonly Readonly<Record<string, number>>[]): Readonly<Record<string, number>> {
  if (all.length === 1) return all[0]!;
  const merged: Record<string, number> = {};
  for (const name of new Set(all.flatMap(Object.keys))) {
    const values = all.flatMap((metrics) => metrics[name] ?? []);
    const sum = values.reduce((a, b) => a + b, 0);
    const how = name.slice(name.lastIndexOf(':') + 1);
    merged[name] = how === 'sum' ? sum : how === 'min' ? Math.min(...values) : how === 'max' ? Math.max(...values) : sum / values.length;
  }
  return merged;
}

/**
 * Data and loss whose mean over N datums of their means over n weights has the gradient of the plain sum: weights become a mask of n ones,
 * and advantages are multiplied by n N (every policy loss here is homogeneous in its advantages). A cross-entropy becomes importance
 * sampling at ratio 1, whose gradient in a log-prob is minus its advantage.
 *
 * @param seen log-probs of the targets under the current weights; needed for cross_entropy
 */
export function asSum(data: readonly Datum[], loss: LossRequest, seen?: readonly Float64Array[]): { data: Datum[]; loss: LossRequest } {
  const scaled = data.map((datum, i): Datum => {
    const { weights } = datum;
    const weightOf = (t: number): number => weights[t]!;
    const mask = weights.map((weight) => (weight === 0 ? 0 : 1));
    const scale = mask.reduce<number>((a, b) => a + b, 0) * data.length;
    const advantages = loss.name === 'cross_entropy' ? weights : datum.advantages!.map((advantage, t) => advantage * weightOf(t));
    const logProbs = loss.name === 'cross_entropy' ? [...seen![i]!] : datum.logProbs!;
    return { ...datum, weights: mask, logProbs, advantages: advantages.map((advantage) => advantage * scale) };
  });
  return { data: scaled, loss: loss.name === 'cross_entropy' ? { name: 'importance_sampling' } : loss };
}
