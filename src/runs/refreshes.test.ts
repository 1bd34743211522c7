import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { someInfo } from '../../test/support/someRun.js';
import type { RefreshRecord } from '../domain/event.js';
import { openRun } from './reader.js';
import { RunWriter } from './writer.js';

const folder = mkdtempSync(join(tmpdir(), 'refreshes-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const chosen = (step: number): RefreshRecord => ({
  step,
  selected: [{ index: step, id: `problem ${step}` }],
  metrics: { 'refresh/selected': 1, 'seconds/refresh': 0.5 },
});

describe('the choices of training problems in a run', () => {
  it('are kept in the order of their steps, once each, and read while the run is written', () => {
    const out = join(folder, 'kept');
    const writer = RunWriter.create(out, someInfo());
    for (const step of [100, 0, 20]) writer.sink({ kind: 'refresh', record: chosen(step) });
    const again = { ...chosen(20), selected: [] };
    writer.sink({ kind: 'refresh', record: again });
    const run = openRun(out);
    expect(run.refreshes()).toEqual([chosen(0), again, chosen(100)]);
    expect(run.info).toEqual(writer.info);
    run.close();
    writer.close();
  });

  it('go with the steps that a rollback forgets: one made at the step it goes back to stays, and none stays where RL has not begun', () => {
    const out = join(folder, 'rolled');
    const writer = RunWriter.create(out, someInfo());
    for (const step of [0, 2, 3, 4]) writer.sink({ kind: 'refresh', record: chosen(step) });
    writer.rollbackAfter('rl', 3);
    expect(writer.refreshes().map(({ step }) => step)).toEqual([0, 2, 3]);
    writer.rollbackAfter('sft', 1);
    expect(writer.refreshes()).toEqual([]);
    writer.close();
    expect(RunWriter.resume(out).info).toEqual(writer.info);
  });
});
