/** What a row gives to grade by: an answer, several of which each is right, a letter, or tests. */
import type { Problem } from '../../domain/problem.js';
import { readValue } from '../../reward/code/exactValue.js';
import { readCodeTests } from '../../reward/code/readCodeTests.js';
import { lastBoxed } from '../../reward/extract.js';
import { UserError } from '../../userError.js';
import { isRecord, parsed } from './fields.js';

/** Fields of a problem that say how it is graded. */
export type Gold = Pick<Problem, 'kind' | 'answer' | 'options' | 'tests'> & { readonly alternatives?: readonly string[] };

/** @param question shows the options, where it is a choice. @throws UserError where there is nothing to grade by */
export function answerGold(value: unknown, field: string, question: string, where: string): Gold {
  const texts = answersOf(value, field, where);
  const [answer] = texts as [string, ...string[]];
  if (texts.length > 1) return { answer, alternatives: texts };
  if (/^[A-J]$/.test(answer) && showsOptions(question)) return { kind: 'choice', answer };
  return { answer };
}

function answersOf(value: unknown, field: string, where: string): string[] {
  if (typeof value === 'number' || typeof value === 'bigint') {
    if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value))
      throw new UserError(`${where}: the number "${field}" is too large to be read exactly`, 'Write it as a text, in quotes.');
    return [String(value)];
  }
  const list = Array.isArray(value) ? value : typeof value === 'string' ? quotedList(value) : undefined;
  if (list !== undefined && list.length > 0 && list.every((item) => typeof item === 'string' && item.trim() !== ''))
    return list as string[];
  if (typeof value === 'string' && value.trim() !== '') return [value];
  const what = value === undefined || value === null ? 'is missing' : value === '' ? 'is empty' : 'is neither text nor number';
  throw new UserError(`${where}: "${field}" ${what}`);
}

/** `["a", "b"]`, as JSON or as Python writes it; a list of numbers is an answer itself. */
function quotedList(text: string): readonly unknown[] | undefined {
  if (!/^\s*\[\s*["']/.test(text)) return undefined;
  const json = parsed(text);
  if (Array.isArray(json)) return json;
  const python = readValue(text, { python: true });
  return python.ok && Array.isArray(python.value) ? python.value : undefined;
}

const OPTION_A = /(?:^|[\n\s])\(?A[).:]\s/;
const OPTION_B = /(?:^|[\n\s])\(?B[).:]\s/;

/** Whether a text lists options by letters. */
export const showsOptions = (text: string): boolean => OPTION_A.test(text) && OPTION_B.test(text);

/** A letter, bare, in brackets or in a box. @throws UserError where it is none */
export function letterGold(value: unknown, field: string, where: string): Gold {
  const text = typeof value === 'string' ? (lastBoxed(value) ?? value).trim().replace(/^\((.)\)$/, '$1') : '';
  if (/^[A-J]$/.test(text)) return { kind: 'choice', answer: text };
  throw new UserError(`${where}: "${field}" is ${JSON.stringify(value)?.slice(0, 80)}, not the letter of an option`);
}

/** Tests stay as they stand; they are read as far as is needed to know that they are some. @throws UserError where they are none */
export function testsGold(value: unknown, where: string): Gold {
  if (!looksRight(typeof value === 'string' ? parsed(value) : value)) {
    try {
      readCodeTests(value);
    } catch (error) {
      if (error instanceof UserError) throw new UserError(`${where}: ${error.message}`, error.hint);
      throw error;
    }
  }
  return { kind: 'code', tests: value };
}

/** The usual forms, seen without looking at each test. */
function looksRight(tests: unknown): boolean {
  if (!isRecord(tests)) return false;
  const { inputs, outputs, entry_point: entryPoint, test_code: testCode } = tests;
  if (Array.isArray(inputs) && Array.isArray(outputs)) return inputs.length > 0 && inputs.length === outputs.length;
  return typeof entryPoint === 'string' && entryPoint.trim() !== '' && typeof testCode === 'string' && testCode.trim() !== '';
}

/** Whether a value is tests of a program, or the JSON text of some. */
export function holdsTests(value: unknown): boolean {
  if (typeof value === 'string') return /^\s*\{/.test(value) && /"(?:inputs|test_code|fn_name)"/.test(value.slice(0, 100_000));
  return isRecord(value) && ['inputs', 'test_code', 'fn_name'].some((name) => Object.hasOwn(value, name));
}
