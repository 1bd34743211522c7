/** The vectors of `algorithm/`: advantages, policy losses, KL, overlong. Turns inputs into calls, nothing more. */
import {
  type Advantage,
  groupAdvantages,
  grpoAdvantages,
  grpoAdvantagesWithoutStd,
  leaveOneOutAdvantages,
} from '../algorithm/advantages.js';
import { type Aggregation, miniBatchWeights } from '../algorithm/aggregate.js';
import { clippedLoss } from '../algorithm/clippedLoss.js';
import { importanceWeights } from '../algorithm/importance.js';
import { type KlEstimator, klLoss, klShapedRewards, klValues } from '../algorithm/kl.js';
import { overlongPenalty } from '../algorithm/overlong.js';
import type { PolicyLoss, PolicySequence } from '../algorithm/policyLoss.js';
import { sequenceLoss } from '../algorithm/sequenceLoss.js';
import { type Inputs, inputLike, list, matrix, number, text, VectorError } from './vector.js';

export function grpoAdvantage(inputs: Inputs): unknown {
  const epsilon = number(inputs, 'epsilon');
  return tokenAdvantages(
    inputs,
    inputs.normaliseByStd === false ? grpoAdvantagesWithoutStd : (rewards) => grpoAdvantages(rewards, epsilon),
  );
}

export const rlooAdvantage = (inputs: Inputs): unknown => tokenAdvantages(inputs, leaveOneOutAdvantages);

/** A rollout's reward is the sum of its token rewards; its advantage stands at each trained token. */
function tokenAdvantages(inputs: Inputs, advantage: Advantage): unknown {
  const rewards = matrix(inputs, 'tokenLevelRewards').map((row) => row.reduce((sum, value) => sum + value, 0));
  const mask = matrix(inputs, 'responseMask');
  const advantages = groupAdvantages(rewards, list(inputs, 'index').map(String), advantage);
  return { advantages: mask.map((row, i) => Array.from(row, (bit) => (bit === 0 ? 0 : bit * advantages[i]!))) };
}

/** The whole mini-batch at once; how it would be cut into micro-batches changes nothing. */
export function policyLossVanilla(inputs: Inputs): unknown {
  const dual = inputs.dualClip === undefined || inputs.dualClip === null ? {} : { dual: number(inputs, 'dualClip') };
  return policyLoss(inputs, clippedLoss({ ...bounds(inputs), ...dual }), text(inputs, 'aggregation') as Aggregation);
}

/** Sequence-level aggregation whatever the vector names, as Eq. 5 has it. */
export const policyLossGspo = (inputs: Inputs): unknown => policyLoss(inputs, sequenceLoss(bounds(inputs)), 'seq-mean-token-mean');

const bounds = (inputs: Inputs): { low: number; high: number } => ({ low: number(inputs, 'clipLow'), high: number(inputs, 'clipHigh') });

function policyLoss(inputs: Inputs, loss: PolicyLoss, aggregation: Aggregation): unknown {
  const mask = matrix(inputs, 'responseMask');
  const advantages = matrix(inputs, 'advantages');
  const oldLogProbs = matrix(inputs, 'oldLogProb');
  const logProbs = matrix(inputs, 'logProb');
  const weights = miniBatchWeights(mask, aggregation, fixedLength(mask));
  const corrections = importance(inputs, oldLogProbs, mask);
  const batch = mask.map(
    (row, i): PolicySequence => ({
      logProbs: logProbs[i]!,
      oldLogProbs: oldLogProbs[i]!,
      advantages: row.map((bit, t) =>
        bit === 0 ? 0 : advantages[i]![t]! * weights[i]![t]! * (corrections === undefined ? 1 : corrections[i]![t]!),
      ),
      mask: row,
    }),
  );
  const result = loss(batch);
  const { clipFraction, clipFractionLower, ppoKl } = result.stats;
  return { loss: result.loss, gradLogProb: rows(result.gradient), clipFraction, ppoKl, clipFractionLower };
}

