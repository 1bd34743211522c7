import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { someInfo } from '../../test/support/someRun.js';
import { TrackerGone } from './tracker.js';
import { wandb } from './wandb.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'wandb-'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

const signal = new AbortController().signal;
const run = (resumed = false) => ({ folder, info: someInfo(), resumed });

/** A package of that name which writes down how it is called, and talks on standard output as the real one does. */
const PACKAGE = `
import json, os
print("wandb: hello")
def note(*what):
    with open(os.environ["HEARD"], "a") as file:
        file.write(json.dumps(what) + "\\n")
class Run:
    def define_metric(self, name, step_metric=None): pass
    def log(self, values):
        print("wandb: logged")
        if "bad" in values: raise ValueError("bad value")
        note("log", values)
    def alert(self, title, text): note("alert", title, text)
    def finish(self, exit_code): note("finish", exit_code)
def init(**settings):
    note("init", {k: settings[k] for k in ("project", "entity", "id", "resume")})
    return Run()
`;

function installPackage(): () => unknown[] {
  const heard = join(folder, 'heard.jsonl');
  mkdirSync(join(folder, 'packages', 'wandb'), { recursive: true });
  writeFileSync(join(folder, 'packages', 'wandb', '__init__.py'), PACKAGE);
  writeFileSync(heard, '');
  vi.stubEnv('PYTHONPATH', join(folder, 'packages'));
  vi.stubEnv('HEARD', heard);
  return () =>
    readFileSync(heard, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
}

describe('wandb', () => {
  it("is called through the user's package, whatever that prints", async () => {
    const heard = installPackage();
    const tracker = wandb({ project: 'mine', entity: 'me' });
    await tracker.start(run(), signal);
    await tracker.log!([{ axis: 'rl', step: 3, at: 0, values: { 'rl/reward/total': 0.5 } }], signal);
    await expect(tracker.log!([{ axis: 'rl', step: 4, at: 0, values: { bad: 1 } }], signal)).rejects.toThrow('ValueError: bad value');
    await tracker.alarm!({ kind: 'nan', text: 'loss is NaN' }, signal);
    await tracker.end({ kind: 'failed', error: 'x' }, signal);
    expect(heard()).toEqual([
      ['init', { project: 'mine', entity: 'me', id: expect.stringMatching(/^[0-9a-f]{16}$/), resume: 'allow' }],
      ['log', { 'rl/reward/total': 0.5, 'rl/step': 3 }],
      ['alert', 'nan', 'loss is NaN'],
      ['finish', 1],
    ]);
  });

  it('names the same run when it goes on', async () => {
    const heard = installPackage();
    for (const resumed of [false, true]) {
      const tracker = wandb({ project: 'mine' });
      await tracker.start(run(resumed), signal);
      await tracker.end({ kind: 'ended' }, signal);
    }
    const [first, , second] = heard() as [string, { id: string }][];
    expect(first![1].id).toBe(second![1].id);
  });

  it('that is not installed is told, with what to do', async () => {
    vi.stubEnv('PYTHONPATH', '');
    mkdirSync(join(folder, 'packages', 'wandb'), { recursive: true });
    writeFileSync(join(folder, 'packages', 'wandb', '__init__.py'), 'raise ImportError("no")');
    vi.stubEnv('PYTHONPATH', join(folder, 'packages'));
    const tracker = wandb({ project: 'mine' });
    await expect(tracker.start(run(), signal)).rejects.toThrow(/has no package wandb: `.* -m pip install wandb`/);
    await expect(tracker.end({ kind: 'ended' }, signal)).rejects.toThrow();
  });

  it('whose Python is missing or dies is gone', async () => {
    await expect(wandb({ project: 'mine', python: '/nowhere/python' }).start(run(), signal)).rejects.toThrow(TrackerGone);
  });
});
