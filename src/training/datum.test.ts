import { describe, expect, it } from 'vitest';
import { referenceMask, toDatum, toResponse } from './datum.js';

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

describe("the released code's mask", () => {
  // two turns of three tokens, their ends 29 and 49, with two tokens of ours between them
  const turns = { promptTokens: [10, 11], tokens: [20, 21, 29, 30, 31, 40, 41, 49], mask: [1, 1, 1, 0, 0, 1, 1, 1] };
  const trained = (mask: readonly number[]): number[] => {
    const { targets, weights } = toDatum({ ...turns, mask });
    return targets.filter((_, i) => weights[i] === 1);
  };

  it('loses the first token of each turn, and trains the one after the turn', () => {
    expect(trained(turns.mask)).toEqual([20, 21, 29, 40, 41, 49]);
    expect(trained(referenceMask(turns.mask))).toEqual([21, 29, 30, 41, 49]);
  });

  it('has nothing in place of the token after the last turn where nothing follows', () => {
    const { targets, weights } = toDatum({ ...turns, mask: referenceMask(turns.mask) });
    expect([targets.at(-1), weights.at(-1)]).toEqual([49, 1]);
    expect(referenceMask(turns.mask)).toHaveLength(turns.tokens.length);
  });

  it('moves weights by one position against the same targets, and nothing else', () => {
    const [right, released] = [toDatum(turns), toDatum({ ...turns, mask: referenceMask(turns.mask) })];
    expect([released.inputTokens, released.targets]).toEqual([right.inputTokens, right.targets]);
    expect(right.weights).toEqual([0, 1, 1, 1, 0, 0, 1, 1, 1]);
    expect(released.weights).toEqual([0, 0, 1, 1, 1, 0, 0, 1, 1]);
  });

  it('leaves nothing of a turn of one token at the end', () => {
    expect(referenceMask([1])).toEqual([0]);
    expect(referenceMask([1, 0, 1])).toEqual([0, 1, 0]);
  });
});
