import { describe, expect, it } from 'vitest';
import { nextBatch } from './batch.js';
import { chartCsv, chartJsonLines } from './exportText.js';
import { extentOf, interpolate, joined, nearest, sampledIndices, shapeOf, stacked, thinned, union } from './lineData.js';
import { groupMarks } from './marks.js';
import { paddedRange } from './scale.js';

const list = (column: ArrayLike<number | null>): (number | null)[] => Array.from(column);

describe('lines as columns', () => {
  it('over the same x are the same arrays, not copies', () => {
    const x = Float64Array.of(1, 2);
    const y = Float64Array.of(3, 4);
    const { x: shared, columns } = joined([
      { x, y },
      { x: Float64Array.of(1, 2), y: [5, 6] },
    ]);
    expect(shared).toBe(x);
    expect(columns[0]).toBe(y);
    expect(columns[1]).toEqual(Float64Array.of(5, 6));
  });

  it('of different x stand over all of them, with null where a line has no point', () => {
    const { x, columns } = joined([
      { x: [1, 3], y: [10, 30] },
      { x: [2, 3, 5], y: [2, 3, 5], low: [1, 2, 4], high: [3, 4, 6], faint: [2, 2, 2] },
    ]);
    expect(list(x)).toEqual([1, 2, 3, 5]);
    expect(columns.map(list)).toEqual([
      [10, null, 30, null],
      [null, 1, 2, 4],
      [null, 3, 4, 6],
      [null, 2, 2, 2],
      [null, 2, 3, 5],
    ]);
  });

  it('on a logarithmic axis leave out what has no logarithm', () => {
    expect(joined([{ x: [1, 2, 3], y: [0, 2, -1] }], { log: true }).columns.map(list)).toEqual([[null, 2, null]]);
  });

  it('on a stack stand on one another', () => {
    const { columns } = stacked([
      { x: [1, 2], y: [1, 2] },
      { x: [1, 2], y: [10, 20] },
    ]);
    expect(columns.map(list)).toEqual([
      [1, 2],
      [11, 22],
    ]);
  });

  it('without any are an empty chart', () => {
    expect(joined([]).x).toHaveLength(0);
    expect(stacked([]).x).toHaveLength(0);
    expect(shapeOf([])).toBe('');
  });
});

describe('a decimated line', () => {
  const n = 1000;
  const list = (value: (i: number) => number): Float64Array => Float64Array.from({ length: n }, (_, i) => value(i));
  const line = { x: list((i) => i), y: list((i) => i % 2), low: list(() => 0), high: list((i) => (i === 777 ? 50 : 1)) };

  it('has no more points than can be seen, and every spike', () => {
    const { x, y, low, high } = thinned(line, 100);
    expect(x.length).toBeLessThanOrEqual(100);
    expect([Math.max(...Array.from(high!)), Math.min(...Array.from(low!)), y[3], x[x.length - 1]]).toEqual([50, 0, 0.5, 999]);
  });

  it('in a range keeps the points of that range and one beyond either end', () => {
    const { x } = thinned(line, 10, 100, 199.5);
    expect(x[0]).toBeGreaterThanOrEqual(99);
    expect(x[x.length - 1]).toBe(200);
    expect(thinned(line, 200, 100, 199.5)).toBe(line);
  });

  it('only is merged: single values stay', () => {
    const single = { x: line.x, y: line.y };
    expect(thinned(single, 10)).toBe(single);
  });
});

describe('frames', () => {
  it('that take long draw fewer charts, quick ones more again, and a pause changes nothing', () => {
    expect(nextBatch(16, 100)).toBe(8);
    expect(nextBatch(1, 500)).toBe(1);
    expect(nextBatch(8, 16)).toBe(9);
    expect(nextBatch(64, 16)).toBe(64);
    expect(nextBatch(8, 5000)).toBe(8);
  });
});

describe('what is told of a line', () => {
  it('counts the least and the most of buckets, and the value itself where it is smoothed', () => {
    const line = { x: [1, 2, 3], y: [5, 5, 5], faint: [4, 5, 6], low: [1, 4, 5], high: [9, 6, 7] };
    expect(extentOf(line)).toEqual({ last: 6, min: 1, max: 9, minAt: 1, maxAt: 1 });
    expect(extentOf(line, 2, 3)).toEqual({ last: 6, min: 4, max: 7, minAt: 2, maxAt: 3 });
    expect(extentOf({ x: [], y: [] })).toBeUndefined();
  });

  it('is the nearest point to the cursor', () => {
    const x = [1, 4, 10];
    expect([-5, 2, 2.6, 7, 99].map((at) => nearest(x, at))).toEqual([0, 0, 1, 1, 2]);
    expect(nearest([], 1)).toBe(-1);
  });

  it('lies between its points', () => {
    expect([0, 1, 2, 3, 9].map((at) => interpolate([1, 3], [10, 30], at))).toEqual([10, 10, 20, 30, 30]);
    expect(interpolate([], [], 1)).toBeNaN();
  });

  it('is sampled with both ends', () => {
    expect(sampledIndices(3, 10)).toEqual([0, 1, 2]);
    expect(sampledIndices(101, 3)).toEqual([0, 50, 100]);
  });

  it('unites x of many lines, each value once', () => {
    expect(list(union([[1, 2, 5], [2, 3], [], [5]]))).toEqual([1, 2, 3, 5]);
  });
});

describe('downloads', () => {
  const lines = [
    { label: 'a,"b"', points: { x: [1, 2], y: [0.5, 1] } },
    { label: '=cmd', points: { x: [1], y: [2], low: [1], high: [3] } },
  ];

  it('as CSV quote what needs it and hold no formula', () => {
    expect(chartCsv('step', lines)).toBe('series,step,value,low,high\r\n"a,""b""",1,0.5,,\r\n"a,""b""",2,1,,\r\n\'=cmd,1,2,1,3\r\n');
  });

  it('as JSON Lines can be read back', () => {
    const rows = chartJsonLines('step', lines)
      .trim()
      .split('\n')
      .map((row) => JSON.parse(row));
    expect(rows[0]).toEqual({ series: 'a,"b"', step: 1, value: 0.5 });
    expect(rows[2]).toEqual({ series: '=cmd', step: 1, value: 2, low: 1, high: 3 });
  });
});

describe('marks and ranges', () => {
  const mark = (x: number) => ({ x, kind: 'checkpoint' as const, label: `${x}`, href: '#/' });

  it('too near to one another become one', () => {
    const groups = groupMarks([mark(30), mark(1), mark(3)], (x) => (x > 20 ? undefined : x * 2));
    expect(groups.map(({ marks }) => marks.map(({ x }) => x))).toEqual([[1, 3]]);
    expect(groupMarks([mark(1), mark(19)], (x) => x)).toHaveLength(2);
  });

  it('have a little air, none below a zero that is wanted, and some for a flat line', () => {
    expect(paddedRange(0, 1, true)).toEqual([0, 1.06]);
    expect(paddedRange(2, 2, false)[0]).toBeLessThan(2);
    expect(paddedRange(null, null, false)).toEqual([0, 1]);
    expect(paddedRange(-1, 1, true)[0]).toBeLessThan(-1);
  });
});
