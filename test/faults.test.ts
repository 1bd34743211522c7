/** What goes wrong around a run: a dying engine, an interrupted run, problems and recipes that cannot be used. Nothing done is lost. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { RecipeInput } from '../src/recipe/schema.js';
import { openRun } from '../src/runs/reader.js';
import { train } from '../src/training/train.js';
import { EngineStopped } from '../src/training/trainingRun.js';
import { missingForEndToEnd } from './support.js';
import { makeTinyModel } from './tinyModel.js';

const missing = await missingForEndToEnd('nano');
const folder = mkdtempSync(join(tmpdir(), 'faults-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const recipe = (model: string, steps: number): RecipeInput => ({
  name: 'tiny',
  extends: 'nano',
  model,
  stages: ['rl'],
  engine: { threads: 1 },
  problems: { train: { kind: 'calc-small' }, evaluation: { kind: 'calc-small', count: 4 } },
  rl: { steps, groupsPerStep: 2, groupSize: 4, updatesPerStep: 1 },
  limits: { turnTokens: 24, responseTokens: 60 },
  evaluation: { extra: [], base: false },
});

/** Process ids of the engines that this process started. */
function engines(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const parent = /\nPPid:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
        return parent === String(process.pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('toolwise_engine');
      } catch {
        return false;
      }
    })
    .map(Number);
}

function killEngine(): void {
  const [pid] = engines();
  expect(pid).toBeDefined();
  process.kill(pid!, 'SIGKILL');
}

const stepsIn = (out: string): number[] => {
  const run = openRun(out);
  const steps = run.steps('rl').map(({ step }) => step);
  run.close();
  return steps;
};

describe.skipIf(missing !== undefined)(`a run${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  const model = join(folder, 'tiny');

  it('starts a dead engine anew, once, from the last checkpoint', { timeout: 180_000 }, async () => {
    makeTinyModel(model);
    const out = join(folder, 'once');
    const warnings: string[] = [];
    let killed = false;
    await train({
      recipe: recipe(model, 4),
      out,
      log: (line, level) => {
        if (level === 'warning') warnings.push(line);
      },
      onEvent: (event) => {
        if (event.kind !== 'stepEnded' || event.step !== 1 || killed) return;
        killed = true;
        killEngine();
      },
    });
    expect(stepsIn(out)).toEqual([0, 1, 2, 3]);
    expect(warnings.join('\n')).toMatch(/the engine died .*starting it anew/);
    expect(engines()).toEqual([]);
  });

  it('stops clearly when the engine dies again, and can be resumed', { timeout: 180_000 }, async () => {
    const out = join(folder, 'twice');
    const run = train({
      recipe: recipe(model, 4),
      out,
      onEvent: (event) => {
        if (event.kind === 'stepEnded' && event.step >= 1) killEngine();
      },
    });
    await expect(run).rejects.toThrow(EngineStopped);
    expect(engines()).toEqual([]);
    expect(stepsIn(out)).toEqual([0, 1, 2]);
    await train({ recipe: recipe(model, 4), out, resume: true });
    expect(stepsIn(out)).toEqual([0, 1, 2, 3]);
  });

  it('ends cleanly when it is interrupted, and can be resumed', { timeout: 180_000 }, async () => {
    const out = join(folder, 'interrupted');
    const stop = new AbortController();
    const reason = new Error('enough');
    const run = train({
      recipe: recipe(model, 3),
      out,
      signal: stop.signal,
      onEvent: (event) => {
        if (event.kind === 'stepEnded' && event.step === 0) stop.abort(reason);
      },
    });
    await expect(run).rejects.toBe(reason);
    expect(engines()).toEqual([]);
    await train({ recipe: recipe(model, 3), out, resume: true });
    expect(stepsIn(out)).toEqual([0, 1, 2]);
  });

  it('loses a rollout whose reward throws, and goes on with its group', { timeout: 180_000 }, async () => {
    const out = join(folder, 'lost');
    let calls = 0;
    await train({
      recipe: recipe(model, 1),
      out,
      reward: () => {
        if (++calls === 3) throw new Error('the judge is away');
        return calls;
      },
    });
    const run = openRun(out);
    expect(run.steps('rl')[0]!.metrics['rollout/lost']).toBe(1);
    expect(run.countTrajectories({ split: 'train' })).toBe(7);
    expect(run.notes().some(({ text }) => text.includes('the judge is away'))).toBe(true);
    run.close();
  });
});

describe('the command line', () => {
  const toolwise = (...args: string[]) =>
    spawnSync(process.execPath, ['--import', 'tsx', 'src/cli/main.ts', ...args], { encoding: 'utf8' });

  it.each([
    ['an unknown recipe key, with a suggestion', ['train', 'nano', '--set', 'rl.stepz=3'], /rl\.steps/],
    ['an unknown recipe', ['train', 'nona'], /nano/],
    ['a model that is not there', ['eval', 'no-such-model'], /no model "no-such-model"/],
    ['samples that are no number', ['eval', 'nano', '-n', 'many'], /--samples "many"/],
    ['a resume without a folder', ['train', '--resume'], /--out/],
    ['a folder without a run', ['train', 'nano', '--resume', '--out', join(tmpdir(), 'no-such-run')], /no run/],
    ['an option that does not exist', ['train', 'nano', '--fast'], /--fast/],
    ['a LoRA rank wider than the model', ['train', 'nano', '--out', join(folder, 'wide'), '--set', 'loraRank=4096'], /narrowest layer/],
  ])('refuses %s with exit code 2', (_, args, text) => {
    const { status, stderr } = toolwise(...args);
    expect(stderr).toMatch(text);
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(status).toBe(2);
  });

  it('names file and line of a bad problem', () => {
    const file = join(folder, 'problems.jsonl');
    writeFileSync(file, '{"id": "1", "question": "What is 1 + 1?", "answer": "2"}\n{"id": "2", "question": \n');
    const { status, stderr } = toolwise('eval', 'nano', '--problems', file);
    expect(stderr).toContain('problems.jsonl:2');
    expect(status).toBe(2);
  });

  it('shows a dry run without starting anything', () => {
    const { status, stdout } = toolwise('train', 'grpo-tcr', '--dry-run');
    expect(status).toBe(0);
    expect(stdout).toMatch(/tokens/);
  });
});
