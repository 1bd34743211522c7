import { describe, expect, it } from 'vitest';
import { MersenneTwister } from './mersenneTwister.js';
import { majorityValue, processValidationMetrics, referenceDraws, referenceSizes } from './referenceMetrics.js';

describe('the legacy generator', () => {
  it('repeats the words that are published for its default seed', () => {
    const random = new MersenneTwister(5489);
    expect(Array.from({ length: 5 }, () => random.next())).toEqual([3499211612, 581869302, 3890346734, 3586334585, 545404204]);
    const long = new MersenneTwister(5489);
    for (let i = 1; i < 10_000; i++) long.next();
    expect(long.next()).toBe(4123659995);
  });

  it('repeats the draws of np.random.seed(42); np.random.choice(32, 8)', () => {
    expect([...referenceDraws(32, 8)[0]!]).toEqual([6, 19, 28, 14, 10, 7, 28, 20]);
  });

  it('draws every number below a count, and only those', () => {
    const random = new MersenneTwister(1);
    const seen = new Set(Array.from({ length: 500 }, () => random.below(5)));
    expect([...seen].sort()).toEqual([0, 1, 2, 3, 4]);
    expect(random.below(1)).toBe(0);
  });
});

describe('the released validation figures', () => {
  it('resamples 2, 4, 8, ... and all', () => {
    expect(referenceSizes(32)).toEqual([2, 4, 8, 16, 32]);
    expect(referenceSizes(6)).toEqual([2, 4, 6]);
    expect(referenceSizes(2)).toEqual([2]);
  });

  it('keeps prompts of different size in separate figures', () => {
    const { m } = processValidationMetrics({
      dataSources: ['m', 'm', 'm'],
      sampleUids: ['a', 'a', 'b'],
      infos: { acc: [true, true, false] },
    });
    expect(m!.acc).toMatchObject({ 'mean@2': 1, 'mean@1': 0, 'best@2/mean': 1 });
  });

  it('refuses lists of different length, and what is no number', () => {
    expect(() => processValidationMetrics({ dataSources: ['m'], sampleUids: [], infos: {} })).toThrow(RangeError);
    expect(() => processValidationMetrics({ dataSources: ['m'], sampleUids: ['a'], infos: { acc: [] } })).toThrow(RangeError);
    expect(() => processValidationMetrics({ dataSources: ['m'], sampleUids: ['a'], infos: { acc: [null] } })).toThrow(TypeError);
  });

  it('lets an empty prediction vote, and gives a tie to the first', () => {
    const vote = (prediction: unknown, value: number) => ({ prediction, value });
    expect(majorityValue([vote('', 0), vote('', 0), vote('7', 1)])).toBe(0);
    expect(majorityValue([vote('7', 1), vote('8', 0)])).toBe(1);
    expect(majorityValue([vote(1, 0), vote('1', 1), vote('1', 1)])).toBe(1);
    expect(() => majorityValue([])).toThrow(RangeError);
  });
});
