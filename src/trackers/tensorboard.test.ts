import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { someInfo } from '../../test/support/someRun.js';
import { RunWriter } from '../runs/writer.js';
import { pointOf } from './hub.js';
import { tensorboard } from './tensorboard.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tensorboard-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const signal = new AbortController().signal;
const step = (n: number) => ({ kind: 'stepEnded', stage: 'rl', step: n, metrics: { 'reward/total': n } }) as const;

/** Records of the only file there. */
function records(): number {
  const [name, ...others] = readdirSync(join(folder, 'tensorboard'));
  expect(others).toEqual([]);
  const bytes = readFileSync(join(folder, 'tensorboard', name!));
  let count = 0;
  for (let at = 0; at < bytes.length; at += 16 + Number(bytes.readBigUInt64LE(at))) count++;
  return count;
}

describe("a run's event file", () => {
  it('lies in its folder, and grows by a record a point', async () => {
    const tracker = tensorboard();
    await tracker.start({ folder, info: someInfo(), resumed: false }, signal);
    // version and recipe
    expect(records()).toBe(2);
    await tracker.log!([pointOf(step(0))!, pointOf(step(1))!], signal);
    expect(records()).toBe(4);
  });

  it('is written anew from the store where the run goes on, without what was rolled back', async () => {
    const writer = RunWriter.create(folder, someInfo());
    const first = tensorboard();
    await first.start({ folder, info: someInfo(), resumed: false }, signal);
    writer.sink({ kind: 'stageStarted', stage: 'rl', steps: 9 });
    for (let i = 0; i < 5; i++) {
      writer.sink(step(i));
      await first.log!([pointOf(step(i))!], signal);
    }
    expect(records()).toBe(2 + 5);
    writer.rollbackAfter('rl', 3);
    writer.sink({ kind: 'evaluation', record: { name: 'greedy', stage: 'rl', step: 3, metrics: { accuracy: 1 } } });
    await tensorboard().start({ folder, info: someInfo(), resumed: true }, signal);
    writer.close();
    expect(records()).toBe(2 + 3 + 1);
  });
});
