import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tellsFailure } from '../toolText.js';
import { Columns, isFormula, shapeOf } from './columns.js';
import { Lengths } from './lengths.js';
import { SeenTexts } from './seenTexts.js';
import { Tally } from './tally.js';

describe('lengths', () => {
  it('are summed up exactly below 256, and to 1 in 128 above, whatever they are', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 2_000_000 }), { minLength: 1, maxLength: 200 }), (values) => {
        const lengths = new Lengths();
        for (const value of values) lengths.add(value);
        const sorted = values.toSorted((a, b) => a - b);
        const summary = lengths.summary()!;
        expect([summary.count, summary.min, summary.max]).toEqual([values.length, sorted[0], sorted.at(-1)]);
        for (const [share, found] of [
          [0.5, summary.median],
          [0.9, summary.p90],
          [0.99, summary.p99],
        ] as const) {
          const exact = sorted[Math.ceil(share * sorted.length) - 1]!;
          expect(Math.abs(found - exact)).toBeLessThanOrEqual(exact < 256 ? 0 : exact / 128 + 1);
        }
        expect(summary.histogram.reduce((sum, { count }) => sum + count, 0)).toBe(values.length);
        expect(summary.histogram.length).toBeLessThanOrEqual(14);
      }),
    );
  });

  it('of nothing are nothing', () => {
    expect(new Lengths().summary()).toBeUndefined();
  });
});

describe('texts seen before', () => {
  it('are found by the row of the first, through many', () => {
    const seen = new SeenTexts();
    for (let i = 1; i <= 20_000; i++) expect(seen.add(`text ${i}`, i)).toBeUndefined();
    for (let i = 1; i <= 20_000; i += 777) expect(seen.add(`text ${i}`, 30_000)).toBe(i);
    expect(seen.size).toBe(20_000);
  });
});

describe('counts by name', () => {
  it('put what is rare or late together', () => {
    const tally = new Tally(3);
    for (const name of 'a b b c c c d e'.split(' ')) tally.add(name);
    expect(tally.list(2)).toEqual([
      { name: 'c', count: 3 },
      { name: 'b', count: 2 },
      { name: '(others)', count: 3 },
    ]);
  });
});

describe('columns', () => {
  it('have a type, what is missing, lengths, and values where they are few', () => {
    const columns = new Columns(['a', 'b']);
    for (let i = 0; i < 10; i++)
      columns.add(
        { a: i % 2 === 0 ? 'x' : 'yy', b: [{ role: 'user', n: i }], ...(i === 0 && { late: 1.5 }), c: i < 5 ? null : true },
        `row ${i}`,
      );
    expect(columns.summaries()).toEqual([
      {
        name: 'a',
        type: 'text',
        missing: 0,
        longest: 2,
        values: [
          { name: 'x', count: 5 },
          { name: 'yy', count: 5 },
        ],
      },
      { name: 'b', type: 'list<{role: text, n: integer}>', missing: 0 },
      { name: 'late', type: 'number', missing: 9 },
      { name: 'c', type: 'boolean', missing: 5, values: [{ name: 'true', count: 5 }] },
    ]);
  });

  it('show nested values to a depth only', () => {
    let deep: unknown = 1;
    for (let i = 0; i < 5000; i++) deep = [deep];
    expect(shapeOf(deep, 4)).toBe('list<list<list<list<…>>>>');
  });

  it('beyond the first hundreds are only counted', () => {
    const columns = new Columns([]);
    columns.add(Object.fromEntries(Array.from({ length: 700 }, (_, i) => [`c${i}`, i])), 'row 1');
    expect(columns.summaries()).toHaveLength(500);
    expect(columns.more).toBe(200);
  });
});

describe('a formula of a spreadsheet', () => {
  it.each([
    '=HYPERLINK("http://x","y")',
    '=1+A1'.replace('1+', ''),
    '@SUM(A1:A9)',
    "=cmd|' /C calc'!A0",
    '+cmd|x',
    '-SUM(B2)',
    '\t=A1',
    '= IMPORTXML(1)',
  ])('is told: %s', (text) => {
    expect(isFormula(text)).toBe(true);
  });
  it.each(['-5', '-x^2+1', '=5', '- item (first)', '@property', '-\\frac{1}{2}', '+1', 'f(x)', '', '-3 (mod 7)', 'a=SUM(1)'])(
    'is not told: %s',
    (text) => {
      expect(isFormula(text)).toBe(false);
    },
  );
});

describe("a tool's text", () => {
  it.each([
    'Traceback (most recent call last):\n  File "x", line 1\nZeroDivisionError: division by zero',
    'stderr:\nTraceback (most recent call last):\nNameError: name',
    'Error: there is no tool "x".',
    'error: timeout',
    'ValueError: bad',
    '12\njson.decoder.JSONDecodeError: Expecting value',
    'The program was stopped: it ran longer than 30 s.',
    'partial\nThe program ended with exit status 1.',
    '{"error": "no such city"}',
    '{"status": "error", "data": null}',
    '{"returncode": 1, "stdout": ""}',
    'Timed out after 5 s',
  ])('tells of a failure: %s', (text) => {
    expect(tellsFailure(text)).toBe(true);
  });
  it.each([
    '12',
    '',
    '(no output)',
    'The error is 0.01',
    'mean squared error: 0.5',
    '{"error": null, "data": 3}',
    '{"status": "ok"}',
    'DeprecationWarning: old',
    'errors 0',
    'Errata follow',
    '{"broken json',
  ])('tells of none: %s', (text) => {
    expect(tellsFailure(text)).toBe(false);
  });
});
