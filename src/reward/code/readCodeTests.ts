/**
 * Reads tests from the forms that data sets write them in; each may also be the JSON text (or the Python literal) of itself:
 * - `{inputs, outputs}`: texts for standard input and output; with `fn_name`: arguments and results, as JSON lines or as values;
 * - `{entry_point, test_code, import_prefix?}`: a test program that asserts;
 * - a list of `{input, output, testtype?}`;
 * - LiveCodeBench's own `{public_test_cases, private_test_cases, metadata}`: private ones are base64 of zlib of a pickled JSON text;
 * - any of these as the `ground_truth` of an object.
 * Runs nothing, and unpickles nothing.
 */
import { inflateSync } from 'node:zlib';
import { UserError } from '../../userError.js';
import type { AssertionTests, CallCase, CodeTests, StdioCase } from './codeTests.js';
import { type ExactObject, type ExactValue, fromPlain, isList, isNumber, isObject, readValue, writeValue } from './exactValue.js';
import { readPickledText } from './pickledText.js';

export interface ReadCodeTestsOptions {
  /** The most a packed text may unfold to, and the most text that is read. Default 256 MiB. */
  readonly maxBytes?: number;
}

const defaultMaxBytes = 256 * 2 ** 20;

/** @throws UserError when it is none of these forms, or holds no test */
export function readCodeTests(value: unknown, options: ReadCodeTestsOptions = {}): CodeTests {
  const maxBytes = options.maxBytes ?? defaultMaxBytes;
  const exact = typeof value === 'string' ? unfold(value, maxBytes) : fromPlain(value);
  if (exact === undefined) throw unreadable('they hold something that JSON does not know');
  return fromValue(exact, maxBytes);
}

function fromValue(value: ExactValue, maxBytes: number): CodeTests {
  const tests = unfold(value, maxBytes);
  if (isList(tests)) return fromCases(tests, undefined);
  if (!isObject(tests)) throw unreadable('they are neither an object nor a list');
  const has = (...names: string[]): boolean => names.some((name) => present(tests, name) !== undefined);
  if (has('ground_truth')) return fromValue(present(tests, 'ground_truth')!, maxBytes);
  if (has('test_code', 'entry_point')) return fromAssertions(tests);
  if (has('public_test_cases', 'private_test_cases')) return fromLiveCodeBench(tests, maxBytes);
  if (has('assert_case')) throw unreadable('`assert_case` names no entry point; give `entry_point`, `import_prefix` and `test_code`');
  if (has('inputs', 'outputs')) return fromColumns(tests, maxBytes);
  throw unreadable(`none of inputs, test_code, public_test_cases is among their members ${[...tests.members.keys()].join(', ')}`);
}

const present = (object: ExactObject, name: string): ExactValue | undefined => object.members.get(name) ?? undefined;

/** A text that is itself JSON or a Python literal is read, at most twice. */
function unfold(value: ExactValue, maxBytes: number): ExactValue {
  let inner = value;
  for (let i = 0; i < 2 && typeof inner === 'string'; i++) {
    if (inner.length > maxBytes) throw unreadable(`they are longer than ${maxBytes} bytes`);
    const json = readValue(inner);
    const read = json.ok ? json : readValue(inner, { python: true });
    if (!read.ok) throw unreadable(`they are no JSON: ${json.ok ? '' : json.error}`);
    inner = read.value;
  }
  return inner;
}

function fromAssertions(tests: ExactObject): AssertionTests {
  const text = (name: string): string | undefined => {
    const value = present(tests, name);
    if (value !== undefined && typeof value !== 'string') throw unreadable(`\`${name}\` is no text`);
    return value;
  };
  const [entryPoint, testCode] = [text('entry_point'), text('test_code')];
  if (entryPoint === undefined || entryPoint.trim() === '') throw unreadable('`entry_point` is missing');
  if (testCode === undefined || testCode.trim() === '') throw unreadable('`test_code` is missing');
  return { kind: 'assertions', entryPoint: entryPoint.trim(), importPrefix: text('import_prefix') ?? '', testCode };
}

function fromColumns(tests: ExactObject, maxBytes: number): CodeTests {
  const column = (name: string): readonly ExactValue[] => {
    const value = unfold(present(tests, name) ?? null, maxBytes);
    if (!isList(value)) throw unreadable(`\`${name}\` is no list`);
    return value;
  };
  const [inputs, outputs] = [column('inputs'), column('outputs')];
  if (inputs.length !== outputs.length) throw unreadable(`there are ${inputs.length} inputs and ${outputs.length} outputs`);
  const name = present(tests, 'fn_name');
  if (name !== undefined && typeof name !== 'string') throw unreadable('`fn_name` is no text');
  if (name === undefined) return stdio(inputs.map((input, i) => ({ input: lines(input, i), output: lines(outputs[i]!, i) })));
  const wrapped = inputs.every(isList) && outputs.every((output) => isList(output) && output.length === 1);
  return calls(
    name,
    inputs.map((input, i) => callCase(input, outputs[i]!, i, wrapped)),
  );
}

