import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { UserError } from '../userError.js';
import { type Budget, runStudy } from './runStudy.js';
import { readPlans, StudyFolder } from './studyFolder.js';
import { madePlan, madeResults } from './testSupport.js';

const folder = mkdtempSync(join(tmpdir(), 'budget-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

// two arms of 3 steps of 16 groups of 8 rollouts of at most 160 tokens
const plan = madePlan();
const run = (out: string, budget: Budget) =>
  runStudy({
    plans: [plan],
    out: join(folder, out),
    parallel: 1,
    budget,
    log: () => undefined,
    signal: new AbortController().signal,
  });

describe('a budget that does not hold one block', () => {
  it('is refused with the numbers before anything runs', async () => {
    await expect(run('steps', { steps: 5 })).rejects.toThrow(UserError);
    await expect(run('steps', { steps: 5 })).rejects.toThrow(
      'block 1 takes 6 steps, and of 5 there are 5 left: the budget does not hold one block',
    );
    await expect(run('tokens', { tokens: 122_879 })).rejects.toThrow(
      'block 1 takes at most 122,880 tokens, and of 122,879 there are 122,879 left',
    );
  });

  it('is refused by the minutes that such arms took in the same folder', async () => {
    const kept = StudyFolder.open(join(folder, 'minutes'), [plan]);
    for (const arm of ['narrow', 'wide']) kept.keep(madeResults(plan, arm, [0.5], { seconds: 90 })[0]!);
    kept.close();
    const more = madePlan({ blocks: 8 });
    const { signal } = new AbortController();
    await expect(
      runStudy({ plans: [more], out: join(folder, 'minutes'), parallel: 1, budget: { steps: 1 }, log: () => undefined, signal }),
    ).rejects.toThrow('does not hold one block');
    expect(readPlans(join(folder, 'minutes'))[0]).not.toHaveProperty('raised'); // nothing has run, and nothing was asked for
    await expect(run('minutes', { minutes: 2 })).rejects.toThrow('block 2 takes about 3 minutes, and of 2 there are 2 left');
  });
});
