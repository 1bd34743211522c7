/** A run that is killed in the middle of a step, and goes on: it ends exactly as one that was never touched. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { openRun } from '../src/runs/reader.js';
import { missingForEndToEnd } from './support.js';
import { makeTinyModel } from './tinyModel.js';

const missing = await missingForEndToEnd('nano');
const folder = mkdtempSync(join(tmpdir(), 'resume-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const STEPS = 5;

describe.skipIf(missing !== undefined)(`a killed run${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  const recipe = join(folder, 'recipe.yaml');

  it('goes on where it stopped, to the last bit', { timeout: 300_000 }, async () => {
    const model = makeTinyModel(join(folder, 'tiny'));
    writeFileSync(
      recipe,
      stringify({
        name: 'tiny',
        extends: 'nano',
        model,
        engine: { deterministic: true, threads: 1 },
        problems: { train: { kind: 'calc-small' }, evaluation: { kind: 'calc-small', count: 4 } },
        rl: { steps: STEPS, groupsPerStep: 4, groupSize: 4, updatesPerStep: 2 },
        // A random model is never right: rewards differ by length and by calls alone, which is enough to train on.
        limits: { turnTokens: 24, responseTokens: 60 },
        evaluation: { extra: [], base: false },
      }),
    );
    const whole = join(folder, 'whole');
    await finished(start([recipe, '--out', whole]));

    const killed = join(folder, 'killed');
    for (const line of [/^RL\s+1\//m, /^RL\s+3\//m]) {
      const child = start([...(line.source.includes('1') ? [recipe] : [recipe, '--resume']), '--out', killed]);
      await said(child, line);
      await new Promise((resolve) => setTimeout(resolve, 120));
      child.kill('SIGKILL');
      await new Promise((resolve) => child.once('close', resolve));
    }
    await finished(start([recipe, '--resume', '--out', killed]));

    expect(numbersOf(killed)).toEqual(numbersOf(whole));
    expect(readdirSync(killed)).toContain('report.json');
  });

  it('refuses a changed recipe, shows the difference, and goes on when asked to', { timeout: 120_000 }, async () => {
    const out = join(folder, 'whole');
    const refused = start([recipe, '--resume', '--out', out, '--set', `rl.steps=${STEPS + 1}`]);
    const { code, text } = await ended(refused);
    expect(code).toBe(2);
    expect(text).toContain(`rl.steps: ${STEPS} -> ${STEPS + 1}`);
    await finished(start([recipe, '--resume', '--out', out, '--set', `rl.steps=${STEPS + 1}`, '--accept-changes']));
    const run = openRun(out);
    expect(run.steps('rl').map(({ step }) => step)).toEqual(Array.from({ length: STEPS + 1 }, (_, step) => step));
    expect(run.stages().find(({ stage }) => stage === 'rl')).toMatchObject({ steps: STEPS + 1, endedAt: expect.any(String) });
    run.close();
    const again = await ended(start(['--resume', '--out', out]));
    expect(again.text).toContain('nothing is left to do');
    expect(again.code).toBe(0);
  });
});

/** Everything of a run that does not depend on the clock. */
function numbersOf(out: string): unknown {
  const run = openRun(out);
  try {
    const steps = run.steps('rl').map(({ step, metrics }) => ({
      step,
      metrics: Object.fromEntries(Object.entries(metrics).filter(([name]) => !name.startsWith('seconds/'))),
    }));
    const tokens = [...run.records()].map(({ trajectory, reward, advantage }) => ({
      id: trajectory.trajectoryId,
      tokens: trajectory.tokens,
      logProbs: trajectory.samplerLogProbs,
      reward,
      advantage,
    }));
    return { steps, tokens };
  } finally {
    run.close();
  }
}

function start(args: readonly string[]): ChildProcess {
  return spawn(process.execPath, ['--import', 'tsx', 'src/cli/main.ts', 'train', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Waits until the child's standard error shows a line. */
function said(child: ChildProcess, line: RegExp): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stderr!.on('data', (part: Buffer) => {
      text += part.toString();
      if (line.test(text)) resolve();
    });
    child.once('close', (code) => reject(new Error(`ended with ${code} before it said ${line}:\n${text}`)));
  });
}

async function ended(child: ChildProcess): Promise<{ code: number | null; text: string }> {
  let text = '';
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (part: Buffer) => (text += part.toString()));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, text };
}

async function finished(child: ChildProcess): Promise<void> {
  const { code, text } = await ended(child);
  expect(code, text).toBe(0);
}
