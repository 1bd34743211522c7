import { describe, expect, it } from 'vitest';
import { blocksOf } from '../../study/jobs.js';
import { byKey, madePlan, madeResults } from '../../study/testSupport.js';
import { estimateOf } from './studyEstimate.js';

/** Six blocks of two arms; of the first two blocks all has ended, each arm after two minutes, two side by side. */
const plan = madePlan();
const jobs = blocksOf([plan]).flatMap((block) => block.jobs);
const at = (minute: number): string => new Date(Date.UTC(2026, 10, 20) + 60_000 * minute).toISOString();
const ended = (...minutes: readonly number[]) =>
  byKey(
    ...['narrow', 'wide'].map((arm) =>
      madeResults(plan, arm, [0.5, 0.5], { seconds: 120 }).map((result, i) => ({ ...result, ended: at(minutes[i]!) })),
    ),
  );
const results = ended(2, 4);

describe('what a study may take still', () => {
  it('is what such arms took, for all that are left, side by side', () => {
    expect(estimateOf({ jobs, results }, 2)).toEqual({ seconds: expect.closeTo(480, 6), each: expect.closeTo(120, 6), of: 4, beside: 2 });
  });

  it('is not longer because one of a block runs alone, or none for a moment', () => {
    expect(estimateOf({ jobs, results }, 1)?.beside).toBe(2);
    expect(estimateOf({ jobs, results }, 0)?.beside).toBe(2);
    expect(estimateOf({ jobs: jobs.slice(0, 5), results }, 1)).toMatchObject({ seconds: expect.closeTo(120, 6), beside: 1 });
  });

  it('of one that does not run is told for one at a time', () => {
    expect(estimateOf({ jobs, results }, undefined)).toMatchObject({ seconds: expect.closeTo(960, 6), beside: 1 });
  });

  it('is not known before anything has ended, and nothing when all has', () => {
    expect(estimateOf({ jobs, results: new Map() }, 2)).toBeUndefined();
    expect(estimateOf({ jobs: jobs.slice(0, 4), results }, 0)).toBeUndefined();
    const broken = new Map([...results].map(([key, result]) => [key, { ...result, ended: 'nonsense' }]));
    expect(estimateOf({ jobs, results: broken }, 1)?.beside).toBe(1);
  });
});
