import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { someInfo, someRecord } from '../../test/support/someRun.js';
import { ChangeTally, regradeRun } from '../grading/regradeRun.js';
import { rowGrader } from '../grading/rowGrader.js';
import { SandboxOnDemand } from '../grading/sandboxOnDemand.js';
import { openRun } from '../runs/reader.js';
import { RunWriter } from '../runs/writer.js';
import { writeReport } from './report.js';

const HOSTILE = '</pre><script>alert(1)</script><img src=x onerror=alert(2)>\u202e';
const folder = mkdtempSync(join(tmpdir(), 'toolwise-report-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Two problems of two rollouts, one of which was lost; a model, a tool and a problem that write markup; a right answer once missed. */
function writeRun(): void {
  const writer = RunWriter.create(folder, someInfo());
  for (const [i, correct] of [true, true, false].entries()) {
    const record = someRecord(0, 4 * Math.floor(i / 2) + (i % 2), 'main', correct);
    const { trajectory } = record;
    const turns = trajectory.turns.map((turn) => ({
      ...turn,
      text: `${turn.text}${HOSTILE}`,
      replies: turn.replies.map((reply) => ({ ...reply, text: HOSTILE })),
    }));
    const problem = { ...trajectory.problem, question: `${trajectory.problem.question}${HOSTILE}` };
    writer.sink({ kind: 'trajectory', record: { ...record, stage: 'base', trajectory: { ...trajectory, turns, problem } } });
  }
  const metrics = {
    accuracy: 0.5,
    intervalLow: 0,
    intervalHigh: 1,
    problems: 2,
    samples: 2,
    lost: 1,
    temperature: 1,
    topP: 1,
    'pass@2': 0.5,
    'maj@2': 0.25,
  };
  writer.sink({ kind: 'evaluation', record: { name: 'main', stage: 'base', step: 0, metrics } });
  writer.sink({ kind: 'note', level: 'warning', text: HOSTILE });
  writer.close();
}

describe('the report of a run', () => {
  writeRun();
  const report = writeReport(folder);
  const page = readFileSync(join(folder, 'report.html'), 'utf8');

  it('shows figures over valid rollouts and over all, and what was lost', () => {
    expect(page).toContain('1 of 4 (25.0%) lost to infrastructure.');
    expect(page).toMatch(/avg@2<\/td><td>50\.0% \[[^<]*<\/td><td>50\.0% \[/);
    expect(page).toMatch(/pass@2<\/td><td>100% \[[^<]*<\/td><td>50\.0% \[/);
    expect(page).toContain('<svg');
  });

  it('lets nothing that a model or a tool wrote become markup', () => {
    expect(page).toContain('&lt;script&gt;alert(1)');
    expect(page).not.toMatch(/<script|<img|\u202e/);
    expect(page).toContain('Content-Security-Policy');
  });

  it('has the figures by k in JSON too', () => {
    expect(report.stages.base).toMatchObject({ accuracy: 0.5, passAt: { 2: 0.5 }, majorityAt: { 2: 0.25 }, referenceBestAt: {}, lost: 1 });
    expect(JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8'))).toEqual(JSON.parse(JSON.stringify(report)));
  });
});

describe('grading a run again', () => {
  it('says which verdicts changed, and leaves the run as it is', async () => {
    const sandbox = new SandboxOnDemand({ kind: 'none', workers: 1, timeoutSeconds: 5, memoryMb: 256 });
    const run = openRun(folder);
    const tally = new ChangeTally();
    const lines: Record<string, unknown>[] = [];
    try {
      const options = { grader: rowGrader({ sandbox }), parallel: 2, signal: new AbortController().signal };
      for await (const one of regradeRun(run, options)) {
        tally.add(one);
        lines.push(one.line);
      }
    } finally {
      run.close();
      await sandbox.close();
    }
    expect(lines.map(({ change }) => change)).toEqual(['same', 'same', 'becameRight']);
    expect(lines[2]).toMatchObject({ correct: true, reason: 'match', extracted: '42', before: { correct: false, reason: 'mismatch' } });
    expect(tally.text()).toBe('3 rows: 3 right of 3 graded (100.0%); changed: 1 wrong before and right now');
    expect(sandbox.opened).toBe(false);
  });
});