/** Truncated importance sampling, where the vector gives the sampler's log-probs. */
function importance(inputs: Inputs, oldLogProbs: readonly Float64Array[], mask: readonly Float64Array[]): Float64Array[] | undefined {
  if (inputs.rolloutLogProb === undefined || inputs.rolloutLogProb === null) return undefined;
  const cap = inputLike(inputs, /cap$/i);
  if (cap === undefined) throw new VectorError('no cap for the importance weights');
  const limit = number(inputs, cap);
  return matrix(inputs, 'rolloutLogProb').map((row, i) => importanceWeights(oldLogProbs[i]!, row, limit, mask[i]!));
}

export function klPenalty(inputs: Inputs): unknown {
  const reference = matrix(inputs, 'refLogProb');
  const estimator = klEstimator(text(inputs, 'estimator'));
  const kl = matrix(inputs, 'logProb').map((row, i) => klValues(row, reference[i]!, estimator));
  return { values: rows(kl.map(({ values }) => values)), gradLogProbOfSum: rows(kl.map(({ gradient }) => gradient)) };
}

export function klLossOf(inputs: Inputs): unknown {
  const mask = matrix(inputs, 'responseMask');
  const reference = matrix(inputs, 'refLogProb');
  const weights = miniBatchWeights(mask, text(inputs, 'aggregation') as Aggregation, fixedLength(mask));
  const batch = matrix(inputs, 'logProb').map((logProbs, i) => ({ logProbs, refLogProbs: reference[i]!, weights: weights[i]! }));
  const { loss, gradient } = klLoss(batch, klEstimator(text(inputs, 'estimator')));
  return { loss, gradLogProb: rows(gradient) };
}

export function klShaped(inputs: Inputs): unknown {
  const name = (pattern: RegExp): string => {
    const found = inputLike(inputs, pattern);
    if (found === undefined) throw new VectorError(`no input like ${pattern}`);
    return found;
  };
  const rewards = matrix(inputs, name(/reward|score/i));
  const old = matrix(inputs, name(/^old|^logProb/i));
  const reference = matrix(inputs, name(/^ref/i));
  const coefficient = number(inputs, name(/coef|beta/i));
  const maskName = inputLike(inputs, /mask/i);
  const mask = maskName === undefined ? undefined : matrix(inputs, maskName);
  const estimator = typeof inputs.estimator === 'string' ? { estimator: klEstimator(inputs.estimator) } : {};
  const shaped = rows(
    rewards.map((row, i) =>
      klShapedRewards(row, old[i]!, reference[i]!, coefficient, { ...estimator, ...(mask === undefined ? {} : { mask: mask[i]! }) }),
    ),
  );
  return { rewards: shaped, tokenLevelRewards: shaped };
}

const LONG_NAMES: Readonly<Record<string, KlEstimator>> = {
  kl: 'k1',
  mse: 'k2',
  low_var_kl: 'k3',
  'kl+': 'k1+',
  'k2+': 'k2',
  'mse+': 'k2',
  'low_var_kl+': 'k3+',
};

const klEstimator = (name: string): KlEstimator => (Object.hasOwn(LONG_NAMES, name) ? LONG_NAMES[name]! : (name as KlEstimator));

export function overlongReward(inputs: Inputs): unknown {
  const length = number(inputs, 'validResponseLength');
  const penalty = inputs.enabled === false ? 0 : overlongPenalty(length, overlongLimits(inputs));
  return { penalty, reward: number(inputs, 'score') + penalty, rewardIndex: length > 0 ? length - 1 : null };
}

export const overlongLimits = (inputs: Inputs): { maxTokens: number; bufferTokens: number; factor: number } => ({
  maxTokens: number(inputs, 'maxResponseLength'),
  bufferTokens: number(inputs, 'bufferLength'),
  factor: inputs.penaltyFactor === undefined ? 1 : number(inputs, 'penaltyFactor'),
});

/** The padded length, by which `seq-mean-token-sum-norm` divides in the vectors. */
const fixedLength = (mask: readonly Float64Array[]): { fixedLength: number } => ({
  fixedLength: Math.max(0, ...mask.map((row) => row.length)),
});

const rows = (table: readonly Float64Array[]): number[][] => table.map((row) => Array.from(row, (value) => (value === 0 ? 0 : value)));
