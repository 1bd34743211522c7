/** Asynchronous steps by the real driver, against simulated latencies: the staleness bound, what is late, what is cut, going on. */
import { describe, expect, it } from 'vitest';
import { type Simulated, type Simulation, simulateTraining } from '../bench/simulatedTraining.js';
import { EngineError } from '../engine/engineError.js';
import { Random } from '../random.js';
import type { Async } from '../recipe/schema.js';
import { asyncStartOf, placeOf } from './asyncPosition.js';

const STEPS = 8;
const GROUPS = 4;
const SIZE = 3;

type Rl = Simulation['rl'];

const rlOf = (more: Partial<Rl> = {}): Rl => ({
  steps: STEPS,
  groupsPerStep: GROUPS,
  groupSize: SIZE,
  updatesPerStep: 2,
  algorithm: { truncatedImportanceSampling: 2 },
  ...more,
});

const withAsync = (async: Rl['async'], more: Partial<Rl> = {}): Rl => rlOf({ ...more, async });
const TIMES = { rollout: 1, training: 2 };
const total = ({ steps }: Simulated, name: string): number => steps.reduce((sum, metrics) => sum + (metrics[name] ?? 0), 0);
const groupsOf = (done: Simulated, step?: number): string[] => [
  ...new Set(done.records.filter((record) => step === undefined || record.step === step).map(({ trajectory }) => trajectory.groupId)),
];
const placesOf = (done: Simulated): number[] => groupsOf(done).map((id) => placeOf(id)!);

/** Any recipe, any latencies, an engine that fails now and then. */
function anySimulation(seed: number): Simulation & { readonly async: Async } {
  const random = new Random(seed);
  const staleness = random.int(0, 3);
  const carryOver = staleness > 0 && random.chance(0.5);
  const async: Async = {
    staleness,
    stale: random.pick(['wait', 'drop', 'requeue'] as const),
    ...(random.chance(0.6) && { deadline: { share: 0.3 + 0.7 * random.next(), rest: carryOver ? 'carryOver' : 'cut' } as const }),
  };
  const failures = random.chance(0.3) ? 0.1 : 0;
  return {
    seed,
    async,
    rl: withAsync(async, {
      concurrency: random.pick(['auto', 3, 40] as const),
      ...(random.chance(0.4) && { dynamicSampling: { maxBatches: random.int(2, 4) } }),
    }),
    times: { rollout: 1, training: random.pick([0, 1, 5, 40]) },
    fails: (sample) => (new Random(sample).chance(failures) ? new EngineError('server', 'the machine is tired') : undefined),
  };
}

describe('whatever rollouts and updates take', () => {
  it('no group is trained further behind its policy than the staleness allows, none twice, and every step ends', {
    timeout: 120_000,
  }, async () => {
    const seen = { lag: new Set<number>(), dropped: 0, requeued: 0, cut: 0, carriedOver: 0 };
    for (let seed = 1; seed <= 160; seed++) {
      const simulation = anySimulation(seed);
      const done = await simulateTraining(simulation);
      const label = `seed ${seed}`;
      expect(done.steps, label).toHaveLength(STEPS);
      expect(done.leftOpen, label).toBe(0);
      const versions = [0];
      for (const metrics of done.steps) versions.push(versions.at(-1)! + metrics['train/updates']!);
      for (const { step, sampledFrom, trajectory } of done.records) {
        expect(step - sampledFrom!, label).toBeGreaterThanOrEqual(0);
        expect(step - sampledFrom!, label).toBeLessThanOrEqual(simulation.async.staleness);
        for (const turn of trajectory.turns) expect(turn.policyVersion, label).toBe(versions[sampledFrom!]);
        seen.lag.add(step - sampledFrom!);
      }
      expect(new Set(placesOf(done)).size, label).toBe(placesOf(done).length);
      const names = done.records.map(({ trajectory }) => trajectory.trajectoryId);
      expect(new Set(names).size, label).toBe(names.length);
      for (const key of ['dropped', 'requeued', 'cut', 'carriedOver'] as const) seen[key] += total(done, `async/${key}`);
      const { concurrency } = simulation.rl;
      expect(done.mostAtOnce, label).toBeLessThanOrEqual(typeof concurrency === 'number' ? concurrency : GROUPS * SIZE);
    }
    // The seeds reach every branch: otherwise the above says little.
    expect([...seen.lag].sort()).toEqual([0, 1, 2, 3]);
    expect(Math.min(seen.dropped, seen.requeued, seen.cut, seen.carriedOver)).toBeGreaterThan(20);
  });
});

