import { describe, expect, it } from 'vitest';
import { toDatum, toResponse } from './datum.js';

const sequence = { promptTokens: [10, 11, 12], tokens: [20, 21, 30, 22], mask: [1, 1, 0, 1] };

describe('toDatum', () => {
  it('shifts once: each position predicts the next token', () => {
    expect(toDatum(sequence)).toEqual({
      inputTokens: [10, 11, 12, 20, 21, 30],
      targets: [11, 12, 20, 21, 30, 22],
      weights: [0, 0, 1, 1, 0, 1],
    });
  });

  it('puts the first token of a turn at the position of the token before it', () => {
    const { inputTokens, weights } = toDatum(sequence);
    expect(inputTokens[weights.indexOf(1)]).toBe(12);
  });

  it('leaves out what comes after the last trained token', () => {
    const cut = toDatum({ ...sequence, mask: [1, 1, 0, 0] });
    expect(cut.targets).toEqual([11, 12, 20, 21]);
  });

  it('carries log-probs and advantages on trained positions only', () => {
    const datum = toDatum(sequence, { logProbs: [-1, -2, -3, -4], advantages: [0.5, 0.5, 0.5, 0.5] });
    expect(datum.logProbs).toEqual([0, 0, -1, -2, 0, -4]);
    expect(datum.advantages).toEqual([0, 0, 0.5, 0.5, 0, 0.5]);
  });

  it('reads positions back as response tokens', () => {
    expect([...toResponse(sequence, [9, 9, -1, -2, 9, -4])]).toEqual([-1, -2, 0, -4]);
  });

  it('refuses what cannot be trained', () => {
    expect(() => toDatum({ ...sequence, promptTokens: [] })).toThrow('prompt token');
    expect(() => toDatum({ ...sequence, mask: [0, 0, 0, 0] })).toThrow('without a trained token');
    expect(() => toDatum(sequence, { logProbs: [1] })).toThrow('1 entries for 4');
  });
});
