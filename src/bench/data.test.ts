import { describe, expect, it } from 'vitest';
import { benchmarkFinding } from './data.js';

describe('the benchmark of finding copies', () => {
  it('gives the figures of the documentation for another seed too', () => {
    const found = benchmarkFinding(77);
    expect(found.recall).toBeGreaterThanOrEqual(0.95);
    expect(found.precision).toBeGreaterThanOrEqual(0.95);
    expect(found.numberPairs).toBeGreaterThan(400);
    expect(found).toMatchObject({ numberPairsFound: 0, templatesRemoved: 0 });
    expect(found.cleanRemoved).toBeLessThanOrEqual(100);
  });
});