describe('a step of the next policy', () => {
  it('gets whole steps of groups, all of them, where late ones are awaited', async () => {
    const done = await simulateTraining({ rl: withAsync({ staleness: 1 }), times: TIMES });
    expect(Array.from({ length: STEPS }, (_, step) => groupsOf(done, step).length)).toEqual(new Array(STEPS).fill(GROUPS));
    expect(placesOf(done).sort((a, b) => a - b)).toEqual(Array.from({ length: STEPS * GROUPS }, (_, place) => place));
    expect(done.steps.map((metrics) => metrics['async/lag'])).toEqual([0, 1, 1, 1, 1, 1, 1, 1]);
  });

  it('is sooner there than without, and with staleness 0 it is not', async () => {
    const seconds = async (rl: Rl) => (await simulateTraining({ rl, times: TIMES })).seconds;
    const [apart, none, one] = [
      await seconds(rlOf()),
      await seconds(withAsync({ staleness: 0 })),
      await seconds(withAsync({ staleness: 1 })),
    ];
    expect(one).toBeLessThan(0.75 * Math.min(apart, none));
    // With 0 each step still samples, then trains.
    expect(none).toBeGreaterThan(STEPS * TIMES.training);
  });

  it('waits for late groups, drops them, or samples their problems anew', async () => {
    const of = (stale: 'wait' | 'drop' | 'requeue') => simulateTraining({ rl: withAsync({ staleness: 1, stale }), times: TIMES, seed: 3 });
    const [wait, drop, requeue] = [await of('wait'), await of('drop'), await of('requeue')];
    expect([total(wait, 'async/dropped'), total(wait, 'async/requeued')]).toEqual([0, 0]);
    expect(total(drop, 'async/dropped')).toBeGreaterThan(0);
    expect(total(requeue, 'async/requeued')).toBeGreaterThan(0);
    const gaps = (done: Simulated) => {
      const places = placesOf(done);
      return Math.max(...places) + 1 - places.length;
    };
    expect(gaps(wait)).toBe(0);
    expect(gaps(drop)).toBeGreaterThan(gaps(requeue));
    expect(drop.seconds).toBeLessThan(wait.seconds);
  });
});

describe('the long tail', () => {
  const cut = { staleness: 1, deadline: { share: 0.75, rest: 'cut' } } as const;

  it('is cut: what was cut leaves its group, is no wrong answer, and is counted', async () => {
    const done = await simulateTraining({ rl: withAsync(cut), times: TIMES });
    const gone = STEPS * GROUPS * SIZE - done.records.length;
    expect(gone).toBeGreaterThan(0);
    expect(total(done, 'async/cut')).toBe(gone);
    expect(total(done, 'rollout/lost')).toBe(gone);
    expect(done.records.every(({ trajectory }) => trajectory.stopReason.kind === 'answered')).toBe(true);
    expect(done.notes).toEqual([]);
    const whole = await simulateTraining({ rl: withAsync({ staleness: 1 }), times: TIMES });
    expect(done.seconds).toBeLessThan(whole.seconds);
  });

  it('is carried over to later steps: nothing is lost, and steps differ in size', async () => {
    const deadline = { share: 0.5, rest: 'carryOver' } as const;
    const done = await simulateTraining({ rl: withAsync({ staleness: 2, deadline }, { steps: 12 }), times: { rollout: 1, training: 0 } });
    expect(total(done, 'async/carriedOver')).toBeGreaterThan(0);
    expect([total(done, 'async/dropped'), total(done, 'async/cut')]).toEqual([0, 0]);
    const sizes = Array.from({ length: 12 }, (_, step) => groupsOf(done, step).length);
    expect(Math.min(...sizes)).toBeLessThan(GROUPS);
    const places = placesOf(done).sort((a, b) => a - b);
    // But for what the end of the stage leaves in flight.
    const missing = places.at(-1)! + 1 - places.length;
    expect(missing).toBeLessThan(GROUPS);
  });
});

describe('a run that was cut off', () => {
  it.each(['wait', 'drop', 'requeue'] as const)('goes on without training a group twice (late ones: %s)', async (stale) => {
    const rl = withAsync({ staleness: 2, stale });
    const before = await simulateTraining({ rl, times: TIMES, seed: 5, until: 4 });
    const record = {
      metric: (_: string, name: string) => before.steps.map((metrics, step) => ({ step, value: metrics[name]! })),
      groupIds: () => groupsOf(before),
    };
    const start = asyncStartOf(record, 4, { groupsPerStep: GROUPS, async: { staleness: 2, stale } });
    expect(start.again.length).toBeGreaterThan(0);
    const after = await simulateTraining({ rl, times: TIMES, seed: 5, from: { step: 4, start } });
    const trained = new Set(placesOf(before));
    expect(placesOf(after).filter((place) => trained.has(place))).toEqual([]);
    for (const { step, sampledFrom } of after.records) {
      expect(sampledFrom).toBeGreaterThanOrEqual(4);
      expect(step - sampledFrom!).toBeLessThanOrEqual(2);
    }
    if (stale !== 'wait') return;
    const places = [...trained, ...placesOf(after)].sort((a, b) => a - b);
    expect(places).toEqual(Array.from({ length: STEPS * GROUPS }, (_, place) => place));
  });

  it('stands at the first place of its step where the steps before were synchronous, or there are none', () => {
    const none = { metric: () => [], groupIds: () => ['rl/0/0', 'rl/0/1', 'rl/1/0'] };
    const stage = { groupsPerStep: GROUPS, async: { staleness: 1, stale: 'wait' } as const };
    expect(asyncStartOf(none, 0, stage)).toEqual({ next: 0, again: [] });
    expect(asyncStartOf(none, 2, stage)).toEqual({ next: 8, again: [] });
  });
});

