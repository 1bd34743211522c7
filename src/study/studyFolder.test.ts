import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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

  it('is refused without a run as it would be with one, and nothing is written', () => {
    StudyFolder.refuse(path, [madePlan()]);
    expect(existsSync(path)).toBe(false);
    made(madePlan(), [0.1]);
    const before = readFileSync(join(path, 'study.json'), 'utf8');
    expect(message(() => StudyFolder.refuse(path, [madePlan({ seed: 9 })]))).toContain('the plan clip was another one');
    expect(message(() => StudyFolder.refuse(path, [madePlan({ blocks: 4 })]))).toContain('4');
    StudyFolder.refuse(path, [madePlan({ name: 'another' })]);
    expect(readFileSync(join(path, 'study.json'), 'utf8')).toBe(before);
    expect(message(() => StudyFolder.refuse(root, [madePlan()]))).toContain('holds no study');
    expect(message(() => StudyFolder.refuse(join(path, 'study.json', 'below'), [madePlan()]))).toContain('study.json is a file');
    expect(message(() => StudyFolder.refuse('', [madePlan()]))).toContain('is empty');
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

  it('refuses a plan that asks for fewer blocks once results are there, and loses none', () => {
    made(madePlan({ blocks: 8 }));
    made(madePlan({ blocks: 7 }), [0.1, 0.2]);
    const kept = readFileSync(join(path, 'plans', 'clip.json'), 'utf8');
    expect(message(() => made(madePlan({ blocks: 6 })))).toBe(
      `the plan clip asks for 6 blocks, and asked for 7 in ${path}, where 4 results of it can be seen`,
    );
    expect(readFileSync(join(path, 'plans', 'clip.json'), 'utf8')).toBe(kept);
    made(withBlocks(madePlan({ blocks: 7 }), 2));
    expect(readFileSync(join(path, 'plans', 'clip.json'), 'utf8')).toBe(kept);
    expect(readReport(path).runs).toMatchObject({ done: 4, wanted: 14 });
  });

  it('keeps how often a plan came to ask for more blocks with results there', () => {
    made(madePlan());
    made(madePlan({ blocks: 7 }));
    expect(readPlans(path)[0]).not.toHaveProperty('raised');
    made(madePlan({ blocks: 7 }), [0.1]);
    made(madePlan({ blocks: 8 }), [0.1, 0.2]);
    made(madePlan({ blocks: 8 }));
    made(madePlan({ blocks: 12 }));
    const [kept] = readPlans(path);
    expect(kept).toMatchObject({ blocks: 12, hash: madePlan().hash });
    expect(kept!.raised).toEqual([
      { from: 7, to: 8, results: 2 },
      { from: 8, to: 12, results: 4 },
    ]);
  });

  it('finds a file that arms read and that has changed, and leaves the rest as it was', () => {
    const file = join(root, 'problems.jsonl');
    const text = '{"question":"1+1","answer":"2"}';
    writeFileSync(file, text);
    const start = { extends: 'demo', stages: ['sft'], sft: { demonstrations: { file } } };
    const plan = madePlan({ start });
    made(plan, [0.1]);
    const study = readFileSync(join(path, 'study.json'), 'utf8');
    expect(JSON.parse(study)).toMatchObject({ files: { [file]: createHash('sha256').update(text).digest('hex') } });
    writeFileSync(file, `${text}\n`);
    expect(message(() => made(plan))).toMatch(
      /problems\.jsonl holds something else than when the study in .* read it \(SHA-256 [0-9a-f]{12}, now [0-9a-f]{12}\)/,
    );
    // another plan, the same file
    expect(message(() => made(madePlan({ start, name: 'second' })))).toContain('holds something else');
    expect(readFileSync(join(path, 'study.json'), 'utf8')).toBe(study);
    writeFileSync(file, text);
    made(plan);
    expect(readReport(path).runs.done).toBe(2);
  });

  it('of before files were looked at takes them as they are now', () => {
    const file = join(root, 'older.jsonl');
    writeFileSync(file, '{}');
    const plan = madePlan({ start: { extends: 'demo', stages: ['sft'], sft: { demonstrations: { file } } } });
    made(plan);
    writeFileSync(join(path, 'study.json'), JSON.stringify({ format: 1, plans: { clip: plan.hash } }));
    made(plan);
    writeFileSync(file, '{} ');
    expect(message(() => made(plan))).toContain('older.jsonl holds something else');
  });

  it('cannot be a file, below one, or where the system makes none', () => {
    const file = join(root, 'a-file');
    writeFileSync(file, '');
    path = file;
    expect(message(() => made(madePlan()))).toBe(`${file} cannot be made: a file has that name`);
    path = join(file, 'study');
    expect(message(() => made(madePlan()))).toBe(`${path} cannot be made: ${file} is a file`);
  });

  it('that may not be written is refused, and reported all the same', () => {
    made(madePlan(), [0.1, 0.2]);
    // as a folder of somebody else's: the lock cannot be opened
    rmSync(join(path, 'run.lock'));
    mkdirSync(join(path, 'run.lock'));
    expect(message(() => made(madePlan()))).toBe(`${path} cannot be written (SQLITE_CANTOPEN).`);
    expect(() => made(madePlan())).toThrow(expect.objectContaining({ hint: expect.stringContaining('npx toolwise study report') }));
    expect(readReport(path).runs.done).toBe(4);
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

  it('names a result that lies under the name of another', () => {
    const plan = madePlan();
    made(plan, [0.1]);
    const [wide, narrow] = ['wide', 'narrow'].map((arm) => join(path, 'results', `${madeResults(plan, arm, [0])[0]!.key}.json`));
    copyFileSync(wide!, narrow!);
    expect(message(() => readReport(path))).toContain(`${narrow} holds the result of another arm`);
  });

  it('with a result that cannot be read names it', () => {
    made(madePlan(), [0.1]);
    mkdirSync(join(path, 'results', 'other.json'));
    expect(message(() => readResults(path))).toBe(`${join(path, 'results', 'other.json')} cannot be read: it is a folder (EISDIR)`);
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
