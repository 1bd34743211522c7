/** RL that chooses its problems by what its policy solves: cut off and resumed, it ends as one that never was. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openRun } from '../src/runs/reader.js';
import { train } from '../src/training/train.js';
import { missingForEndToEnd } from './support.js';

const missing = await missingForEndToEnd('nano');
const folder = mkdtempSync(join(tmpdir(), 'refresh-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const STEPS = 4;
const EVERY = 2;

const trained = (out: string, more: { resume?: boolean; signal?: AbortSignal; onLine?: (line: string) => void; set?: string[] } = {}) => {
  const lines: string[] = [];
  const { onLine, set = [], ...options } = more;
  const run = train({
    recipe: 'nano',
    set: [
      `rl.steps=${STEPS}`,
      'rl.groupsPerStep=2',
      'rl.groupSize=4',
      'rl.updatesPerStep=1',
      `rl.refresh={everySteps: ${EVERY}, samples: 3, problems: 12, target: "medium=1,hard=1"}`,
      'problems.train={kind: calc-small, count: 24}',
      'problems.evaluation.count=1',
      'engine.deterministic=true',
      'engine.threads=1',
      'evaluation.base=false',
      'evaluation.extra=[]',
      ...set,
    ],
    out,
    ...options,
    log: (line) => {
      lines.push(line);
      onLine?.(line);
    },
  });
  return { run, lines };
};

describe.skipIf(missing !== undefined)(`RL on chosen problems${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  it('trains on what it chose, and goes on with the same choice to the last bit', { timeout: 240_000 }, async () => {
    const whole = join(folder, 'whole');
    const first = trained(whole);
    await first.run;
    expect(first.lines.filter((line) => /^problems chosen after/.test(line))).toHaveLength(STEPS / EVERY);

    const { refreshes, problems } = recordOf(whole);
    expect(refreshes.map(({ step }) => step)).toEqual([0, 2]);
    for (const [step, ids] of problems.entries()) {
      const { selected } = refreshes.filter((refresh) => refresh.step <= step).at(-1)!;
      expect(selected.length).toBeGreaterThan(0);
      expect(ids.every((id) => selected.some((one) => one.id === id))).toBe(true);
    }

    // Right after the second choice, before anything was trained on it.
    const cut = join(folder, 'cut');
    const stop = new AbortController();
    const begun = trained(cut, {
      signal: stop.signal,
      onLine: (line) => line.startsWith('problems chosen after 2') && stop.abort(new Error('cut off')),
    });
    await expect(begun.run).rejects.toThrow('cut off');
    const last = trained(cut, { resume: true });
    await last.run;
    expect(last.lines.filter((line) => /^problems chosen after/.test(line))).toEqual([]);
    expect(recordOf(cut)).toEqual(recordOf(whole));
  });

  it('tells a bad target before anything is started', async () => {
    const out = join(folder, 'bad');
    await expect(trained(out, { set: ['rl.refresh.target=simple=1'] }).run).rejects.toThrow(/^rl\.refresh: target "simple=1"/);
    await expect(trained(out, { set: ['rl.refresh.target=missing.parquet'] }).run).rejects.toThrow(/no such file/);
  });
});

/** What does not depend on the clock. */
function recordOf(out: string) {
  const run = openRun(out);
  try {
    const steps = run.steps('rl').map(({ metrics }) => withoutTimes(metrics));
    const records = [...run.records({ split: 'train' })];
    return {
      steps,
      refreshes: run.refreshes().map(({ metrics, ...rest }) => ({ ...rest, metrics: withoutTimes(metrics) })),
      tokens: records.map(({ trajectory }) => trajectory.tokens),
      problems: steps.map((_, step) => [
        ...new Set(records.filter((record) => record.step === step).map((record) => record.trajectory.problem.id)),
      ]),
    };
  } finally {
    run.close();
  }
}

const withoutTimes = (metrics: Readonly<Record<string, number>>): Record<string, number> =>
  Object.fromEntries(Object.entries(metrics).filter(([name]) => !name.startsWith('seconds/')));
