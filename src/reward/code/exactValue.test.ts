import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromPlain, readValue, writeValue } from './exactValue.js';

const rewritten = (text: string, python = false): string | undefined => {
  const read = readValue(text, { python });
  return read.ok ? writeValue(read.value) : undefined;
};

describe('exact values', () => {
  it('are what JSON.parse reads, for any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        for (const text of [JSON.stringify(value), JSON.stringify(value, null, 2)])
          expect(JSON.parse(rewritten(text)!)).toEqual(JSON.parse(text));
        expect(JSON.parse(writeValue(fromPlain(value)!))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('keep every digit of an integer', () => {
    expect(rewritten('[123456789012345678901234567890, -0, 1e400]')).toBe('[123456789012345678901234567890, -0, 1e400]');
  });

  it.each([
    ["{'a': True, 'b': None, 3: (1, 2,), 'c': [False, ]}", '{"a": true, "b": null, "3": [1, 2], "c": [false]}'],
    ["'it\\'s \\x41\\u0042\\U0001F600'", '"it\'s AB😀"'],
    ['(5)', '5'],
    ['(5,)', '[5]'],
    ['()', '[]'],
    ['[+5, 007, .5, 5., -.5e3]', '[5, 7, 0.5, 5.0, -0.5e3]'],
  ])('read Python %s', (text, json) => {
    expect(rewritten(text, true)).toBe(json);
    expect(rewritten(text)).toBeUndefined();
  });

  it.each([
    '',
    '[',
    '[1,]',
    '[1 2]',
    '{"a" 1}',
    '{1: 2}',
    '{"a": 1,}',
    '"a',
    '"\\q"',
    'tru',
    'undefined',
    '1 2',
    '01',
    '__import__("os")',
    '[1] + [2]',
    '1.',
    '-',
    'constructor',
    'toString',
  ])('refuse %j', (text) => {
    expect(readValue(text).ok).toBe(false);
    expect(() => readValue(text, { python: true })).not.toThrow();
  });

  it('refuse what is nested too deeply, without a stack overflow', () => {
    for (const unit of ['[', '{"a":', '(']) expect(readValue(unit.repeat(100_000), { python: true }).ok).toBe(false);
  });

  it('never throw', () => {
    fc.assert(fc.property(fc.string(), fc.boolean(), (text, python) => void readValue(text, { python })));
  });
});
