import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { someInfo } from '../../test/support/someRun.js';
import type { RunEvent } from '../domain/event.js';
import { TrackerHub } from './hub.js';
import { type RunOutcome, type TrackedRun, type Tracker, type TrackerAlarm, TrackerGone, type TrackerPoint } from './tracker.js';

let warnings: string[];
const hubs: TrackerHub[] = [];
beforeEach(() => {
  warnings = [];
});
afterEach(async () => {
  await Promise.all(hubs.splice(0).map((hub) => hub.end({ kind: 'interrupted' })));
});

const RUN: TrackedRun = { folder: '/nowhere', info: someInfo(), resumed: false };
const step = (n: number): RunEvent => ({
  kind: 'stepEnded',
  stage: 'rl',
  step: n,
  metrics: { 'reward/total': n / 10, 'train/kl': Number.NaN },
});

/** Keeps what it is told; `failures` calls fail first. */
class Listener implements Tracker {
  readonly name = 'listener';
  started = 0;
  points: TrackerPoint[] = [];
  alarms: TrackerAlarm[] = [];
  outcome: RunOutcome | undefined;
  constructor(
    private failures = 0,
    private readonly error = new Error('down'),
  ) {}
  async start(): Promise<void> {
    if (this.failures-- > 0) throw this.error;
    this.started++;
  }
  async log(points: readonly TrackerPoint[]): Promise<void> {
    if (this.failures-- > 0) throw this.error;
    this.points.push(...points);
  }
  async alarm(alarm: TrackerAlarm): Promise<void> {
    this.alarms.push(alarm);
  }
  async end(outcome: RunOutcome): Promise<void> {
    this.outcome = outcome;
  }
}

const hubOf = (tracker: Tracker, patience = 2000): TrackerHub => {
  const hub = new TrackerHub([tracker], RUN, { warn: (text) => warnings.push(text), retryAfter: 1, patience });
  hubs.push(hub);
  return hub;
};

describe('trackers of a run', () => {
  it('are told steps and evaluations in order, without numbers that are not finite, and the end last', async () => {
    const tracker = new Listener();
    const hub = hubOf(tracker);
    hub.sink({ kind: 'evaluation', record: { name: 'greedy', stage: 'rl', step: 0, metrics: { accuracy: 0.25 } } });
    hub.sink(step(0));
    hub.sink(step(1));
    await hub.end({ kind: 'ended', accuracy: 0.5 });
    expect(tracker.points.map(({ axis, step, values }) => ({ axis, step, values }))).toEqual([
      { axis: 'rl', step: 0, values: { 'evaluation/rl/greedy/accuracy': 0.25 } },
      { axis: 'rl', step: 1, values: { 'rl/reward/total': 0 } },
      { axis: 'rl', step: 2, values: { 'rl/reward/total': 0.1 } },
    ]);
    expect(tracker.outcome).toEqual({ kind: 'ended', accuracy: 0.5 });
    expect(warnings).toEqual([]);
  });

  it('hear of a collapse once a kind', async () => {
    const tracker = new Listener();
    const hub = hubOf(tracker);
    for (let i = 0; i < 3; i++) hub.sink({ kind: 'note', level: 'warning', text: `step ${i}: no calls`, alarm: 'noToolCalls' });
    hub.sink({ kind: 'note', level: 'warning', text: 'something else' });
    await hub.end({ kind: 'interrupted' });
    expect(tracker.alarms).toEqual([{ kind: 'noToolCalls', text: 'step 0: no calls' }]);
  });

  it('that fail are tried again, said once, and lose nothing', async () => {
    const tracker = new Listener(4);
    const hub = hubOf(tracker);
    for (let i = 0; i < 5; i++) hub.sink(step(i));
    await hub.end({ kind: 'ended' });
    expect(tracker.points.map(({ step }) => step)).toEqual([1, 2, 3, 4, 5]);
    expect(warnings).toEqual(['listener: down; it is tried again, the run goes on']);
  });

  it('that cannot work are left alone, and said so', async () => {
    const tracker = new Listener(Number.POSITIVE_INFINITY, new TrackerGone('no such project'));
    const hub = hubOf(tracker);
    hub.sink(step(0));
    await hub.end({ kind: 'ended' });
    expect(tracker.points).toEqual([]);
    expect(warnings).toEqual(['listener: no such project; the run goes on without it']);
  });

  it('that stay away hold the end up for a bounded time, and what was lost is counted', async () => {
    const tracker = new Listener(Number.POSITIVE_INFINITY);
    const hub = hubOf(tracker, 30);
    hub.sink(step(0));
    hub.sink(step(1));
    await hub.end({ kind: 'ended' });
    expect(warnings.at(-1)).toBe("listener: not reached before the run's end; 2 points were not delivered (they are in the run's folder)");
  });

  it('that take no points were not told of the end, rather than of no points', async () => {
    const hub = hubOf(new Listener(Number.POSITIVE_INFINITY), 30);
    await hub.end({ kind: 'ended' });
    expect(warnings.at(-1)).toBe("listener: not reached before the run's end; it was not told of it");
  });

  it('that hang are let go of at the end', async () => {
    const hanging: Tracker = { name: 'hanging', start: () => new Promise(() => undefined), end: async () => undefined };
    const hub = hubOf(hanging, 30);
    hub.sink(step(0));
    await hub.end({ kind: 'ended' });
    expect(warnings.at(-1)).toMatch(/hanging: not reached/);
  });

  it('are told the end of a run that failed before its first step', async () => {
    const tracker = new Listener();
    await hubOf(tracker).end({ kind: 'failed', error: 'no memory' });
    expect([tracker.started, tracker.outcome]).toEqual([1, { kind: 'failed', error: 'no memory' }]);
  });
});
