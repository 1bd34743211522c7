import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { describeStudy } from './describe.js';
import { StudyFolder } from './studyFolder.js';
import { madePlan, madeResults } from './testSupport.js';

const root = mkdtempSync(join(tmpdir(), 'describe-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const lines = (...plans: Parameters<typeof describeStudy>[0]): string[] => describeStudy(plans, join(root, 'nowhere'), 1);
const small = (rl: object, blocks = 1) =>
  madePlan({ blocks, base: { extends: 'nano', rl: { steps: 1, groupsPerStep: 2, groupSize: 4, updatesPerStep: 2, ...rl } } });

describe('what a study will do', () => {
  it('is said with small numbers as they are', () => {
    const [plan, runs, work] = lines(small({}));
    expect(plan).toBe('clip: The upper bound (2 arms, 1 block, 1 claim)');
    expect(runs).toBe('2 arm-runs, 0 there already, 2 to run');
    const { responseTokens } = small({}).arms[0]!.recipe.limits;
    expect(work).toContain(`To run: 2 RL steps, 16 rollouts, at most ${16 * responseTokens} tokens; about 1 minute of one engine`);
  });

  it('counts tokens in thousands and millions where there are as many', () => {
    const { responseTokens } = small({}).arms[0]!.recipe.limits;
    const thousands = Math.round((160 * responseTokens) / 1e3);
    expect(lines(small({}, 10))[2]).toContain(`at most ${thousands} thousand tokens`);
    const millions = ((16_000 * responseTokens) / 1e6).toFixed(1);
    expect(lines(small({ steps: 100 }, 10))[2]).toContain(`at most ${millions} million tokens`);
  });

  it('names what is shared by plans, and what is there', () => {
    const plan = madePlan();
    expect(lines(plan, madePlan({ name: 'again' }))[2]).toBe('12 arm-runs (12 shared between plans), 0 there already, 12 to run');
    const out = join(root, 'study');
    const folder = StudyFolder.open(out, [plan]);
    for (const result of madeResults(plan, 'wide', [0.1])) folder.keep(result);
    folder.close();
    expect(describeStudy([plan], out, 1)[1]).toBe('12 arm-runs, 1 there already, 11 to run');
  });
});
