/** An RL set of mathematics, choices and code, in Parquet as the paper's is, trains: each rollout is graded by its problem's kind. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Problem } from '../src/domain/problem.js';
import { findSchema } from '../src/problems/schemas/index.js';
import { openRun } from '../src/runs/reader.js';
import { createTable } from '../src/tables/writeTable.js';
import { train } from '../src/training/train.js';
import { missingForEndToEnd } from './support.js';

const missing = await missingForEndToEnd('nano');
const folder = mkdtempSync(join(tmpdir(), 'mixed-kinds-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const problems: Problem[] = [
  { id: 'm', question: 'What is 12 + 30?', answer: '42' },
  { id: 'c', question: 'Which is even?\nA) 3\nB) 4', kind: 'choice', answer: 'B' },
  { id: 's', question: 'Print twice the number.', kind: 'code', tests: JSON.stringify({ inputs: ['2\n'], outputs: ['4\n'] }) },
  { id: 'f', question: 'Write twice(x).', kind: 'code', tests: JSON.stringify({ fn_name: 'twice', inputs: [[2]], outputs: [4] }) },
];

describe.skipIf(missing !== undefined)(`a set of mixed kinds${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  it('trains and is evaluated', { timeout: 120_000 }, async () => {
    const file = join(folder, 'mixed.parquet');
    const schema = findSchema('open-agentrl-rl');
    const table = await createTable(file, { schema: schema.columns });
    for (const problem of problems) await table.write(schema.write(problem));
    await table.close();
    const set = { kind: 'file', file } as const;
    const { folder: run } = await train({
      recipe: {
        name: 'mixed',
        extends: 'nano',
        model: 'nano',
        stages: ['rl'],
        engine: { threads: 1 },
        problems: { train: set, evaluation: set },
        rl: { steps: 2, groupsPerStep: 4, groupSize: 2, updatesPerStep: 1 },
        limits: { turnTokens: 24, responseTokens: 60 },
        evaluation: { samples: 1, extra: [], base: false },
      },
      out: join(folder, 'run'),
    });
    const opened = openRun(run);
    try {
      const records = [...opened.records()];
      // Two steps of four problems twice, and four to evaluate.
      expect(records).toHaveLength(20);
      for (const { verdict } of records) expect(verdict?.kind).toBe('graded');
      const reasons = (kind: string): Set<unknown> =>
        new Set(
          records
            .filter(({ trajectory }) => (trajectory.problem.kind ?? 'math') === kind)
            .map(({ verdict }) => verdict?.kind === 'graded' && verdict.reason),
        );
      expect(
        [...reasons('code')].every((reason) =>
          ['noProgram', 'wrongOutput', 'runtimeError', 'compileError', 'match'].includes(String(reason)),
        ),
      ).toBe(true);
      expect([...reasons('choice')].every((reason) => ['noAnswer', 'mismatch', 'match'].includes(String(reason)))).toBe(true);
      expect(reasons('math').size).toBeGreaterThan(0);
    } finally {
      opened.close();
    }
  });
});