describe('failures', () => {
  it('of the engine lose rollouts, not the run, until too many come in a row', async () => {
    const some = await simulateTraining({
      rl: withAsync({ staleness: 1 }),
      times: TIMES,
      fails: (seed) => (seed % 2 === 0 ? new EngineError('server', 'no answer') : undefined),
    });
    expect(total(some, 'rollout/lost')).toBeGreaterThan(0);
    expect(some.notes.every((text) => /^rollout rl\/\d+\/n\d+\/\d was lost: no answer/.test(text))).toBe(true);
    const all = simulateTraining({ rl: withAsync({ staleness: 1 }), times: TIMES, fails: () => new EngineError('server', 'no answer') });
    await expect(all).rejects.toThrow('32 rollouts in a row were lost');
  });

  it('that are the user’s end the run at once, and so does a signal, with nothing left in flight', async () => {
    const wrong = simulateTraining({
      rl: withAsync({ staleness: 1 }),
      times: TIMES,
      fails: () => new EngineError('user', 'no such model'),
    });
    await expect(wrong).rejects.toThrow('no such model');
    const stop = new AbortController();
    let rewarded = 0;
    const reward = (): number => {
      if (++rewarded === 30) stop.abort(new Error('stopped by hand'));
      return rewarded % 2;
    };
    const stopped = simulateTraining({ rl: withAsync({ staleness: 2 }), times: TIMES, signal: stop.signal, reward });
    await expect(stopped).rejects.toThrow('stopped by hand');
  });
});

describe('dynamic sampling', () => {
  /** One problem in four has rollouts that differ. */
  const rarely: Simulation['reward'] = ({ problem, trajectoryId }) =>
    Number(problem.id) % 4 === 0 ? Number(trajectoryId.endsWith('/0')) : 0;
  const never: Simulation['reward'] = () => 0;
  const equal = (done: Simulated, step: number): number => {
    const groups = groupsOf(done, step);
    return groups.filter((id) => done.records.filter(({ trajectory }) => trajectory.groupId === id).some((r) => r.advantage !== 0)).length;
  };
  const cases = [
    ['synchronous', rlOf()],
    ['asynchronous', withAsync({ staleness: 1 })],
  ] as const;

  it.each(cases)('replaces groups without a gradient until the step is full (%s)', async (_, rl) => {
    const done = await simulateTraining({ rl: { ...rl, dynamicSampling: { maxBatches: 32 } }, times: TIMES, reward: rarely });
    const full = Array.from({ length: STEPS }, (_, step) => equal(done, step));
    expect(full).toEqual(new Array(STEPS).fill(GROUPS));
    expect(total(done, 'groups/zeroVariance')).toBeGreaterThan(0);
    expect(done.notes).toEqual([]);
  });

  it.each(cases)('trains on what there is, and says so, where the bound is reached (%s)', async (_, rl) => {
    const done = await simulateTraining({ rl: { ...rl, dynamicSampling: { maxBatches: 2 } }, times: TIMES, reward: never });
    expect(done.steps.map((metrics) => metrics['train/updates'])).toEqual(new Array(STEPS).fill(0));
    expect(done.notes).toHaveLength(STEPS);
    expect(done.notes[0]).toBe(
      '0 of 4 groups have a gradient, and rl.dynamicSampling.maxBatches (2) allows no further ones: the step trains on those',
    );
    // Groups that are sampled ahead may be found wanting too.
    expect(groupsOf(done, 2).length).toBeGreaterThanOrEqual(2 * GROUPS);
    expect(groupsOf(done, 2).length).toBeLessThanOrEqual((2 + (rl.async?.staleness ?? 0)) * GROUPS);
  });

  it('leaves a step without it as it was', async () => {
    const done = await simulateTraining({ rl: rlOf(), times: TIMES, reward: rarely });
    expect(Array.from({ length: STEPS }, (_, step) => groupsOf(done, step).length)).toEqual(new Array(STEPS).fill(GROUPS));
    expect(done.records.every((record) => !('sampledFrom' in record))).toBe(true);
  });
});
