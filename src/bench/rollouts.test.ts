import { expect, it } from 'vitest';
import { CHATML, modelFolder } from '../../test/support/modelFolder.js';
import { benchmarkRollouts } from './rollouts.js';

it('runs the rollouts it was asked for, each with a call and an answer', async () => {
  const folder = await modelFolder(CHATML);
  try {
    const benchmark = await benchmarkRollouts(folder.path, 12);
    expect(benchmark.rollouts).toBe(12);
    expect(benchmark.callsPerRollout).toBe(1);
    expect(benchmark.answered).toBe(1);
    expect(benchmark.rolloutsPerSecond).toBeGreaterThan(0);
  } finally {
    await folder.remove();
  }
});
