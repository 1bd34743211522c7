import { inflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { someRecord, someTrajectory } from '../../test/support/someRun.js';
import { decodeBody, encodeBody } from './body.js';

describe('a packed trajectory', () => {
  it('comes back whole', () => {
    const record = someRecord(3, 1);
    expect(decodeBody(encodeBody(record))).toEqual(record);
  });

  it('keeps every log-prob bit for bit, in 4 bytes where they are float32 values and in 8 otherwise', () => {
    const logProbs = fc.oneof(fc.float({ max: 0, noNaN: true }), fc.double({ max: 0, noNaN: true }));
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.integer({ min: 0, max: 200_000 }), fc.boolean(), logProbs), { maxLength: 30 }), (rows) => {
        const trajectory = {
          ...someTrajectory('t'),
          tokens: rows.map(([token]) => token),
          mask: rows.map(([, bit]) => Number(bit)),
          samplerLogProbs: rows.map(([, , x]) => x),
        };
        const back = decodeBody(encodeBody({ ...someRecord(0, 0), trajectory })).trajectory;
        expect(back).toEqual(trajectory);
      }),
    );
    const noise = (round: (x: number) => number) => {
      const samplerLogProbs = Array.from({ length: 1000 }, (_, i) => round(-Math.abs(Math.sin(i * 12.9898) * 43758.5453) % 1));
      return encodeBody({ ...someRecord(0, 0), trajectory: { ...someTrajectory('t'), samplerLogProbs } }).length;
    };
    expect(noise(Math.fround)).toBeLessThan(0.7 * noise((x) => x));
  });

  it('is the same bytes as ever where there are neither ratios nor branches', () => {
    const body = encodeBody({ ...someRecord(0, 0), trajectory: { ...someTrajectory('t'), samplerLogProbs: [-0.5, -1, 0, -2, -3] } });
    const bytes = inflateRawSync(body);
    const head = bytes.readUInt32LE(4);
    expect([...bytes.subarray(0, 4)]).toEqual([1, 4, 0, 0]);
    expect(bytes).toHaveLength(20 + head + 4 * (3 + 5) + 5 + 4 * 5);
    const { promptTokens, tokens, mask, samplerLogProbs, ...rest } = someTrajectory('t');
    expect(JSON.parse(bytes.toString('utf8', 20, 20 + head))).toEqual({ ...someRecord(0, 0), trajectory: rest });
  });

  it('keeps the ratios of the tokens that the model wrote, 4 bytes each', () => {
    const record = { ...someRecord(0, 0), ratios: [1.5, 0.25, 1, 1, 3].map(Math.fround) };
    expect(decodeBody(encodeBody(record))).toEqual(record);
    const extra = inflateRawSync(encodeBody(record)).length - inflateRawSync(encodeBody(someRecord(0, 0))).length;
    expect(extra).toBe(4 * 4);
  });

  it('keeps branches, each with its own width of log-probs, with ratios or without', () => {
    const plain = someRecord(0, 0);
    const { promptTokens, tokens, mask, samplerLogProbs, turns } = plain.trajectory;
    const short = { promptTokens: [9], tokens: [4, 5], mask: [0, 1], samplerLogProbs: [0, -0.5], turns: [turns[1]!] };
    const branches = [
      short,
      { promptTokens, tokens, mask, samplerLogProbs, turns },
      { ...short, tokens: [], mask: [], samplerLogProbs: [] },
    ];
    const record = { ...plain, trajectory: { ...plain.trajectory, branches } };
    expect(decodeBody(encodeBody(record))).toEqual(record);
    const told = { ...record, ratios: [2, 1, 1, 1, 0.5], branchRatios: [[1, 0.75], [1, 1, 1, 2, 2], []] };
    expect(decodeBody(encodeBody(told))).toEqual(told);
  });

  it('carries a problem with fields of its own, and refuses another layout', () => {
    const record = someRecord(0, 0);
    const problem = { ...record.trajectory.problem, tests: [{ input: [1, 2], output: '3' }], big: 12n };
    const back = decodeBody(encodeBody({ ...record, trajectory: { ...record.trajectory, problem } }));
    expect(back.trajectory.problem).toEqual({ ...problem, big: '12' });
    expect(() => decodeBody(Buffer.from([0x63, 0x60, 0, 0]))).toThrow();
  });

  it('that would become larger than it may is not unpacked', () => {
    const body = encodeBody(someRecord(0, 0));
    expect(() => decodeBody(body, 100)).toThrow(RangeError);
    expect(decodeBody(body, inflateRawSync(body).length)).toEqual(someRecord(0, 0));
  });
});
