import { describe, expect, it } from 'vitest';
import { sameOutput, sameValue } from './compare.js';
import { readValue } from './exactValue.js';

describe('output', () => {
  it.each([
    ['5\n', '5'],
    ['5', '5\n\n'],
    ['1 2  \n3\t\n', '1 2\n3'],
    ['a\r\nb\r\n', 'a\nb'],
    ['', '\n'],
    ['\n5', '\n5\n'],
    ['0.333333', '0.333333333333'],
    ['0.33333333', '0.333333'],
    ['2', '2.0'],
    ['2.0000001', '2.0'],
    ['1e-7', '0.0'],
    ['1000000.5', '1000000.1'],
    ['1e5', '100000.0'],
    ['100000', '1e5'],
    ['-0.0', '0.0'],
    ['[0.5000001, 1]', '[0.5, 1]'],
    ['Case #1: 2.50', 'Case #1: 2.5'],
    ['nan', 'nan'],
  ])('%j is %j', (actual, expected) => {
    expect(sameOutput(actual, expected)).toBe(true);
  });

  it.each([
    ['6', '5'],
    ['5.0', '5'],
    ['05', '5'],
    ['+5', '5'],
    ['5.0000001', '5'],
    ['100000000000000000000000000000000001', '100000000000000000000000000000000002'],
    ['1000000000', '1000000001'],
    ['1 2', '1  2'],
    ['1\n2', '1 2'],
    [' 5', '5'],
    ['\n5', '5'],
    ['5\n\n6', '5\n6'],
    ['5\n6', '5'],
    ['5', '5\n6'],
    ['', '5'],
    ['YES', 'Yes'],
    ['0.5001', '0.5'],
    ['0.50001', '0.5'],
    ['1000002', '1000000.0'],
    ['nan', '0.5'],
    ['inf', '1.0'],
    ['1e999', '2e999'],
    ['half', '0.5'],
    ['0x1', '1.0'],
    ['', '0.0'],
    ['version 1.50', 'version 1.5.0'],
    ['v1.50', 'v1.5'],
    ['12:30.50', '12:30.5'],
    ['0.5,0.5', '0.5 0.5'],
  ])('%j is not %j', (actual, expected) => {
    expect(sameOutput(actual, expected)).toBe(false);
  });

  it('is compared in bounded time', () => {
    const long = '1 2.5 '.repeat(200_000);
    expect(sameOutput(`${long}3`, `${long}4`)).toBe(false);
    expect(sameOutput('\n'.repeat(1_000_000), '')).toBe(true);
    expect(sameOutput(' '.repeat(1_000_000), 'x')).toBe(false);
    expect(sameOutput(`${' '.repeat(300_000)}x`, 'x')).toBe(false);
  });
});

describe('values', () => {
  const value = (text: string) => {
    const read = readValue(text);
    if (!read.ok) throw new Error(read.error);
    return read.value;
  };

  it.each([
    ['3', '3'],
    ['-0', '0'],
    ['true', 'true'],
    ['false', 'false'],
    ['[true, 1, 1.0]', '[true, 1, 1.0]'],
    ['3.0', '3.0'],
    ['3', '3.0'],
    ['3.0000001', '3.0'],
    ['[1, [2, null]]', '[1,[2,null]]'],
    ['{"b": 2, "a": 1}', '{"a": 1, "b": 2}'],
    ['"a b"', '"a b"'],
    ['0.33333333', '0.333333'],
    ['[0.1, 2]', '[0.1000000001, 2.0]'],
    ['123456789012345678901234567890', '123456789012345678901234567890'],
    ['NaN', 'NaN'],
    ['-Infinity', '-Infinity'],
    ['1', '1.0'],
  ])('%s is %s', (actual, expected) => {
    expect(sameValue(value(actual), value(expected))).toBe(true);
  });

  it.each([
    ['4', '3'],
    ['3.0', '3'],
    ['[3.0]', '[3]'],
    ['{"a": 3.0}', '{"a": 3}'],
    ['3e0', '3'],
    ['1e5', '100000'],
    ['true', '1'],
    ['false', '0'],
    ['true', '1.0'],
    ['1', 'true'],
    ['1.0', 'true'],
    ['0', 'false'],
    ['[1, 0]', '[true, false]'],
    ['true', 'false'],
    ['3.1', '3.0'],
    ['3.0000001', '3'],
    ['123456789012345678901234567890', '123456789012345678901234567891'],
    ['1e20', '100000000000000000001'],
    ['9007199254740993.0', '9007199254740993'],
    ['"3"', '3'],
    ['null', '0'],
    ['[]', 'null'],
    ['false', 'null'],
    ['""', 'false'],
    ['[1, 2]', '[2, 1]'],
    ['[1]', '[1, 2]'],
    ['[1, 2]', '[1]'],
    ['{"a": 1}', '{"a": 1, "b": 2}'],
    ['{"a": 1, "b": 2}', '{"a": 1}'],
    ['{}', '[]'],
    ['[]', '{}'],
    ['"A"', '"a"'],
    ['"a "', '"a"'],
    ['0.5', '0.6'],
    ['NaN', '0.5'],
    ['Infinity', '0.5'],
    ['0.5', 'NaN'],
    ['1e999', 'NaN'],
  ])('%s is not %s', (actual, expected) => {
    expect(sameValue(value(actual), value(expected))).toBe(false);
  });
});
