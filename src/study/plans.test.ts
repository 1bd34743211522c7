/** The plans that come along: all of them can be run as they are. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../setup/paths.js';
import { UserError } from '../userError.js';
import { blocksOf } from './jobs.js';
import { packagedPlans, planFile } from './packagedPlans.js';
import { readPlan } from './plan.js';
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
