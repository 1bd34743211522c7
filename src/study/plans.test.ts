/** The plans that come along: all of them can be run as they are. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../setup/paths.js';
import { UserError } from '../userError.js';
import { blocksOf, jobOf } from './jobs.js';
import { packagedPlans, planFile } from './packagedPlans.js';
import { planOf, readPlan } from './plan.js';
import { filesOf, found, withPackagedFiles } from './planFiles.js';
import { runArm } from './runArm.js';
import { StudyFolder } from './studyFolder.js';
import { PLAN } from './testSupport.js';
import { LEAST_BLOCKS } from './verdict.js';

const folder = join(packageRoot(), 'studies');
const plans = readdirSync(folder)
  .filter((file) => file.endsWith('.yaml'))
  .map((file) => ({ file, plan: readPlan(join(folder, file)) }));

describe('the plans of studies/', () => {
  it.each(plans)('$file has enough blocks, begins at seed 1, and is called as its file', ({ file, plan }) => {
    expect(plan.blocks).toBeGreaterThanOrEqual(LEAST_BLOCKS);
    expect(plan.seed).toBe(1);
    expect(file).toBe(`${plan.name}.yaml`);
  });

  it('share a start in each block, but for those that are about another start, and run equal arms once', () => {
    const [first] = blocksOf(plans.map(({ plan }) => plan));
    const arms = plans.reduce((sum, { plan }) => sum + plan.arms.length, 0);
    expect(new Set(first!.jobs.map(({ start }) => start?.key)).size).toBe(3);
    expect(arms - first!.jobs.length).toBe(6);
  });

  it('of the larger model say that they are exploratory', () => {
    const larger = [...packagedPlans()].filter(([, file]) => file.includes('smollm2'));
    expect(larger.length).toBeGreaterThan(0);
    for (const [name, file] of larger) {
      const plan = readPlan(file);
      expect(plan.name).toBe(name);
      expect(plan.blocks).toBeGreaterThanOrEqual(3);
      expect(plan.notes.join()).toContain('exploratory');
    }
  });
});

/** In a folder of its own, which goes when it ends. */
function elsewhere<T>(run: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'elsewhere-'));
  const here = process.cwd();
  process.chdir(folder);
  const back = (): void => {
    process.chdir(here);
    rmSync(folder, { recursive: true, force: true });
  };
  let ends = true;
  try {
    const value = run(folder);
    if (!(value instanceof Promise)) return value;
    ends = false;
    return value.finally(back) as T;
  } finally {
    if (ends) back();
  }
}

describe('the plans that have run', () => {
  it('are what they were', () => {
    const kept = join(folder, 'findings');
    const { plans: hashes } = JSON.parse(readFileSync(join(kept, 'study.json'), 'utf8')) as { plans: Record<string, string> };
    const files = readdirSync(join(kept, 'plans')).filter((file) => file.endsWith('.yaml'));
    expect(Object.fromEntries(files.map((file) => readPlan(join(kept, 'plans', file))).map(({ name, hash }) => [name, hash]))).toEqual(
      hashes,
    );
  });
});

describe('a plan on the command line', () => {
  it('is a file, or the name of one that comes along', () => {
    const file = join(folder, 'clip-bounds.yaml');
    expect(planFile(file)).toBe(file);
    expect(planFile('clip-bounds')).toBe(file);
    expect(() => planFile('clip-bound')).toThrow(UserError);
    expect(() => planFile('my/clip-bound.yaml')).toThrow(
      expect.objectContaining({ hint: expect.stringContaining('Did you mean clip-bounds?') }),
    );
  });

  it('brings its files along, whatever folder it is run in', () => {
    const file = planFile('real-trajectories');
    const written = 'studies/data/nano-trajectories.jsonl';
    const here = elsewhere(() => ({ plan: readPlan(file), place: found(written) }));
    expect(here.place).toBe(join(packageRoot(), written));
    expect(here.plan.hash).toBe(readPlan(file).hash);
    const arm = here.plan.arms.find(({ recipe }) => filesOf(recipe).length > 0)!;
    expect(filesOf(arm.recipe)).toEqual([written]);
    const run = elsewhere(() => withPackagedFiles(arm.recipe));
    expect(filesOf(run)).toEqual([join(packageRoot(), written)]);
    expect({ ...run, sft: undefined }).toEqual({ ...arm.recipe, sft: undefined });
  });

  it('takes a file of the folder it is run in before one that comes along, and nothing from outside the package', () => {
    elsewhere((folder) => {
      mkdirSync(join(folder, 'studies', 'data'), { recursive: true });
      const own = join('studies', 'data', 'nano-trajectories.jsonl');
      writeFileSync(own, '{}');
      expect(found(own)).toBe(own);
      const outside = join('..', basename(packageRoot()), 'package.json');
      expect(found(outside)).toBe(outside);
      expect(found('hf:owner/name/train.jsonl')).toBe('hf:owner/name/train.jsonl');
    });
  });

  it('runs with them', async () => {
    const plan = planOf(
      { ...PLAN, base: { ...PLAN.base, problems: { evaluation: { kind: 'jsonl', file: 'package.json' } } } },
      'plan.yaml',
    );
    const job = jobOf(plan, plan.arms[0]!, 0);
    await elsewhere(async (folder) => {
      const study = StudyFolder.open(join(folder, 'study'), [plan]);
      try {
        // no problems are in it: that it was read is what is to be seen
        const run = runArm(job, undefined, { folder: study, log: () => undefined, signal: new AbortController().signal });
        await expect(run).rejects.toThrow(`${join(packageRoot(), 'package.json')} has no rows`);
      } finally {
        study.close();
      }
    });
  });

  it('is refused where an arm reads a file that is not there', () => {
    const lost = mkdtempSync(join(tmpdir(), 'plan-'));
    try {
      const file = join(lost, 'real-trajectories.yaml');
      writeFileSync(file, readFileSync(planFile('real-trajectories'), 'utf8').replaceAll('studies/data/', 'studies/elsewhere/'));
      expect(() => readPlan(file)).toThrow(/arm real needs the file studies\/elsewhere\/nano-trajectories.jsonl, which is not there/);
    } finally {
      rmSync(lost, { recursive: true, force: true });
    }
  });
});