function fromCases(cases: readonly ExactValue[], functionName: string | undefined): CodeTests {
  const objects = cases.map((item, i) => {
    if (!isObject(item)) throw unreadable(`test ${i + 1} is no object`);
    return item;
  });
  const functional = objects.filter((item) => present(item, 'testtype') === 'functional').length;
  if (functional > 0 && functional < objects.length) throw unreadable('some read standard input and some call a function');
  const field = (item: ExactObject, name: string, i: number): ExactValue => {
    const value = item.members.get(name);
    if (value === undefined) throw unreadable(`test ${i + 1} has no \`${name}\``);
    return value;
  };
  if (functional === 0 && (functionName === undefined || objects.some((item) => present(item, 'testtype') === 'stdin'))) {
    return stdio(objects.map((item, i) => ({ input: lines(field(item, 'input', i), i), output: lines(field(item, 'output', i), i) })));
  }
  if (functionName === undefined) throw unreadable('they call a function, and `metadata` has no `func_name`');
  return calls(
    functionName,
    objects.map((item, i) => callCase(field(item, 'input', i), field(item, 'output', i), i, false)),
  );
}

function fromLiveCodeBench(tests: ExactObject, maxBytes: number): CodeTests {
  const metadata = unfold(present(tests, 'metadata') ?? { members: new Map() }, maxBytes);
  const name = isObject(metadata) ? present(metadata, 'func_name') : undefined;
  const cases = ['public_test_cases', 'private_test_cases'].flatMap((field) => {
    const value = present(tests, field) ?? [];
    const list = typeof value === 'string' ? listOf(value, field, maxBytes) : value;
    if (!isList(list)) throw unreadable(`\`${field}\` is no list`);
    return list;
  });
  return fromCases(cases, typeof name === 'string' ? name : undefined);
}

/** JSON text, or base64 of zlib of a pickled JSON text. */
function listOf(text: string, field: string, maxBytes: number): ExactValue {
  if (text.trim() === '') return [];
  if (text.length > maxBytes) throw unreadable(`\`${field}\` is longer than ${maxBytes} bytes`);
  const plain = readValue(text);
  if (plain.ok) return plain.value;
  if (!/^[A-Za-z0-9+/\s]+=*\s*$/.test(text)) throw unreadable(`\`${field}\` is neither JSON nor base64: ${plain.error}`);
  let pickled: Buffer;
  try {
    pickled = inflateSync(Buffer.from(text, 'base64'), { maxOutputLength: maxBytes });
  } catch (error) {
    const tooLong = error instanceof RangeError;
    throw unreadable(tooLong ? `\`${field}\` unfolds to more than ${maxBytes} bytes` : `\`${field}\` is no zlib data`);
  }
  const read = readPickledText(pickled);
  if (!read.ok) throw unreadable(`\`${field}\` is no pickled text: ${read.error}`);
  const json = readValue(read.text);
  if (!json.ok) throw unreadable(`the text in \`${field}\` is no JSON: ${json.error}`);
  return json.value;
}

/** Standard input or output: a text, or the list of its lines; a bare value is its text. */
function lines(value: ExactValue, index: number): string {
  if (typeof value === 'string') return value;
  if (isNumber(value)) return value.digits;
  if (isList(value) && value.every((line) => typeof line === 'string')) return value.join('\n');
  throw unreadable(`test ${index + 1} has an input or output that is no text: ${shown(value)}`);
}

/** @param wrapped every result of the file is a list of one: the result may be that list or what is in it */
function callCase(input: ExactValue, output: ExactValue, index: number, wrapped: boolean): CallCase {
  const given = typeof input === 'string' ? argumentLines(input, index) : input;
  if (!isList(given)) throw unreadable(`the arguments of test ${index + 1} are no list: ${shown(given)}`);
  const expected = typeof output === 'string' ? resultText(output) : output;
  const results = wrapped && isList(expected) ? [expected, expected[0]!] : [expected];
  return { arguments: writeValue(given), results: results.map(writeValue) };
}

function argumentLines(text: string, index: number): readonly ExactValue[] {
  const rows = text.split('\n').filter((line) => line.trim() !== '');
  return rows.map((line) => {
    const json = readValue(line);
    const read = json.ok ? json : readValue(line, { python: true });
    if (!read.ok) throw unreadable(`test ${index + 1} has an argument that is no JSON: ${shown(line)}`);
    return read.value;
  });
}

/** A result as JSON, else as a Python literal, else the text itself. */
function resultText(text: string): ExactValue {
  for (const python of [false, true]) {
    const read = readValue(text, { python });
    if (read.ok) return read.value;
  }
  return text.trim();
}

function stdio(cases: readonly StdioCase[]): CodeTests {
  if (cases.length === 0) throw unreadable('there is not one');
  return { kind: 'stdio', cases };
}

function calls(functionName: string, cases: readonly CallCase[]): CodeTests {
  if (cases.length === 0) throw unreadable('there is not one');
  return { kind: 'calls', functionName, cases };
}

function shown(value: ExactValue): string {
  const text = writeValue(value);
  return text.length > 80 ? `${text.slice(0, 80)}...` : text;
}

function unreadable(why: string): UserError {
  return new UserError(
    `these code tests cannot be read: ${why}`,
    'Give {"inputs": [...], "outputs": [...]}, with "fn_name" for function calls, or {"entry_point", "import_prefix", "test_code"}, or LiveCodeBench\'s own fields.',
  );
}
