import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { describeStudy } from './describe.js';
import { estimate, estimateFrom, tookIn } from './estimate.js';
import { blocksOf } from './jobs.js';
import { StudyFolder } from './studyFolder.js';
import { madePlan, madeResults, PLAN } from './testSupport.js';

const folder = mkdtempSync(join(tmpdir(), 'estimate-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const plan = madePlan();
const kept = StudyFolder.open(folder, [plan]);
for (const result of madeResults(plan, 'wide', [0.5, 0.5], { seconds: 40 })) kept.keep(result);
for (const result of madeResults(plan, 'narrow', [0.5, 0.5], { seconds: 80 })) kept.keep(result);
kept.close();
const jobsOf = (made: typeof plan) => blocksOf([made]).flatMap(({ jobs }) => jobs);

describe('an estimate', () => {
  it('is what equal arms took, whatever they are called, in any block', () => {
    const other = madePlan({ name: 'other', seed: 100, blocks: 3 });
    expect(estimate(jobsOf(other), folder, 2)).toEqual({
      seconds: expect.closeTo(3 * (40 + 80), 6),
      clock: expect.closeTo(3 * 60, 6),
      from: { here: true, machines: ['a processor'] },
    });
  });

  it('goes by the number of conversations for other arms of the same model', () => {
    const twice = madePlan({
      blocks: 1,
      base: { extends: 'nano', rl: { steps: 3, epochs: 3 }, problems: { evaluation: { kind: 'calc-small', count: 512 } } },
    });
    // 3 steps of 128 rollouts, written once and trained on 1 or 3 times; 512 problems in three ways, before and after.
    const passes = (epochs: number): number => 1 + 512 * 3 * 2 + 3 * 128 * (1 + epochs);
    expect(estimate(jobsOf(twice), folder, 1)!.seconds).toBeCloseTo((2 * 60 * passes(3)) / passes(1), 6);
  });

  it('is by the clock what blocks take one after the other: a start, which all wait for, and then arms side by side', () => {
    const begun = madePlan({ name: 'begun', blocks: 2, start: PLAN.base });
    const [here, jobs] = [tookIn(folder), jobsOf(begun)];
    // the start is the recipe of the arm wide, of 40 seconds; narrow takes 80
    expect(estimateFrom(jobs, 2, { here })).toMatchObject({ seconds: expect.closeTo(2 * 160, 6), clock: expect.closeTo(2 * (40 + 60), 6) });
    const made = new Set(jobs.map((job) => job.start!.key));
    expect(estimateFrom(jobs, 2, { here, made })!.clock).toBeCloseTo(2 * 60, 6);
    // three arms, two side by side
    expect(estimateFrom([jobs[0]!, jobs[1]!, jobs[0]!], 2, { here, made })!.clock).toBeCloseTo((200 * 2) / 3, 6);
  });

  it('is none for a model that nobody has run', () => {
    expect(estimate(jobsOf(madePlan({ base: { ...PLAN.base, model: './models/unheard-of' } })), folder, 1)).toBeUndefined();
  });

  it('is told with what it rests on', () => {
    expect(describeStudy([plan], folder, 2).at(-1)).toMatch(
      /about 4 minutes with 2 arms side by side \(8 minutes of one engine\), from what arms took here$/,
    );
  });
});
