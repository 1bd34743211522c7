import { deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { UserError } from '../../userError.js';
import { readCodeTests } from './readCodeTests.js';

/** What Python's pickle writes for a text, by protocol. */
function pickled(text: string, protocol: 0 | 2 | 4 = 4): Buffer {
  const body = Buffer.from(text);
  const length = Buffer.alloc(protocol === 4 ? 8 : 4);
  if (protocol === 0)
    return Buffer.from(`V${text.replace(/[^\x20-\x7e]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)}\np0\n.`);
  if (protocol === 2) {
    length.writeUInt32LE(body.length);
    return Buffer.concat([Buffer.from([0x80, 2, 0x58]), length, body, Buffer.from('q\x00.')]);
  }
  length.writeBigUInt64LE(BigInt(body.length));
  return Buffer.concat([Buffer.from([0x80, 4, 0x95, 1, 0, 0, 0, 0, 0, 0, 0, 0x8d]), length, body, Buffer.from([0x94, 0x2e])]);
}

const packed = (bytes: Buffer): string => deflateSync(bytes).toString('base64');

describe('code tests', () => {
  const stdio = { kind: 'stdio', cases: [{ input: '1\n', output: '1\n' }] };
  const columns = { inputs: ['1\n'], outputs: ['1\n'] };

  it.each([
    ['values', columns],
    ['JSON text', JSON.stringify(columns)],
    ['JSON text of JSON text', JSON.stringify(JSON.stringify(columns))],
    ['a Python literal', "{'inputs': ['1\\n'], 'outputs': ['1\\n']}"],
    ['columns that are JSON text', { inputs: JSON.stringify(columns.inputs), outputs: JSON.stringify(columns.outputs) }],
    ['columns that are Python literals', { inputs: "['1\\n']", outputs: "['1\\n']" }],
    ['lists of lines', { inputs: [['1', '']], outputs: [['1', '']] }],
    ['a reward model', { ground_truth: JSON.stringify(columns), style: 'rule' }],
    ['a reward model as JSON text', JSON.stringify({ ground_truth: columns })],
    ['a function name of null', { ...columns, fn_name: null }],
    ['a list of cases', [{ input: '1\n', output: '1\n' }]],
    ['a list of typed cases', [{ input: '1\n', output: '1\n', testtype: 'stdin' }]],
  ])('for standard input are read from %s', (_, value) => {
    expect(readCodeTests(value)).toEqual(stdio);
  });

  it('take a bare number for its text', () => {
    expect(readCodeTests('{"inputs": [5], "outputs": [12345678901234567890]}')).toMatchObject({
      cases: [{ input: '5', output: '12345678901234567890' }],
    });
  });

  const calls = (results: string[], given = '[1, [2, 3]]') => ({
    kind: 'calls',
    functionName: 'f',
    cases: [{ arguments: given, results }],
  });

  it.each([
    ['JSON lines', { fn_name: 'f', inputs: ['1\n[2, 3]'], outputs: ['true'] }, calls(['true'])],
    ['JSON lines with an end', { fn_name: 'f', inputs: ['1\n[2, 3]\n'], outputs: ['true\n'] }, calls(['true'])],
    ['values', { fn_name: 'f', inputs: [[1, [2, 3]]], outputs: [true] }, calls(['true'])],
    ['values with wrapped results', { fn_name: 'f', inputs: [[1, [2, 3]]], outputs: [[true]] }, calls(['[true]', 'true'])],
    ['a result that is a list', { fn_name: 'f', inputs: [[1, [2, 3]]], outputs: [[4, 5]] }, calls(['[4, 5]'])],
    ['Python literals in lines', { fn_name: 'f', inputs: ['1\n(2, 3)'], outputs: ['True'] }, calls(['true'])],
    ['a result that is a bare text', { fn_name: 'f', inputs: ['1\n[2, 3]'], outputs: ['yes sir'] }, calls(['"yes sir"'])],
    ['no arguments', { fn_name: 'f', inputs: [''], outputs: ['1'] }, calls(['1'], '[]')],
  ])('for calls are read from %s', (_, value, expected) => {
    expect(readCodeTests(value)).toEqual(expected);
    expect(readCodeTests(JSON.stringify(value))).toEqual(expected);
  });

  it('keep integers of any size', () => {
    const text = '{"fn_name": "f", "inputs": [[123456789012345678901234567890]], "outputs": [246913578024691357802469135780]}';
    expect(readCodeTests(text)).toMatchObject({
      cases: [{ arguments: '[123456789012345678901234567890]', results: ['246913578024691357802469135780'] }],
    });
  });

  it('that assert are read', () => {
    const value = {
      entry_point: 'Solution().f',
      import_prefix: 'import math\n',
      test_code: 'def check(candidate):\n    assert candidate(1) == 1',
    };
    const expected = { kind: 'assertions', entryPoint: 'Solution().f', importPrefix: value.import_prefix, testCode: value.test_code };
    expect(readCodeTests(value)).toEqual(expected);
    expect(readCodeTests(JSON.stringify(value))).toEqual(expected);
    expect(readCodeTests({ entry_point: 'f', test_code: 'assert f(1)' })).toMatchObject({ importPrefix: '' });
  });

  describe('of LiveCodeBench', () => {
    const publicCases = [{ input: '1\n', output: '1\n', testtype: 'stdin' }];
    const privateCases = [{ input: '2\n', output: 'zwölf\n', testtype: 'stdin' }];
    const both = [...publicCases, ...privateCases].map(({ input, output }) => ({ input, output }));

    it.each([0, 2, 4] as const)('are read from a pickle of protocol %i', (protocol) => {
      const row = {
        public_test_cases: JSON.stringify(publicCases),
        private_test_cases: packed(pickled(JSON.stringify(privateCases), protocol)),
        metadata: '{}',
      };
      expect(readCodeTests(row)).toEqual({ kind: 'stdio', cases: both });
    });

    it('are read from plain JSON', () => {
      const row = { public_test_cases: JSON.stringify(publicCases), private_test_cases: JSON.stringify(privateCases) };
      expect(readCodeTests(row)).toEqual({ kind: 'stdio', cases: both });
      expect(readCodeTests({ public_test_cases: publicCases })).toMatchObject({ cases: [both[0]] });
    });

    it('call the function that the metadata name', () => {
      const cases = [{ input: '1\n[2, 3]', output: '5', testtype: 'functional' }];
      const row = { public_test_cases: JSON.stringify(cases), private_test_cases: '', metadata: '{"func_name": "f"}' };
      expect(readCodeTests(row)).toEqual(calls(['5']));
      expect(() => readCodeTests({ ...row, metadata: '{}' })).toThrow('func_name');
    });

    it('are never unpickled', () => {
      const evil = Buffer.from("cos\nsystem\n(S'touch /nowhere'\ntR.");
      expect(() => readCodeTests({ public_test_cases: '[]', private_test_cases: packed(evil) })).toThrow('opcode 0x63 is not allowed');
    });

    it('are bounded at every stage', () => {
      const bomb = packed(Buffer.alloc(50_000_000));
      const row = { public_test_cases: '[]', private_test_cases: bomb };
      expect(() => readCodeTests(row, { maxBytes: 1_000_000 })).toThrow('unfolds to more than 1000000 bytes');
      expect(() => readCodeTests(row, { maxBytes: 1000 })).toThrow('longer than 1000 bytes');
      expect(() => readCodeTests(JSON.stringify(row), { maxBytes: 1000 })).toThrow('longer than 1000 bytes');
    });

    it.each([
      ['no base64', '[{"input": '],
      ['no zlib data', Buffer.from('hello').toString('base64')],
      ['cut off', packed(pickled('[]')).slice(0, 12)],
      ['a pickle cut off', packed(pickled('[]').subarray(0, 14))],
      ['a length beyond the end', packed(Buffer.from([0x80, 4, 0x58, 255, 255, 255, 255, 0x2e]))],
      ['two texts', packed(Buffer.from([0x8c, 1, 0x5b, 0x8c, 1, 0x5d, 0x2e]))],
      ['no text', packed(Buffer.from([0x80, 4, 0x2e]))],
      ['a text that is no JSON', packed(pickled('hello'))],
      ['a text that is no list', packed(pickled('{}'))],
    ])('are refused when they are %s', (_, text) => {
      const read = () => readCodeTests({ public_test_cases: '[]', private_test_cases: text });
      expect(read).toThrow(UserError);
      expect(read).toThrow('private_test_cases');
    });
  });

  it.each([
    ['nothing', undefined, 'JSON does not know'],
    ['a number', 5, 'neither an object nor a list'],
    ['prose', 'see the file', 'no JSON'],
    ['other members', { tests: [] }, 'tests'],
    ['no test', { inputs: [], outputs: [] }, 'there is not one'],
    ['an empty list', [], 'there is not one'],
    ['uneven columns', { inputs: ['1'], outputs: [] }, '1 inputs and 0 outputs'],
    ['no outputs', { inputs: ['1'] }, 'outputs'],
    ['an output of null', { inputs: ['1'], outputs: [null] }, 'test 1'],
    ['a case without output', [{ input: '1' }], 'output'],
    ['an argument that is no JSON', { fn_name: 'f', inputs: ['a b'], outputs: ['1'] }, 'test 1'],
    ['an entry point alone', { entry_point: 'f' }, 'test_code'],
    ['test code alone', { test_code: 'assert f(1)' }, 'entry_point'],
    ['assertions without an entry point', { inputs: [''], outputs: [null], assert_case: ['assert f(1)'] }, 'entry_point'],
    [
      'mixed kinds',
      [
        { input: '1', output: '1', testtype: 'stdin' },
        { input: '1', output: '1', testtype: 'functional' },
      ],
      'some',
    ],
  ])('are refused when there is %s', (_, value, message) => {
    expect(() => readCodeTests(value)).toThrow(UserError);
    expect(() => readCodeTests(value)).toThrow(message);
  });
});
