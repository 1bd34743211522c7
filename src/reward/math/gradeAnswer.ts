/**
 * Compares an answer with the right one: as exact numbers where both are numbers, as normalised text elsewhere. Pure, total and bounded.
 * Does not solve or simplify: `1+1` is a text.
 *
 * Conventions: 50% equals 0.5 and 1/2, not 50. A currency mark changes nothing. A unit may be left out but not differ.
 * Text is compared without regard to case, unless it holds LaTeX commands.
 */
import type { Graded } from '../../domain/verdict.js';
import { equalRationals, lowestTerms } from './rational.js';
import { readNumber, THIN_SPACE } from './readNumber.js';

/** Longer answers are compared as they stand. */
const MAX_LENGTH = 10_000;
/** Surrounding marks that are taken off, at most. */
const MAX_WRAPPERS = 20;

/**
 * @param answer what was extracted; undefined where nothing was
 * @param gold   the right answer, as text or LaTeX
 */
export function gradeAnswer(answer: string | undefined, gold: string): Graded {
  if (answer === undefined) return { kind: 'graded', correct: false, score: 0, reason: 'noAnswer' };
  if (answer.trim() === '') return { kind: 'graded', correct: false, score: 0, reason: 'noAnswer', extracted: answer };
  const correct = sameAnswer(answer, gold);
  return { kind: 'graded', correct, score: correct ? 1 : 0, reason: correct ? 'match' : 'mismatch', extracted: answer };
}

export function sameAnswer(a: string, b: string): boolean {
  const [left, right] = [plainForm(a), plainForm(b)];
  if (left === '' || right === '') return a.trim() === b.trim();
  if (textForm(left) === textForm(right)) return true;
  const [x, y] = [readNumber(left), readNumber(right)];
  if (x === undefined || y === undefined) return false;
  return equalRationals(x.value, y.value) && (x.unit === y.unit || x.unit === '' || y.unit === '');
}

/** Without surrounding marks (dollars, bold, braces, \text{}, a full stop), with one spelling of minus, spaces and fractions. */
export function plainForm(text: string): string {
  if (text.length > MAX_LENGTH) return text.trim();
  let form = text
    .normalize('NFC')
    .replace(/[\u2212\u2010\u2011\ufe63\uff0d]/g, '-')
    .replace(/\\!/g, '')
    .replace(/\\,/g, THIN_SPACE)
    .replace(/\\[;: ]|~/g, ' ')
    .replace(/\\(?:left|right|displaystyle)(?![A-Za-z])/g, '')
    .replace(/\\[dtc]frac(?![A-Za-z])/g, '\\frac')
    .replace(/[^\S\u2009]+/g, ' ');
  for (let i = 0; i < MAX_WRAPPERS; i++) {
    const inner = unwrap(form.trim());
    if (inner === form) break;
    form = inner;
  }
  return form;
}

const PAIRS: readonly (readonly [string, string])[] = [
  ['\\(', '\\)'],
  ['\\[', '\\]'],
  ['$$', '$$'],
  ['$', '$'],
  ['**', '**'],
];

const WRAPPER = /^\\(?:text|textbf|textit|textrm|mathrm|mathbf|mathit|mathsf|mbox|boxed|boldsymbol)\s*\{/;

/** Takes off one surrounding mark, if there is one. */
function unwrap(text: string): string {
  for (const [open, close] of PAIRS) {
    if (text.length > open.length + close.length && text.startsWith(open) && text.endsWith(close) && !text.endsWith(`\\${close}`)) {
      const inner = text.slice(open.length, -close.length);
      if (!inner.includes(open) && !inner.includes(close)) return inner;
    }
  }
  const wrapper = WRAPPER.exec(text)?.[0] ?? (text.startsWith('{') ? '{' : undefined);
  if (wrapper !== undefined && closingBrace(text, wrapper.length) === text.length - 1) return text.slice(wrapper.length, -1);
  for (const stray of ['\\)', '\\]']) if (text.endsWith(stray)) return text.slice(0, -stray.length);
  return text.length > 1 && text.endsWith('.') && !text.endsWith('..') ? text.slice(0, -1) : text;
}

/** Index of the brace that closes one opened just before `from`; -1 where there is none. */
function closingBrace(text: string, from: number): number {
  let depth = 1;
  for (let i = from; i < text.length; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === '{') depth++;
    else if (text[i] === '}' && --depth === 0) return i;
  }
  return -1;
}

function textForm(plain: string): string {
  const unwrapped = plain
    .replace(/\\(?:text|textbf|textit|textrm|mathrm|mathbf|mbox)\s*\{([^{}]*)\}/g, ' $1 ')
    .replace(/\\frac\s*(\d)\s*(\d)/g, '\\frac{$1}{$2}')
    .replace(/\s+/g, ' ')
    .replace(/ ?(\\[{}]|[^\p{L}\p{N}\s\\]) ?/gu, '$1')
    .replace(/ \\/g, '\\')
    .trim();
  return /\\[A-Za-z]/.test(unwrapped) ? unwrapped : unwrapped.toLowerCase();
}

/** Equal keys for equal exact numbers; the normal form for everything else. For majority votes. */
export function answerKey(text: string): string {
  const plain = plainForm(text);
  const number = readNumber(plain);
  if (number === undefined) return `text ${textForm(plain)}`;
  const { numerator, denominator } = lowestTerms(number.value);
  return denominator === 1n ? `${numerator}` : `${numerator}/${denominator}`;
}

/** Why a text cannot serve as the right answer; undefined where it can. */
export function checkGold(gold: string): string | undefined {
  if (gold.trim() === '') return 'it is empty';
  let depth = 0;
  for (let i = 0; i < gold.length && depth >= 0; i++) {
    if (gold[i] === '\\') i++;
    else if (gold[i] === '{') depth++;
    else if (gold[i] === '}') depth--;
  }
  return depth === 0 ? undefined : 'its braces do not balance';
}
