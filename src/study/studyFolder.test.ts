import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { UserError } from '../userError.js';
import { jobOf } from './jobs.js';
import { readPlan, type StudyPlan, withBlocks } from './plan.js';
import { readReport } from './report.js';
import { readPlans, readResults, StudyFolder } from './studyFolder.js';
import { madePlan, madeResults, PLAN } from './testSupport.js';

const root = mkdtempSync(join(tmpdir(), 'study-folder-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let path = '';
let count = 0;
beforeEach(() => {
  path = join(root, String(count++));
});

const made = (plan: StudyPlan, shares: readonly number[] = []): void => {
  const folder = StudyFolder.open(path, [plan]);
  for (const arm of ['wide', 'narrow']) for (const result of madeResults(plan, arm, shares)) folder.keep(result);
  folder.close();
};
const message = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(UserError);
    return (error as Error).message;
  }
  throw new Error('it was taken');
};

describe('the folder of a study', () => {
  it('keeps a plan as it was written and as it was resolved, with all blocks that it asks for', () => {
    const file = join(root, 'plan.yaml');
    const text = `# why\n${stringify(PLAN)}`;
    writeFileSync(file, text);
    const plan = readPlan(file);
    made(withBlocks(plan, 2));
    expect(readFileSync(join(path, 'plans', 'clip.yaml'), 'utf8')).toBe(text);
    const [kept] = readPlans(path);
    expect(kept).toMatchObject({ name: 'clip', blocks: 6, text, hash: plan.hash });
    for (const [i, arm] of plan.arms.entries()) expect(jobOf(kept!, kept!.arms[i]!, 3).key).toBe(jobOf(plan, arm, 3).key);
  });

  it('keeps what blocks begin with', () => {
    const plan = madePlan({ start: { extends: 'demo', stages: ['sft'] } });
    made(plan);
    const [kept] = readPlans(path);
    expect(jobOf(kept!, kept!.arms[0]!, 1)).toMatchObject({
      key: jobOf(plan, plan.arms[0]!, 1).key,
      start: { key: jobOf(plan, plan.arms[0]!, 1).start!.key },
    });
  });

  it('is enough for a report', () => {
    made(madePlan(), [0.1, 0.2, 0.3]);
    expect(readReport(path).runs).toMatchObject({ done: 6, wanted: 12 });
  });

  it('refuses an edited plan, and holds several', () => {
    made(madePlan());
    expect(message(() => made(madePlan({ base: { extends: 'nano', rl: { steps: 4 } } })))).toContain('the plan clip was another one');
    made(madePlan({ name: 'second' }));
    expect(readPlans(path).map(({ name }) => name)).toEqual(['clip', 'second']);
  });

  it('is no study where there is none, and says what is missing', () => {
    expect(message(() => readReport(path))).toContain('there is no folder');
    mkdirSync(path);
    expect(message(() => readReport(path))).toContain('holds no study');
    writeFileSync(join(path, 'study.json'), '{');
    expect(message(() => readReport(path))).toContain('study.json is not JSON');
    rmSync(join(path, 'study.json'));
    made(madePlan());
    expect(message(() => readReport(path))).toContain('has no result yet');
    rmSync(join(path, 'plans'), { recursive: true });
    expect(message(() => readReport(path))).toContain('does not hold the plan clip');
  });

  it('finds a kept plan that was changed afterwards', () => {
    made(madePlan(), [0.1]);
    const file = join(path, 'plans', 'clip.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace('"margin":5', '"margin":1'));
    expect(message(() => readReport(path))).toContain('is another plan than the one that ran');
  });

  it.each([
    ['no JSON', '{', 'is not JSON'],
    ['of another layout', '{"format":2,"key":"k"}', 'is not a result of this version'],
    ['without curves', '{"format":1,"key":"k","arm":"a","block":0,"seed":1}', 'curves'],
  ])('names a result that is %s', (_, text, expected) => {
    made(madePlan(), [0.1]);
    const file = join(path, 'results', 'other.json');
    writeFileSync(file, text);
    expect(message(() => readResults(path))).toContain(expected);
    expect(message(() => readResults(path))).toContain(file);
  });
});
