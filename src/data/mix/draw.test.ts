import { describe, expect, it } from 'vitest';
import { drawFrom, shuffled } from './draw.js';
import { passes } from './rowFilter.js';

describe('a draw', () => {
  const numbers = Uint32Array.from({ length: 100 }, (_, i) => 1000 + i);

  it('has so many different numbers, in ascending order, the same for the same seed', () => {
    const drawn = drawFrom(numbers, 30, 'a', 1);
    expect(new Set(drawn).size).toBe(30);
    expect([...drawn]).toEqual([...drawn].sort((one, two) => one - two));
    expect(drawFrom(numbers, 30, 'a', 1)).toEqual(drawn);
    expect(drawFrom(numbers, 30, 'a', 2)).not.toEqual(drawn);
  });

  it('gives all where there are fewer than wanted', () => {
    expect(drawFrom(numbers, 200, 'a')).toEqual(numbers);
    expect(drawFrom(new Uint32Array(0), 5, 'a')).toHaveLength(0);
  });

  it('gives every number the same chance', () => {
    const counts = new Map<number, number>();
    for (let seed = 0; seed < 3000; seed++)
      for (const one of drawFrom(numbers, 10, 'chance', seed)) counts.set(one, (counts.get(one) ?? 0) + 1);
    // 300 expected of each, with a deviation of 16.
    expect(Math.min(...counts.values())).toBeGreaterThan(220);
    expect(Math.max(...counts.values())).toBeLessThan(380);
  });

  it('shuffles without losing any', () => {
    const order = shuffled(numbers, 100, 'b');
    expect(order).not.toEqual(numbers);
    expect(order.slice().sort()).toEqual(numbers);
  });
});

describe('a filter of rows', () => {
  const problem = { id: '1', question: 'How many?', source: 'train-code-taco-medium', kind: 'code', tags: { level: 2 } } as const;

  it.each([
    [undefined, true],
    [{ kind: ['code' as const] }, true],
    [{ kind: ['math' as const] }, false],
    [{ source: ['train-code-*'] }, true],
    [{ source: ['*taco*medium'] }, true],
    [{ source: ['*medium*taco*'] }, false],
    [{ source: ['train-code-taco-medium'] }, true],
    [{ source: ['taco'] }, false],
    [{ source: ['*'] }, true],
    [{ source: ['train-code-taco-medium*medium'] }, false],
    [{ tags: { level: 2 } }, true],
    [{ tags: { level: [1, 3] } }, false],
    [{ tags: { family: 'gcd' } }, false],
    [{ minCharacters: 10 }, false],
    [{ maxCharacters: 9 }, true],
  ])('%j', (filter, wanted) => expect(passes(problem, filter)).toBe(wanted));

  it('takes a problem without kind as mathematics', () => {
    expect(passes({ id: '1', question: 'x' }, { kind: ['math'] })).toBe(true);
    expect(passes({ id: '1', question: 'x' }, { source: ['*'] })).toBe(true);
  });
});
