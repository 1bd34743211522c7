/** Right answers in other forms, and the released comparison of texts in training: evaluations know nothing of it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { mathGrader } from '../src/reward/mathGrader.js';
import { openRun } from '../src/runs/reader.js';
import { train } from '../src/training/train.js';
import { missingForEndToEnd } from './support.js';

const missing = await missingForEndToEnd('nano');
const folder = mkdtempSync(join(tmpdir(), 'string-answers-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.skipIf(missing !== undefined)(`answers as texts${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  it('refuse right rollouts in training, and none in an evaluation', { timeout: 240_000 }, async () => {
    const { folder: run } = await train({
      recipe: {
        name: 'texts',
        extends: 'nano',
        model: 'nano',
        stages: ['rl'],
        problems: {
          train: { kind: 'calc-small', answers: 'varied' },
          evaluation: { kind: 'calc-small', answers: 'varied', count: 24 },
        },
        rl: { steps: 1, groupsPerStep: 16, groupSize: 4, updatesPerStep: 1, reward: { grader: 'reference' } },
        evaluation: { samples: 1, temperature: 0, extra: [], base: false },
      },
      out: join(folder, 'run'),
    });
    const opened = openRun(run);
    try {
      const tally = { train: { refused: 0, right: 0 }, evaluation: { refused: 0, right: 0 } };
      for (const { split, trajectory, verdict } of opened.records()) {
        if (verdict?.kind !== 'graded' || !mathGrader(trajectory).correct) continue;
        tally[split === 'train' ? split : 'evaluation'][verdict.correct ? 'right' : 'refused']++;
        if (split === 'train') expect(verdict.correct).toBe(/^-?\d+$/.test(trajectory.problem.answer!));
      }
      expect(tally.train.refused).toBeGreaterThan(0);
      expect(tally.train.right).toBeGreaterThan(0);
      expect(tally.evaluation.right).toBeGreaterThan(0);
      expect(tally.evaluation.refused).toBe(0);
    } finally {
      opened.close();
    }
  });
});
