import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { drawHistogram, histogramOf } from './histogram.js';

const row = fc.record({
  accuracy: fc.oneof(
    fc.constant(null),
    fc.integer({ min: 0, max: 8 }).map((k) => k / 8),
  ),
  n: fc.constant(8),
});

describe('the histogram of a profile', () => {
  it('counts every row once: in a bar or as unlabelled, and by label or as certain', () => {
    fc.assert(
      fc.property(fc.array(row), (rows) => {
        const { counts, unlabelled, labels, certain } = histogramOf(rows, 8);
        const barred = counts.reduce((sum, count) => sum + count, 0);
        expect(barred + unlabelled).toBe(rows.length);
        expect(labels.easy + labels.medium + labels.hard + certain.solved + certain.unsolved).toBe(barred);
        expect([counts[0], counts[8]]).toEqual([certain.unsolved, certain.solved]);
        expect(labels.medium).toBe(counts[3]! + counts[4]! + counts[5]!);
      }),
    );
  });

  it('is drawn with one line a bar, the longest bar full, and says what is dropped', () => {
    const rows = [0, 0, 0, 0, 3, 3, 7, 8].map((k) => ({ accuracy: k / 8, n: 8 }));
    const lines = drawHistogram(histogramOf([...rows, { accuracy: null, n: 8 }]));
    expect(lines).toHaveLength(11);
    expect(lines[0]).toBe(`  0/8  4  44.4%  ${'█'.repeat(32)} hard, dropped`);
    expect(lines[3]).toBe(`  3/8  2  22.2%  ${'█'.repeat(16).padEnd(32)} medium`);
    expect(lines[9]).toBe('  too few valid rollouts: 1');
    expect(lines[10]).toBe('  3 of 9 remain: 1 easy, 2 medium, 0 hard; 4 never solved and 1 always solved are marked to be dropped');
  });

  it('of nothing has empty bars', () => {
    expect(histogramOf([], 4).counts).toEqual([0, 0, 0, 0, 0]);
    expect(drawHistogram(histogramOf([], 4))[0]).toContain('0/4  0   0.0%');
  });
});
