import { describe, expect, it } from 'vitest';
import {
  ago,
  bytes,
  compact,
  count,
  counted,
  dateTime,
  duration,
  fixed,
  metric,
  NONE,
  number,
  percent,
  signed,
  stepLabel,
} from './format.js';

describe('numbers as people read them', () => {
  it('have about four significant digits, a true minus, and separators', () => {
    expect([0.42187, -3.1, 1204, 12345.678, 0, 1e-7, -2.5e10, 1e-4].map((value) => number(value))).toEqual([
      '0.4219',
      '−3.1',
      '1,204',
      '12,346',
      '0',
      '1.00e−7',
      '−2.50e10',
      '0.0001',
    ]);
  });

  it('are a dash where there is none', () => {
    for (const format of [number, fixed, percent, count, compact, duration, bytes, signed]) {
      for (const value of [null, undefined, Number.NaN, Number.POSITIVE_INFINITY]) expect(format(value)).toBe(NONE);
    }
    expect(ago(undefined)).toBe(NONE);
    expect(dateTime('yesterday')).toBe(NONE);
  });

  it('do not show a minus before nothing', () => {
    expect(fixed(-0.0001, 2)).toBe('0.00');
    expect(percent(-0.00001)).toBe('0.0 %');
  });

  it('tell shares, seconds and the rest by the name of the metric', () => {
    expect(metric('rollout/accuracy', 0.8516)).toBe('85.2 %');
    expect(metric('pass@4', 0.5)).toBe('50.0 %');
    expect(metric('seconds/training', 75)).toBe('1 min 15 s');
    expect(metric('reward/total', -0.068)).toBe('−0.068');
  });

  it('are short on axes', () => {
    expect([950, 5000, 12_345, 3_400_000, -2e9].map((value) => compact(value))).toEqual(['950', '5,000', '12.3 k', '3.4 M', '−2 G']);
    expect([0.25, -1, 0].map((value) => signed(value))).toEqual(['+0.25', '−1', '0']);
    expect([12, 12_345, 1_600_000_000].map((value) => bytes(value))).toEqual(['12 B', '12.3 kB', '1.6 GB']);
  });
});

describe('times', () => {
  it('have the two units that matter, and never sixty of one', () => {
    expect([0.0123, 0.4, 12.34, 59.96, 245, 3599.6, 11_520, 86_399, 187_200, -5].map((seconds) => duration(seconds))).toEqual([
      '0.012 s',
      '0.4 s',
      '12.3 s',
      '1 min 00 s',
      '4 min 05 s',
      '1 h 00 min',
      '3 h 12 min',
      '1 d 0 h',
      '2 d 4 h',
      '−5.0 s',
    ]);
  });

  it('are told from now', () => {
    const now = Date.parse('2026-01-10T12:00:00Z');
    const before = (seconds: number): string => ago(new Date(now - seconds * 1000).toISOString(), now);
    expect([10, 60, 3000, 7200, 200_000].map(before)).toEqual(['just now', '1 min ago', '50 min ago', '2 h ago', '2 days ago']);
  });

  it('of steps begin at 1', () => {
    expect(stepLabel(0)).toBe('1');
    expect(counted(1, 'run')).toBe('1 run');
    expect(counted(1200, 'run')).toBe('1,200 runs');
  });
});
