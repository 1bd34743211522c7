/**
 * A Datum as the wire has it, and log-probs as they come back. Checks what a server would accept in silence: lengths, empty data, numbers
 * that JSON cannot hold.
 */
import type { Datum } from '../domain/datum.js';
import type { LossName } from './capabilities.js';
import { EngineError } from './engineError.js';
import { field } from './futures.js';
import type { WireDatum, WireTensor } from './protoCodec.js';

/** @throws RangeError when a datum is empty, its arrays differ in length, or a number is not finite: a bug of the caller's */
export function encodeData(data: readonly Datum[], loss: LossName): WireDatum[] {
  if (data.length === 0) throw new RangeError('no data to send to the engine');
  return data.map((datum, index) => encodeDatum(datum, index, loss));
}

function encodeDatum(datum: Datum, index: number, loss: LossName): WireDatum {
  const { inputTokens, targets, weights } = datum;
  const length = inputTokens.length;
  if (length === 0) throw new RangeError(`datum ${index} has no tokens`);
  const floats = (name: string, values: readonly number[] | undefined): WireTensor => {
    if (values === undefined) throw new RangeError(`datum ${index} has no ${name}, which ${loss} needs`);
    checkLength(name, values, length, index);
    const odd = values.findIndex((value) => !Number.isFinite(value));
    if (odd !== -1) throw new RangeError(`datum ${index}: ${name}[${odd}] is ${values[odd]}`);
    return { data: values, dtype: 'float32', shape: [length] };
  };
  checkLength('targets', targets, length, index);
  return {
    model_input: { chunks: [{ type: 'encoded_text', tokens: inputTokens }] },
    loss_fn_inputs: {
      target_tokens: { data: targets, dtype: 'int64', shape: [length] },
      weights: floats('weights', weights),
      ...(loss === 'cross_entropy'
        ? {}
        : { logprobs: floats('logProbs', datum.logProbs), advantages: floats('advantages', datum.advantages) }),
    },
  };
}

function checkLength(name: string, values: readonly number[], length: number, index: number): void {
  if (values.length !== length) throw new RangeError(`datum ${index}: ${values.length} ${name} for ${length} input tokens`);
}

/** Log-probs of the targets, one array a datum; 0 where the weight is 0, whatever the server gives there. @throws EngineError */
export function decodeLogProbs(result: unknown, data: readonly Datum[]): Float64Array[] {
  const outputs = field(result, 'loss_fn_outputs');
  if (!Array.isArray(outputs) || outputs.length !== data.length) {
    const got = Array.isArray(outputs) ? outputs.length : 'no';
    throw new EngineError('server', `the engine returned ${got} outputs for ${data.length} data`);
  }
  return data.map((datum, index) => {
    const values = field(field(outputs[index], 'logprobs'), 'data');
    if (!Array.isArray(values) || values.length !== datum.targets.length) {
      throw new EngineError('server', `the engine returned no log-prob for some of the ${datum.targets.length} targets of datum ${index}`);
    }
    return Float64Array.from(values, (value: number | null, at) => (datum.weights[at] === 0 ? 0 : (value ?? Number.NaN)));
  });
}

/** Named numbers of a result; what is not a number is left out. */
export function decodeMetrics(result: unknown): Record<string, number> {
  const metrics = field(result, 'metrics');
  if (typeof metrics !== 'object' || metrics === null) return {};
  return Object.fromEntries(Object.entries(metrics).filter((entry): entry is [string, number] => typeof entry[1] === 'number'));
}
