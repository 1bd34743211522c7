import { describe, expect, it } from 'vitest';
import { benchmarkUi } from './ui.js';

describe('the benchmark of the dashboard', () => {
  it('asks everything of a run that it makes', async () => {
    const { writer, answers } = await benchmarkUi({ rollouts: 600, metricPoints: 300, perStep: 20 });
    expect(writer.rolloutsPerSecond).toBeGreaterThan(0);
    expect(writer.bytesPerRollout).toBeGreaterThan(1_000);
    expect(answers).toHaveLength(14);
    for (const { milliseconds } of answers) expect(milliseconds).toBeGreaterThan(0);
  });
});
