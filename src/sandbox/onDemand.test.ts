import { describe, expect, it } from 'vitest';
import { isInstalled, RunnerOnDemand } from './onDemand.js';
import { descendantsOf } from './testSupport.js';

describe('a sandbox on demand', () => {
  it('is opened by the first program, once, and closed with what it started', async () => {
    const before = descendantsOf(process.pid).length;
    const runner = new RunnerOnDemand({ kind: 'none', workers: 1 });
    expect(runner.opened).toBe(false);
    const run = () => runner.run({ code: 'print(6 * 7)', timeoutSeconds: 10, memoryMb: 256 });
    const results = await Promise.all([run(), run()]);
    expect(results.map((result) => result.kind === 'ran' && result.stdout)).toEqual(['42\n', '42\n']);
    expect(await runner.open()).toBe(await runner.open());
    await runner.close();
    expect(descendantsOf(process.pid).filter(({ state }) => state !== 'Z').length).toBeLessThanOrEqual(before);
  });

  it('that was never asked for opens nothing, and closes', async () => {
    const runner = new RunnerOnDemand({ kind: 'auto' });
    await runner.close();
    expect(runner.opened).toBe(false);
  });

  it('that cannot be opened is a failure of the machinery', async () => {
    const path = process.env.PATH;
    process.env.PATH = '/nonexistent';
    try {
      expect(isInstalled('auto')).toBe(false);
      expect(isInstalled('none')).toBe(true);
      const runner = new RunnerOnDemand({ kind: 'zygote' });
      const result = await runner.run({ code: '1', timeoutSeconds: 1, memoryMb: 64 });
      expect(result).toEqual({ kind: 'infra', error: expect.stringContaining('bubblewrap, which is not installed') });
      await runner.close();
    } finally {
      process.env.PATH = path;
    }
  });
});
