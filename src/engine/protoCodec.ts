/**
 * Training requests and results as protobuf messages, for servers that take nothing else. Results become what the JSON wire would have
 * given, so that one decoder reads both. Does not know HTTP.
 */
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { EngineError } from './engineError.js';
import {
  type BatchedTensor,
  DType,
  ForwardBackwardOutputSchema,
  ForwardBackwardRequestSchema,
  SampleResponseSchema,
  StopReason,
} from './proto/tinker_pb.js';

export const PROTO_TYPE = 'application/x-protobuf';

/** A training request as the JSON wire has it: what `encodeData` gives, and the loss. */
export interface TrainingRequest {
  readonly modelId: string;
  readonly seqId: number;
  readonly data: readonly WireDatum[];
  readonly loss: string;
  readonly config?: Readonly<Record<string, number>> | undefined;
  readonly forwardOnly: boolean;
}

export interface WireDatum {
  readonly model_input: { readonly chunks: readonly { readonly type: 'encoded_text'; readonly tokens: readonly number[] }[] };
  readonly loss_fn_inputs: Readonly<Record<string, WireTensor>>;
}

export interface WireTensor {
  readonly data: readonly number[];
  readonly dtype: 'int64' | 'float32';
  readonly shape: readonly number[];
}

export function encodeTrainingRequest(request: TrainingRequest): Uint8Array {
  const message = create(ForwardBackwardRequestSchema, {
    modelId: request.modelId,
    seqId: request.seqId,
    lossFn: request.loss,
    lossFnConfig: { ...request.config },
    forwardOnly: request.forwardOnly,
    data: request.data.map(({ model_input, loss_fn_inputs }) => ({
      modelInput: model_input.chunks.map(({ tokens }) => ({
        chunk: { case: 'encodedText' as const, value: { tokens: bytesOf(Int32Array.from(tokens)) } },
      })),
      lossFnInputs: Object.fromEntries(Object.entries(loss_fn_inputs).map(([name, tensor]) => [name, encodeTensor(tensor)])),
    })),
  });
  return toBinary(ForwardBackwardRequestSchema, message);
}

function encodeTensor({ data, dtype, shape }: WireTensor): { dense: Uint8Array; dtype: DType; shape: bigint[] } {
  const whole = dtype === 'int64';
  return {
    dense: bytesOf(whole ? BigInt64Array.from(data, BigInt) : Float32Array.from(data)),
    dtype: whole ? DType.DTYPE_INT64 : DType.DTYPE_FLOAT32,
    shape: shape.map(BigInt),
  };
}

const bytesOf = (numbers: Int32Array | BigInt64Array | Float32Array): Uint8Array =>
  new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);

/**
 * A result of asample, forward or forward_backward as JSON would have it. Which of them it is follows from what was asked for: messages do
 * not say what they are.
 * @throws EngineError where the bytes are no such message
 */
export function decodeResult(path: string, bytes: Uint8Array): unknown {
  try {
    return path === 'asample' ? decodeSample(bytes) : decodeTraining(bytes);
  } catch (error) {
    if (error instanceof EngineError) throw error;
    throw new EngineError('server', `${path}: the answer is no protobuf message of its kind: ${(error as Error).message}`);
  }
}

function decodeSample(bytes: Uint8Array): unknown {
  const message = fromBinary(SampleResponseSchema, bytes);
  return {
    type: 'sample',
    sequences: message.sequences.map(({ stopReason, tokens, logprobs }) => ({
      stop_reason: stopReason === StopReason.LENGTH ? 'length' : 'stop',
      tokens: numbersOf(tokens, DType.DTYPE_INT32),
      logprobs: logprobs === undefined ? undefined : numbersOf(logprobs, DType.DTYPE_FLOAT32),
    })),
    prompt_logprobs:
      message.promptLogprobs === undefined
        ? null
        : numbersOf(message.promptLogprobs, DType.DTYPE_FLOAT32).map((value) => (Number.isNaN(value) ? null : value)),
  };
}

function decodeTraining(bytes: Uint8Array): unknown {
  const message = fromBinary(ForwardBackwardOutputSchema, bytes);
  const outputs: Record<string, unknown>[] = [];
  for (const record of message.lossFnOutputs) {
    const count = Math.max(Number(record.numDatums), ...Object.values(record.fields).map((field) => field.offsets.length / 8 - 1), 0);
    const parts = Array.from({ length: count }, (): Record<string, unknown> => ({}));
    for (const [name, field] of Object.entries(record.fields)) {
      for (const [i, data] of splitTensor(field).entries()) {
        if (parts[i] !== undefined) parts[i][name] = { data, dtype: 'float32', shape: [data.length] };
      }
    }
    outputs.push(...parts);
  }
  return { loss_fn_output_type: message.lossFnOutputType, loss_fn_outputs: outputs, metrics: message.metrics };
}

/** The numbers of each datum. */
function splitTensor({ data, offsets, dtype }: BatchedTensor): number[][] {
  const places = wholeNumbers(offsets);
  return places.slice(1).map((end, i) => {
    const begin = places[i]!;
    if (!(begin <= end && end <= data.length)) throw new EngineError('server', 'a tensor of the answer points outside of itself');
    return numbersOf(data.subarray(begin, end), dtype);
  });
}

function numbersOf(bytes: Uint8Array, dtype: DType): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const read = (size: number, at: (offset: number) => number): number[] => {
    if (bytes.byteLength % size !== 0) throw new EngineError('server', `a tensor of the answer has ${bytes.byteLength} bytes`);
    return Array.from({ length: bytes.byteLength / size }, (_, i) => at(i * size));
  };
  switch (dtype) {
    case DType.DTYPE_FLOAT32:
      return read(4, (offset) => view.getFloat32(offset, true));
    case DType.DTYPE_INT32:
      return read(4, (offset) => view.getInt32(offset, true));
    case DType.DTYPE_INT64:
      return wholeNumbers(bytes);
    case DType.DTYPE_BFLOAT16: {
      const wide = new DataView(new ArrayBuffer(4));
      return read(2, (offset) => {
        wide.setUint16(2, view.getUint16(offset, true), true);
        return wide.getFloat32(0, true);
      });
    }
    default:
      throw new EngineError('server', `a tensor of the answer has the dtype ${dtype}`);
  }
}

function wholeNumbers(bytes: Uint8Array): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: Math.floor(bytes.byteLength / 8) }, (_, i) => Number(view.getBigInt64(i * 8, true)));
}
