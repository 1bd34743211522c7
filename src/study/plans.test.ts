/** The plans that come along: all of them can be run as they are. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../setup/paths.js';
import { blocksOf } from './jobs.js';
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

  it('share a start in each block, and run equal arms once', () => {
    const [first] = blocksOf(plans.map(({ plan }) => plan));
    const arms = plans.reduce((sum, { plan }) => sum + plan.arms.length, 0);
    expect(new Set(first!.jobs.map(({ start }) => start?.key)).size).toBe(1);
    expect(arms - first!.jobs.length).toBe(6);
  });

  it('name files of demonstrations that are there', () => {
    const files = plans.flatMap(({ plan }) =>
      plan.arms.flatMap(({ recipe: { sft } }) => (sft && 'file' in sft.demonstrations ? [sft.demonstrations.file] : [])),
    );
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) expect(existsSync(join(packageRoot(), file)), file).toBe(true);
  });
});
