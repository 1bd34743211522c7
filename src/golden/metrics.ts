/** The vectors of validation figures: the released ones draw by draw, and ours where a vector says what is right. */
import { accuracy, passAtK, type Sample } from '../evaluation/metrics.js';
import {
  largest,
  majorityValue,
  mean,
  processValidationMetrics,
  resampled,
  smallest,
  type ValidationInput,
  type Vote,
} from '../evaluation/referenceMetrics.js';
import { asNumber, type Inputs, isRecord, list, number, type Vector, VectorError } from './vector.js';

/** As released; where the vector says what is right, ours. */
export function validationMetrics(inputs: Inputs, vector: Vector): unknown {
  const input = validationInput(inputs);
  return vector.correct === undefined ? processValidationMetrics(input) : ours(input);
}

/** Our figures of `acc` by name, over the prompts of all sources at the top and by source below. */
function ours(input: ValidationInput): Record<string, unknown> {
  const sources = [...new Set(input.dataSources)];
  return {
    ...figuresOf(input, () => true),
    ...Object.fromEntries(sources.map((source) => [source, { acc: figuresOf(input, (i) => input.dataSources[i] === source) }])),
  };
}

function figuresOf(input: ValidationInput, wanted: (i: number) => boolean): Record<string, number> {
  const { acc = [], pred = [] } = input.infos;
  const prompts = new Map<string, Sample[]>();
  for (const [i, uid] of input.sampleUids.entries()) {
    if (!wanted(i)) continue;
    const answer = typeof pred[i] === 'string' ? { answer: pred[i] } : {};
    const key = `${input.dataSources[i]} ${uid}`;
    prompts.set(key, [...(prompts.get(key) ?? []), { kind: 'graded', correct: Number(acc[i]) === 1, ...answer }]);
  }
  const problems = [...prompts].map(([problemId, samples]) => ({ problemId, samples }));
  const least = Math.min(...problems.map(({ samples }) => samples.length));
  const ks = Array.from({ length: least }, (_, i) => i + 1);
  const valid = accuracy(problems, { passAt: ks, resamples: 1 }).valid;
  if (valid === undefined) return {};
  return {
    mean: valid.average.value,
    [`mean@${least}`]: valid.average.value,
    ...Object.fromEntries(ks.map((k) => [`pass@${k}`, valid.passAt[k]!.value])),
    ...(input.infos.pred && Object.fromEntries(ks.map((k) => [`maj@${k}`, valid.majorityAt[k]!.value]))),
  };
}

function validationInput(inputs: Inputs): ValidationInput {
  if (!isRecord(inputs.infos)) throw new VectorError('input "infos" is no object');
  const infos = Object.fromEntries(Object.keys(inputs.infos).map((name) => [name, list(inputs.infos as Inputs, name).map(value)]));
  return { dataSources: list(inputs, 'dataSources').map(String), sampleUids: list(inputs, 'sampleUids').map(String), infos };
}

/** A number by its name, where it is one that JSON lacks. */
const value = (item: unknown): unknown => (item === 'NaN' || item === 'Infinity' || item === '-Infinity' ? (asNumber(item) ?? item) : item);

export const majority = (inputs: Inputs): unknown => ({ value: majorityValue(list(inputs, 'votes').map(vote)) });

function vote(item: unknown): Vote {
  const worth = isRecord(item) ? asNumber(typeof item.value === 'boolean' ? Number(item.value) : item.value) : undefined;
  if (!isRecord(item) || worth === undefined) throw new VectorError('a vote has no value');
  return { prediction: item.prediction, value: worth };
}

/** With given draws; votes, where there are any, besides. */
export function bootstrap(inputs: Inputs): unknown {
  const data = list(inputs, 'data').map((item) => asNumber(typeof item === 'boolean' ? Number(item) : item));
  if (data.includes(undefined)) throw new VectorError('input "data" holds what is no number');
  const values = data as number[];
  const draws = list(inputs, 'draws').map((draw) => {
    if (!Array.isArray(draw)) throw new VectorError('a draw is no list');
    return draw.map(Number);
  });
  const predictions = [inputs.predictions, inputs.pred].find(Array.isArray) as unknown[] | undefined;
  const votes = predictions?.map((prediction, i) => ({ prediction, value: values[i]! }));
  return {
    max: resampled(values, draws, largest),
    min: resampled(values, draws, smallest),
    mean: resampled(values, draws, mean),
    ...(votes && { maj: resampled(votes, draws, majorityValue) }),
  };
}

export const passAt = (inputs: Inputs): unknown => ({
  value: passAtK(number(inputs, 'samples'), number(inputs, 'correct'), number(inputs, 'k')),
});
