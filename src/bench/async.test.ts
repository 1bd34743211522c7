import { describe, expect, it } from 'vitest';
import { benchmarkAsync } from './async.js';
import { VirtualClock } from './virtualClock.js';

describe('simulated time', () => {
  it('passes in the order of the sleepers, and only while they sleep', async () => {
    const clock = new VirtualClock();
    const woke: string[] = [];
    const sleeper = async (name: string, ...naps: number[]): Promise<void> => {
      for (const nap of naps) {
        await clock.sleep(nap);
        woke.push(`${name}${clock.now}`);
      }
    };
    await clock.run(Promise.all([sleeper('a', 3, 3), sleeper('b', 1, 1, 5), sleeper('c', 2)]));
    expect(woke).toEqual(['b1', 'c2', 'b2', 'a3', 'a6', 'b7']);
    expect(clock.now).toBe(7);
  });

  it('ends a sleep with the signal, and says so where nothing will ever happen', async () => {
    const clock = new VirtualClock();
    const stop = new AbortController();
    const slept = clock.run(clock.sleep(10, stop.signal));
    stop.abort(new Error('enough'));
    await expect(slept).rejects.toThrow('enough');
    await expect(clock.sleep(1, stop.signal)).rejects.toThrow('enough');
    await expect(new VirtualClock().run(new Promise(() => undefined))).rejects.toThrow('nothing is left to happen');
  });
});

it('asynchronous training with half of generation time to train makes at least 1.5 times the rollouts', { timeout: 60_000 }, async () => {
  const { synchronous, asynchronous } = await benchmarkAsync({ groups: 16, groupSize: 4, steps: 8 });
  for (const { name, rolloutsPerUnit } of asynchronous) expect(rolloutsPerUnit / synchronous, name).toBeGreaterThan(1.5);
  expect(asynchronous[0]!.lost).toBe(0);
});
