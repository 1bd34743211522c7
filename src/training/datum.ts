/**
 * Turns a token sequence into what the engine trains on. The only place where inputs and targets are shifted: position i of a Datum
 * predicts token i + 1 of the sequence. Does not compute advantages or weights: callers hand them in.
 */
import type { Datum } from '../domain/datum.js';

/** A prompt and a response with the mask of trained tokens: a Trajectory or a Demonstration. */
export interface TokenSequence {
  readonly promptTokens: readonly number[];
  readonly tokens: readonly number[];
  readonly mask: readonly number[];
}

/** Per token of the response, [response length]; what is left out stays out of the Datum. */
export interface TokenFields {
  /** Default: the mask. */
  readonly weights?: ArrayLike<number>;
  readonly logProbs?: ArrayLike<number>;
  readonly advantages?: ArrayLike<number>;
}

/**
 * @throws RangeError when the prompt is empty (the first response token would have nothing to be predicted from), nothing is trained, or
 * a field has another length than the response.
 */
export function toDatum(sequence: TokenSequence, fields: TokenFields = {}): Datum {
  const { promptTokens, tokens, mask } = sequence;
  if (promptTokens.length === 0) throw new RangeError('a sequence needs at least one prompt token');
  if (mask.length !== tokens.length) throw new RangeError(`mask has ${mask.length} entries for ${tokens.length} tokens`);
  const last = mask.lastIndexOf(1);
  if (last === -1) throw new RangeError('a sequence without a trained token cannot be trained on');
  const response = tokens.slice(0, last + 1);
  const lead = promptTokens.length - 1;
  const spread = (name: string, values: ArrayLike<number>): number[] => {
    if (values.length !== tokens.length) throw new RangeError(`${name} has ${values.length} entries for ${tokens.length} tokens`);
    const spreadOut = new Array<number>(lead + response.length).fill(0);
    for (let i = 0; i < response.length; i++) spreadOut[lead + i] = mask[i] === 1 ? values[i]! : 0;
    return spreadOut;
  };
  return {
    inputTokens: [...promptTokens, ...response.slice(0, -1)],
    targets: [...promptTokens.slice(1), ...response],
    weights: spread('weights', fields.weights ?? mask),
    ...(fields.logProbs && { logProbs: spread('log-probs', fields.logProbs) }),
    ...(fields.advantages && { advantages: spread('advantages', fields.advantages) }),
  };
}

/**
 * The mask that the released code trains with, on the tokens whose own mask is given. There the mask of a sequence is laid against its targets
 * without being shifted with them, so that a token counts where the one before it should: the first token of each of the model's turns is
 * lost, and the one after each turn, if there is one, is trained in its place.
 */
export const referenceMask = (mask: readonly number[]): number[] => [0, ...mask].slice(0, mask.length);

/** Reads per-position values of a Datum (such as returned log-probs) back as values per response token, 0 where nothing is trained. */
export function toResponse(sequence: TokenSequence, values: ArrayLike<number>): Float64Array {
  const lead = sequence.promptTokens.length - 1;
  const response = new Float64Array(sequence.tokens.length);
  for (let i = 0; i < response.length; i++) if (sequence.mask[i] === 1) response[i] = values[lead + i] ?? 0;
  return response;
}
