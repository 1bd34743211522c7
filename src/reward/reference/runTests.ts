/**
 * Runs tests as the released code does: cases by exact text but for newlines at the end, assertions one line at a time by exit status, 30
 * seconds and 1024 MB each. Where the sandbox fails the reference counts a failed test; here that is an error, so that it is not taken for
 * one. The released environment of function calls imports much of the standard library by `*`; this one imports the same.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { CodeRequest, CodeResult, CodeRunner } from '../../sandbox/codeRunner.js';
import { type ExactValue, isList, isNumber, isObject, readValue, writeValue } from '../code/exactValue.js';
import { goldKind, type ReferenceVerdict } from './codeScore.js';

/** A sandbox that failed; no verdict. */
export class SandboxFailure extends Error {
  override readonly name = 'SandboxFailure';
}

const LIMITS = { timeoutSeconds: 30, memoryMb: 1024 } as const;

const STARRED = ['random', 'statistics', 'itertools', 'functools', 'operator', 'io', 'sys', 'json', 'builtins', 'typing'];
const NAMED =
  'string, re, datetime, collections, heapq, bisect, copy, math, random, statistics, itertools, functools, operator, io, sys, json';
const PREAMBLE = `${STARRED.map((module) => `from ${module} import *`).join('\n')}\nimport ${NAMED}\n`;
let wrapper: string | undefined;

/**
 * @param program as `referenceProgram` gives it
 * @param gold assertion or case tests, as text
 * @throws SandboxFailure
 */
export async function runReferenceTests(
  program: string,
  gold: string,
  runner: CodeRunner,
  signal?: AbortSignal,
): Promise<ReferenceVerdict[]> {
  return goldKind(gold) === 'assertions' ? runAssertions(program, gold, runner, signal) : runCases(program, gold, runner, signal);
}

async function runAssertions(program: string, gold: string, runner: CodeRunner, signal?: AbortSignal): Promise<ReferenceVerdict[]> {
  const tests = JSON.parse(gold) as { readonly test_code: string; readonly entry_point: string };
  const [head, ...lines] = tests.test_code.split('\n').filter((line) => line !== '');
  const verdicts: ReferenceVerdict[] = [];
  for (const line of lines) {
    const code = `${program}\n${head}${line}\ncheck(${tests.entry_point})`;
    const result = await ran({ code, stdin: 'prefix', ...LIMITS }, runner, signal);
    verdicts.push(result.ending === 'finished' && result.exitCode === 0);
  }
  return verdicts;
}

async function runCases(program: string, gold: string, runner: CodeRunner, signal?: AbortSignal): Promise<ReferenceVerdict[]> {
  const read = readValue(gold, { python: true });
  const tests = read.ok && isObject(read.value) ? read.value.members : undefined;
  const [inputs, outputs] = [listOf(tests?.get('inputs')), listOf(tests?.get('outputs'))];
  if (inputs === undefined || outputs === undefined) return [-1];
  if (inputs.length !== outputs.length) return inputs.map(() => -1);
  const name = tests?.get('fn_name');
  const code = typeof name === 'string' ? callable(program, name) : program;
  const verdicts = await Promise.all(
    inputs.map(async (input, i): Promise<ReferenceVerdict> => {
      const stdin = input === null ? undefined : plainText(input);
      const result = await ran({ code, ...(stdin !== undefined && { stdin }), ...LIMITS }, runner, signal);
      if (result.ending === 'timeout') return -3;
      if (result.doesNotCompile) return -4;
      if (result.ending !== 'finished' || result.exitCode !== 0) return -2;
      const expected = outputs[i]!;
      return expected === null || withoutEnd(result.stdout) === withoutEnd(plainText(expected));
    }),
  );
  const broken = verdicts.indexOf(-4);
  return broken === -1 ? verdicts : verdicts.map((verdict, i) => (i > broken ? -4 : verdict));
}

function callable(program: string, name: string): string {
  wrapper ??= readFileSync(fileURLToPath(new URL('python/call.py', import.meta.url)), 'utf8');
  return `${PREAMBLE}\n${program}\n\n${wrapper}\n_toolwise_call(${JSON.stringify(name)}, globals())\n`;
}

/** A list, or the text of one. */
function listOf(value: ExactValue | undefined): readonly ExactValue[] | undefined {
  if (typeof value === 'string') {
    const read = readValue(value, { python: true });
    return read.ok && isList(read.value) ? read.value : undefined;
  }
  return value !== undefined && isList(value) ? value : undefined;
}

/** As Python's `str` for what stands in tests: texts, numbers, and lists of them. */
const plainText = (value: ExactValue): string =>
  typeof value === 'string'
    ? value
    : isNumber(value)
      ? value.digits
      : value === true
        ? 'True'
        : value === false
          ? 'False'
          : writeValue(value);

const withoutEnd = (text: string): string => text.replace(/\n+$/, '');

async function ran(request: CodeRequest, runner: CodeRunner, signal?: AbortSignal): Promise<Extract<CodeResult, { kind: 'ran' }>> {
  let result = await runner.run(request, signal);
  if (result.kind === 'infra' && !signal?.aborted) result = await runner.run(request, signal);
  if (result.kind === 'infra') throw new SandboxFailure(result.error);
  return result;
}
