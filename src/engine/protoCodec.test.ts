import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Datum } from '../domain/datum.js';
import { decodeLogProbs, encodeData } from './datumCodec.js';
import { ForwardBackwardOutputSchema, ForwardBackwardRequestSchema } from './proto/tinker_pb.js';
import { decodeResult, encodeTrainingRequest } from './protoCodec.js';

/** Recorded from a SkyRL server. */
const RECORDED = {
  training:
    '0a067363616c6172128b021286010a10656c656d656e74776973655f6c6f737312720a54c59a2a419f342d4113972a4111eb2a4163dd2b41de632c413d922e419f252d411e752d4119b82d41882d2c41ef6d294122932b41a3c72b41ceb12e410eb12941c2732e41a8413041ef5e2e41af672a410dc12841121800000000000000002c0000000000000054000000000000001801127e0a086c6f6770726f627312720a54c59a2ac19f342dc113972ac111eb2ac163dd2bc1de632cc13d922ec19f252dc11e752dc119b82dc1882d2cc1ef6d29c122932bc1a3c72bc1ceb12ec10eb129c1c2732ec1a84130c1ef5e2ec1af672ac10dc128c1121800000000000000002c00000000000000540000000000000018011802',
  sample:
    '0a3608011218e8980000950a0000c82700002eb00000f9310000d06700001a18621c2ac1ee8029c1abc32cc1e6202dc1ca5e2fc1a96a2ec10a3608011218737600003eb90000f98c0000f20a0000a716000004ae00001a1857712ec1a4a02dc1aef92cc1a1582cc1bd262fc164e02cc1',
  promptScores: '0a0e08011204e89800001a04621c2ac1120c2a821dc1979629c1bf7a26c1',
};
const bytes = (hex: string): Uint8Array => Buffer.from(hex, 'hex');

describe('recorded answers', () => {
  it('of training are read as JSON would have them', () => {
    const data = [11, 10].map((length): Datum => {
      const ones = Array.from({ length }, () => 1);
      return { inputTokens: ones, targets: ones, weights: ones };
    });
    const logProbs = decodeLogProbs(decodeResult('forward_backward', bytes(RECORDED.training)), data);
    expect(logProbs.map(({ length }) => length)).toEqual([11, 10]);
    expect(logProbs[0]![0]).toBeCloseTo(-10.66279, 5);
    expect(logProbs[1]![9]).toBeCloseTo(-10.54713, 5);
  });

  it('of sampling as well', () => {
    expect(decodeResult('asample', bytes(RECORDED.sample))).toMatchObject({
      sequences: [
        { stop_reason: 'length', tokens: [39144, 2709, 10184, 45102, 12793, 26576] },
        { stop_reason: 'length', tokens: [30323, 47422, 36089, 2802, 5799, 44548] },
      ],
      prompt_logprobs: null,
    });
    const scored = decodeResult('asample', bytes(RECORDED.promptScores)) as { prompt_logprobs: number[] };
    expect(scored.prompt_logprobs.map((value) => value.toFixed(5))).toEqual(['-9.84428', '-10.59927', '-10.40497']);
  });
});

describe('a training request', () => {
  it('holds what JSON holds', () => {
    const data: Datum[] = [{ inputTokens: [1, 2], targets: [2, 70_000], weights: [0, 1], logProbs: [-1, -2.5], advantages: [0, 1.25] }];
    const encoded = encodeData(data, 'ppo');
    const message = fromBinary(
      ForwardBackwardRequestSchema,
      encodeTrainingRequest({
        modelId: 'm',
        seqId: 3,
        data: encoded,
        loss: 'ppo',
        config: { clip_high_threshold: 1.28 },
        forwardOnly: true,
      }),
    );
    expect(message).toMatchObject({
      modelId: 'm',
      seqId: 3,
      lossFn: 'ppo',
      lossFnConfig: { clip_high_threshold: 1.28 },
      forwardOnly: true,
    });
    const { modelInput, lossFnInputs } = message.data[0]!;
    expect(Buffer.from(modelInput[0]!.chunk.value!.tokens).toString('hex')).toBe('0100000002000000');
    expect(Buffer.from(lossFnInputs.target_tokens!.dense!).toString('hex')).toBe('02000000000000007011010000000000');
    expect(Buffer.from(lossFnInputs.advantages!.dense!).toString('hex')).toBe('000000000000a03f');
    expect(lossFnInputs.weights!.shape).toEqual([2n]);
  });
});

describe('answers that are none', () => {
  it('are an error of the server, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.constantFrom('asample', 'forward'), (noise, path) => {
        try {
          decodeResult(path, noise);
        } catch (error) {
          expect((error as Error).name).toBe('EngineError');
        }
      }),
      { numRuns: 500 },
    );
  });

  it('whose tensor points outside of itself are refused', () => {
    const offsets = new Uint8Array(BigInt64Array.from([0n, 400n]).buffer);
    const message = create(ForwardBackwardOutputSchema, {
      lossFnOutputs: [{ numDatums: 1n, fields: { logprobs: { data: new Uint8Array(8), offsets, dtype: 1 } } }],
    });
    expect(() => decodeResult('forward', toBinary(ForwardBackwardOutputSchema, message))).toThrow('outside of itself');
  });
});
