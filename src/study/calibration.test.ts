import { describe, expect, it } from 'vitest';
import { reportOf } from './report.js';
import { calibrationSentences, noiseRows } from './reportWords.js';
import { byKey, madePlan, madeResults } from './testSupport.js';

const plan = madePlan();
const of = (wide: readonly number[], narrow: readonly number[]) =>
  reportOf('f', [plan], byKey(madeResults(plan, 'wide', wide), madeResults(plan, 'narrow', narrow))).calibrations;

describe('a calibration', () => {
  it('has floor, ceiling and noise as one computes them by hand', () => {
    const [calibration, ...others] = of([0.9, 0.92, 0.94, 0.96], [0.8, 0.81, 0.82, 0.83]);
    expect(others).toEqual([]);
    // First steps are a quarter of the ends: 21.25, 21.625, 22, 22.375 over both arms.
    expect(calibration!.floor!.mean).toBeCloseTo(21.8125, 9);
    expect(calibration!.ceiling).toMatchObject({ arm: 'wide', plan: 'clip', value: { mean: expect.closeTo(93, 9) } });
    const [noise, ...more] = calibration!.noise;
    expect(more).toEqual([]);
    // Variances 20 / 3 and 5 / 3, pooled 25 / 6; differences 10, 11, 12, 13 with 5 / 3; 3.182446 standard errors either way.
    expect(noise).toEqual({
      ...{ endpoint: 'accuracy at the end of rl', unit: 'points', blocks: 4 },
      betweenBlocks: expect.closeTo(Math.sqrt(25 / 6), 9),
      ofDifferences: expect.closeTo(Math.sqrt(5 / 3), 9),
      reach: expect.closeTo((3.182446 * Math.sqrt(5 / 3)) / 2, 5),
    });
    // 512 problems, one rollout each.
    expect(calibration!.evaluation).toEqual({
      problems: 512,
      samples: 1,
      deviation: expect.closeTo(100 * Math.sqrt((0.93 * 0.07) / 512), 9),
    });
  });

  it('is said in words and in a table', () => {
    const [calibration] = of([0.9, 0.92], [0.8, 0.81]);
    expect(calibrationSentences(calibration!)).toBe(
      "clip: policies begin at 21.4 % right in the first step's rollouts (0.265 points between blocks). The arm that ends highest is wide with 91 % (1.41 points between blocks). An evaluation of 512 problems scatters by 1.26 points there, by its draw of rollouts alone.",
    );
    expect(noiseRows(calibration!)[1]).toEqual(['accuracy at the end of rl', 'points', '1.12', '0.707', 2, '6.35']);
  });

  it('is not made from one block', () => {
    expect(of([0.9], [0.8])).toEqual([]);
  });
});
