import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SeriesBuffer } from './seriesBuffer.js';

const list = (values: Float64Array): number[] => Array.from(values);

describe('a series in bounded memory', () => {
  it('keeps single values while there is room', () => {
    const buffer = new SeriesBuffer(8);
    for (const [step, value] of [3, 1, 4, 1, 5].entries()) buffer.append(step, value);
    expect(list(buffer.points.values)).toEqual([3, 1, 4, 1, 5]);
    expect(buffer.decimated).toBe(false);
  });

  it('never grows, and loses neither spikes nor the mean', () => {
    const values = fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 400 });
    fc.assert(
      fc.property(values, fc.constantFrom(4, 8, 64), (all, capacity) => {
        const buffer = new SeriesBuffer(capacity);
        for (const [step, value] of all.entries()) buffer.append(step, value);
        const { steps, values: means, low, high, counts } = buffer.points;
        expect(buffer.length).toBeLessThanOrEqual(capacity);
        expect(Math.min(...low)).toBe(Math.min(...all));
        expect(Math.max(...high)).toBe(Math.max(...all));
        expect(list(counts).reduce((a, b) => a + b)).toBe(all.length);
        expect(list(means).reduce((sum, mean, i) => sum + mean * counts[i]!, 0)).toBeCloseTo(
          all.reduce((a, b) => a + b),
          3,
        );
        expect(steps.at(-1)).toBe(all.length - 1);
        for (const [i, step] of steps.entries()) if (i > 0) expect(step).toBeGreaterThan(steps[i - 1]!);
      }),
    );
  });

  it('holds 200,000 values in some thousand buckets with the one spike among them', () => {
    const buffer = new SeriesBuffer();
    for (let step = 0; step < 200_000; step++) buffer.append(step, step === 77_777 ? 1e9 : step % 7);
    const { steps, high } = buffer.points;
    const spike = high.indexOf(1e9);
    expect(buffer.length).toBeLessThanOrEqual(4096);
    expect(buffer.length).toBeGreaterThan(1024);
    expect(steps[spike]).toBeGreaterThanOrEqual(77_777);
    expect(steps[spike - 1]).toBeLessThan(77_777);
  });

  it('goes on from what the server decimated, in buckets of that size', () => {
    const buffer = SeriesBuffer.from(
      { stage: 'rl', name: 'a', steps: [3, 7, 11], values: [1, 2, 3], low: [0, 1, 2], high: [2, 9, 4], count: 12 },
      8,
    );
    for (let step = 12; step < 16; step++) buffer.append(step, step);
    expect(list(buffer.points.steps)).toEqual([3, 7, 11, 15]);
    expect(list(buffer.points.values)).toEqual([1, 2, 3, 13.5]);
    expect(list(buffer.points.high)).toEqual([2, 9, 4, 15]);
    expect(list(buffer.points.counts)).toEqual([4, 4, 4, 4]);
  });

  it('leaves out what is no number, and counts it', () => {
    const buffer = SeriesBuffer.from({ stage: 'rl', name: 'a', steps: [0, 1, 2], values: [1, null, 3], count: 3 });
    buffer.append(3, Number.NaN);
    buffer.append(4, null);
    expect(list(buffer.points.values)).toEqual([1, 3]);
    expect(buffer.missing).toBe(3);
    expect(buffer.lastStep).toBe(4);
  });

  it('drops what a run did after the checkpoint it went on from', () => {
    const buffer = new SeriesBuffer();
    for (let step = 0; step < 10; step++) buffer.append(step, step);
    buffer.append(6, 60);
    expect(list(buffer.points.steps)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(buffer.points.values.at(-1)).toBe(60);
    expect(buffer.lastStep).toBe(6);
  });
});
