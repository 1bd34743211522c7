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

  it('carries a problem with fields of its own, and refuses another layout', () => {
    const record = someRecord(0, 0);
    const problem = { ...record.trajectory.problem, tests: [{ input: [1, 2], output: '3' }], big: 12n };
    const back = decodeBody(encodeBody({ ...record, trajectory: { ...record.trajectory, problem } }));
    expect(back.trajectory.problem).toEqual({ ...problem, big: '12' });
    expect(() => decodeBody(Buffer.from([0x63, 0x60, 0, 0]))).toThrow();
  });
});
